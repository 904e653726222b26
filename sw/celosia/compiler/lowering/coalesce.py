"""Copy coalescing: a copy of a whole tensor and what it was made of become one tensor.

A copy at the end of a tensor's life is none. The updates of a loop's state become updates in place:
the copy that a `dynamic_update_slice` begins with, and that which carries the result to the next
turn. And what a cluster makes for the next turn of a loop is written over the state at once, if
nothing after it wants the old one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from celosia.compiler.accesses import accesses, inner, own
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import (
    Access,
    Case,
    Cluster,
    Convolution,
    Dot,
    Fill,
    GatherRows,
    Move,
    ReadWord,
    ScatterRows,
    Tensor,
    While,
    Work,
)

__all__ = ["coalesce"]


def _is_whole(access: Access) -> bool:
    return (access.base is None and access.view.offset == 0 and access.view.is_contiguous
            and access.view.size * access.tensor.element_bytes == access.tensor.nbytes)


def _same_bytes(a: Access, b: Access) -> bool:
    """Whether element i of the one is element i of the other."""
    return (a.base is b.base and a.view.offset == b.view.offset and a.view.shape == b.view.shape
            and all(n == 1 or s == t for n, s, t in zip(
                a.view.shape, a.view.strides, b.view.strides, strict=True)))


@dataclass
class _Names:
    """Which tensor each tensor has become."""

    names: dict[Tensor, Tensor]

    def of(self, tensor: Tensor) -> Tensor:
        while tensor in self.names:
            tensor = self.names[tensor]
        return tensor

    def access(self, access: Access) -> Access:
        tensor = self.of(access.tensor)
        return access if tensor is access.tensor else replace(access, tensor=tensor)

    def work(self, work: Work) -> Work:
        match work:
            case Cluster():
                product = work.product
                if isinstance(product, Dot):
                    product = replace(product, lhs=self.access(product.lhs),
                                      rhs=self.access(product.rhs))
                elif isinstance(product, Convolution):
                    product = replace(product, x=self.access(product.x), w=self.access(product.w))
                return replace(
                    work, product=product,
                    reads=tuple(replace(r, access=self.access(r.access)) for r in work.reads),
                    writes=tuple(replace(w, access=self.access(w.access)) for w in work.writes))
            case Move():
                return replace(work, src=self.access(work.src), dst=self.access(work.dst))
            case Fill():
                return replace(work, dst=self.access(work.dst))
            case GatherRows():
                return replace(work, table=self.access(work.table), dst=self.access(work.dst),
                               indices=self.access(work.indices))
            case ScatterRows():
                return replace(work, table=self.access(work.table),
                               indices=self.access(work.indices),
                               updates=self.access(work.updates))
            case ReadWord():
                return replace(work, access=self.access(work.access))
            case While():
                predicate = work.predicate and self.access(work.predicate)
                return replace(work, cond=tuple(map(self.work, work.cond)), predicate=predicate,
                               body=tuple(map(self.work, work.body)))
            case Case():
                return replace(work, index=self.access(work.index), branches=tuple(
                    tuple(map(self.work, branch)) for branch in work.branches))


class _Coalescer:
    def __init__(self, fixed: Collection[Tensor]):
        self.fixed = fixed
        self.names = _Names({})

    def works(self, works: list[Work], is_body: bool, outside: Collection[Tensor]) -> list[Work]:
        """Return a list of work without its copies; ``outside``: what other work touches."""
        works = [self._nested(work, works, outside) for work in works]
        at = 0
        while at < len(works):
            work = works[at]
            if isinstance(work, Move) and _is_whole(work.src) and _is_whole(work.dst) and (
                    work.src.tensor.format == work.dst.tensor.format):
                found = self._without(works, at, is_body, outside)
                if found is not None:
                    works, at = found, 0
                    continue
            at += 1
        return works

    def _nested(self, work: Work, works: Sequence[Work], outside: Collection[Tensor]) -> Work:
        """Return a piece of work of a list without the copies inside of it."""
        parts = inner(work)
        if not parts:
            return work
        # Also the work itself: what it reads, and its other parts.
        others = {access.tensor for other in works if other is not work
                  for access, _ in accesses(other)}.union(
                      outside, (access.tensor for access in own(work)[0]))
        made = []
        for i, part in enumerate(parts):
            beside = {access.tensor for j, other in enumerate(parts) if j != i
                      for each in other for access, _ in accesses(each)}
            is_body = isinstance(work, While) and i == 1
            made.append(tuple(self.works(list(part), is_body, others | beside)))
        if isinstance(work, While):
            return replace(work, cond=made[0], body=made[1])
        assert isinstance(work, Case)
        return replace(work, branches=tuple(made))

    def _touch(self, work: Work, tensor: Tensor) -> list[tuple[Access, bool]]:
        return [(access, written) for access, written in accesses(work)
                if self.names.of(access.tensor) is tensor]

    def _touched(self, works: list[Work], tensor: Tensor) -> bool:
        return any(self._touch(work, tensor) for work in works)

    def _without(self, works: list[Work], at: int, is_body: bool,
                 outside: Collection[Tensor]) -> list[Work] | None:
        """Return the work without the copy at ``at``, or None where it must stay."""
        move = works[at]
        assert isinstance(move, Move)
        src, dst = self.names.of(move.src.tensor), self.names.of(move.dst.tensor)
        before, after = works[:at], works[at + 1:]
        if src is dst:
            return before + after
        local = self._begins_here(before, src)
        if local and src not in self.fixed and not self._touched(after, src) and (
                src not in map(self.names.of, outside)):
            if dst not in self.fixed and not self._touched(before, dst) and (
                    not is_body or not self._is_carried(works, dst)):
                self.names.names[dst] = src
                return before + after
            if self._may_write_at_once(before, src, dst):
                self.names.names[src] = dst
                return before + after
        if is_body and src not in self.fixed and not local and not self._touched(before, dst):
            # A copy of the state that is changed and carried to the next turn.
            carry = [i for i, work in enumerate(after) if self._touch(work, src)]
            if len(carry) == 1 and self._carries(after[carry[0]], dst, src):
                self.names.names[dst] = src
                return before + after[:carry[0]] + after[carry[0] + 1:]
        return None

    def _begins_here(self, before: list[Work], tensor: Tensor) -> bool:
        """Whether a tensor is written in these works before it is read."""
        for work in before:
            for _, written in self._touch(work, tensor):
                return written
        return False

    def _is_carried(self, works: list[Work], tensor: Tensor) -> bool:
        """Whether a body finds in a tensor what the turn before has left there."""
        return not self._begins_here(works, tensor)

    def _carries(self, work: Work, src: Tensor, dst: Tensor) -> bool:
        return (isinstance(work, Move) and _is_whole(work.src) and _is_whole(work.dst)
                and self.names.of(work.src.tensor) is src
                and self.names.of(work.dst.tensor) is dst)

    def _may_write_at_once(self, before: list[Work], src: Tensor, dst: Tensor) -> bool:
        """Whether all that is written to ``src`` can be written to ``dst``."""
        first = next(i for i, work in enumerate(before) if self._touch(work, src))
        if self._touched(before[first + 1:], dst):
            return False
        maker = before[first]
        held = self._touch(maker, dst)
        if not held:
            return True
        if not isinstance(maker, Cluster) or any(written for _, written in held):
            return False
        target = next(write.access for write in maker.writes
                      if self.names.of(write.access.tensor) is src)
        aligned = [read.access for read in maker.reads if read.extent is Extent.FULL
                   and self.names.of(read.access.tensor) is dst
                   and _same_bytes(read.access, target)]
        return len(aligned) == len(held)


def coalesce(works: list[Work], fixed: Collection[Tensor]) -> list[Work]:
    """Return the work without copies that are not needed.

    Parameters
    ----------
    works
        A whole program.
    fixed
        Tensors whose contents are given, or wanted when the program ends.
    """
    coalescer = _Coalescer(fixed)
    made = coalescer.works(works, False, ())
    return [coalescer.names.work(work) for work in made]
