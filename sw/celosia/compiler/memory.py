"""Buffer assignment by liveness: how long each tensor is needed, and which share bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from celosia.arch.words import ceil_div
from celosia.compiler.accesses import accesses, inner
from celosia.compiler.demand import Alive, Demand
from celosia.compiler.errors import MemoryTooSmall
from celosia.compiler.lowered import Cluster, External, Tensor, While, Work
from celosia.graph import Source
from celosia.program.buffer import ALIGNMENT

__all__ = ["Life", "lives", "numbered", "plan_arena"]



@dataclass
class Life:
    """Numbers of the first and the last piece of work that touch a tensor: those of `numbered`."""

    first: int
    last: int


def numbered(works: Iterable[Work], first: int = 1) -> Iterator[tuple[int, int, Work]]:
    """Number pieces of work, those in others as well, in the order in which they run.

    Yields
    ------
    tuple
        Numbers of the beginning and the end of a piece of work, and itself. One with others in it
        (`inner`) comes after them: it begins before the first of them and ends after the last.
    """
    now = first
    for work in works:
        begin = now
        for part in inner(work):
            for each in numbered(part, now + 1):
                yield each
                now = each[1]
        if inner(work):
            now += 1
        yield begin, now, work
        now += 1


def _made_anew(work: While) -> set[Tensor]:
    """Return the tensors in which no turn of a loop finds what the one before has left there."""
    seen, found = set[Tensor](), set[Tensor]()
    for part in (*work.cond, *work.body):
        for access, written in accesses(part):
            tensor = access.tensor
            if tensor in seen:
                continue
            seen.add(tensor)
            whole = access.view.size * tensor.element_bytes == tensor.nbytes
            if written and access.base is None and whole:
                found.add(tensor)
    return found


def lives(works: Iterable[Work]) -> dict[Tensor, Life]:
    """Return the life of each tensor that some work touches."""
    found: dict[Tensor, Life] = {}
    for begin, end, work in numbered(works):
        anew = _made_anew(work) if isinstance(work, While) else ()
        for access, _ in accesses(work):
            tensor = access.tensor
            life = found.setdefault(tensor, Life(end, end))
            # What comes from outside of a loop is needed until it ends; so is what a loop keeps.
            if isinstance(work, While) and life.first >= begin:
                if tensor in anew:
                    continue
                life.first = begin
            life.last = end
    return found


def _aligned(size: int) -> int:
    return ceil_div(size, ALIGNMENT) * ALIGNMENT


def plan_arena(works: Sequence[Work], fixed: Sequence[Tensor], limit: int, begin: int = 0) -> int:
    """Give a home in external memory to every tensor that has none; return the arena's bytes.

    Tensors whose lives do not overlap share bytes; those of ``fixed`` (inputs, outputs, constants)
    come first and share with none. Large tensors choose first. None begins before ``begin``.

    Raises
    ------
    MemoryTooSmall
        If the arena would be larger than ``limit`` bytes.
    """
    end = _aligned(begin)
    for tensor in dict.fromkeys(fixed):
        if tensor.home is None:
            tensor.home = External(end)
            end += _aligned(max(tensor.nbytes, 4))
    base = end
    found = lives(works)
    placed: list[tuple[int, int, Life, Tensor]] = []
    free = sorted((tensor for tensor in found if tensor.home is None),
                  key=lambda tensor: (-tensor.nbytes, found[tensor].first))
    for tensor in free:
        life, size = found[tensor], _aligned(max(tensor.nbytes, 4))
        at = base
        for begin, stop, other, _ in placed:
            if begin < at + size and at < stop and (
                    life.first <= other.last and other.first <= life.last):
                at = stop
        tensor.home = External(at)
        placed.append((at, at + size, life, tensor))
        placed.sort(key=lambda item: item[0])
        end = max(end, at + size)
    if end > limit:
        raise MemoryTooSmall(_demand(end, limit, base, works, found, fixed))
    return end


def _demand(end: int, limit: int, base: int, works: Sequence[Work], found: Mapping[Tensor, Life],
            fixed: Sequence[Tensor]) -> Demand:
    """Return what an arena of ``end`` bytes, ``base`` of them for what is fixed, is needed for."""
    sources: dict[Tensor, str] = {}
    history: list[tuple[str, int]] = []
    fullest, most, place = 0, -1, ""
    kept = set(fixed)
    between = {tensor: life for tensor, life in found.items() if tensor not in kept}
    change: Counter[int] = Counter()
    for tensor, life in between.items():
        change[life.first] += tensor.nbytes
        change[life.last + 1] -= tensor.nbytes
    needed, seen = 0, 0
    for _, now, work in numbered(works):
        if inner(work):
            continue
        at = _place(work)
        for tensor, made_at in _made(work, at):
            sources.setdefault(tensor, made_at)
        needed += sum(change[number] for number in range(seen + 1, now + 1))
        seen = now
        history.append((at, base + needed))
        if needed > most:
            fullest, most, place = now, needed, at
    alive = sorted(dict.fromkeys((*fixed, *(
        tensor for tensor, life in between.items() if life.first <= fullest <= life.last))),
        key=lambda tensor: -tensor.nbytes)
    return Demand(limit, end, base, place, tuple(
        Alive(tensor.name, f"{tensor.dtype}{list(tensor.shape)}", tensor.nbytes,
             sources.get(tensor, "")) for tensor in alive), tuple(history))


def _made(work: Work, place: str) -> Iterator[tuple[Tensor, str]]:
    """Yield the tensors that a piece of work writes, each with the place that it is made at."""
    if isinstance(work, Cluster):
        for write in work.writes:
            node = write.value.node
            yield write.access.tensor, node.source.said(node.op) if node.source.place else place
    else:
        for access, written in accesses(work):
            if written:
                yield access.tensor, place


def _place(work: Work) -> str:
    operation, source = Source.parse(work.source)
    return source.said(operation)
