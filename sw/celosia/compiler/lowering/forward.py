"""Copy elimination, backward: results are written to where copies would bring them.

Parts of a concatenation, the inside of a pad, the rows that a loop adds to its state: a cluster
makes them, and a copy puts them in place. Here the cluster is made to write there itself; if nobody
else reads the result, it is written nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from celosia.compiler.accesses import accesses
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import (
    Access,
    Case,
    Cluster,
    Fill,
    Move,
    ReadWord,
    Tensor,
    While,
    Work,
    Write,
)
from celosia.compiler.views import View

__all__ = ["forward"]


class _Touched:
    """What pieces of work touch, and whether they write there; looked up once for each."""

    def __init__(self) -> None:
        # The work is kept, so that no other one gets its number.
        self._known: dict[int, tuple[Work, dict[Tensor, list[bool]]]] = {}

    def tensors(self, work: Work) -> dict[Tensor, list[bool]]:
        found = self._known.get(id(work))
        if found is None:
            found = self._known[id(work)] = work, {}
            for access, written in accesses(work):
                found[1].setdefault(access.tensor, []).append(written)
        return found[1]

    def __call__(self, work: Work, tensor: Tensor) -> Sequence[bool]:
        return self.tensors(work).get(tensor, ())


def _composed(view: View, shape: tuple[int, ...], dst: View) -> View | None:
    """Return where elements of a tensor of some shape lie once it is copied to ``dst``.

    None where their steps are not steps of ``dst`` as well.
    """
    within = View.contiguous(shape)
    shown = dst.reshape(shape)
    if shown is None or min((*view.strides, *shown.strides), default=0) < 0:
        return None
    steps = list(zip(shape, within.strides, shown.strides, strict=True))
    offset, rest = shown.offset, view.offset
    index = []
    for _, step, to in steps:
        at, rest = divmod(rest, step)
        index.append(at)
        offset += at * to
    strides = []
    for size, stride in zip(view.shape, view.strides, strict=True):
        found = 0
        if size > 1 and stride:
            for i, (extent, step, to) in enumerate(steps):
                count = stride // step
                if stride % step == 0 and index[i] + (size - 1) * count < extent:
                    index[i] += (size - 1) * count
                    found = count * to
                    break
            else:
                return None
        strides.append(found)
    return View(offset, view.shape, tuple(strides))


def _target(write: Write, move: Move, space: tuple[int, ...]) -> Access | None:
    """Return where a cluster would have to write what the copy copies."""
    view, dst = write.access.view, move.dst.view
    dims = space if write.extent is Extent.FULL else space[:-1]
    if view.shape != dims:
        return None  # joined over rows
    if view.is_contiguous and not view.offset and view.size == dst.size:
        found = dst.reshape(dims)
        if found is None or min(found.strides, default=0) < 0:
            found = None
    else:
        found = _composed(view, move.src.view.shape, dst)
    if found is None or (write.extent is Extent.FULL and dims[-1] != 1
                         and found.strides[-1] != 1):
        return None
    return Access(move.dst.tensor, found, move.dst.base)


def _source(move: Move) -> bool:
    src = move.src
    return (src.base is None and src.view.offset == 0 and src.view.is_contiguous
            and src.view.size * src.tensor.element_bytes == src.tensor.nbytes
            and src.tensor.format == move.dst.tensor.format)


def _once(works: list[Work], at: int, fixed: Collection[Tensor], outside: Collection[Tensor],
          touches: _Touched) -> list[Work] | None:
    """Return the work without the copy at ``at``; None where it must stay."""
    move = works[at]
    assert isinstance(move, Move)
    src, dst = move.src.tensor, move.dst.tensor
    makers = [i for i in range(at) if True in touches(works[i], src)]
    if not makers or src is dst:
        return None
    targets: dict[int, dict[int, Access]] = {}
    for i in makers:
        made = works[i]
        if not isinstance(made, Cluster) or False in touches(made, dst):
            return None
        targets[i] = {}
        for j, write in enumerate(made.writes):
            if write.access.tensor is src:
                target = _target(write, move, made.space)
                if target is None or write.access.base is not None or not _apart(made, target):
                    return None
                targets[i][j] = target
    first = makers[0]
    others = [i for i in range(len(works)) if i not in (*makers, at) and touches(works[i], src)]
    alone = not others and src not in fixed and src not in outside
    if len(makers) > 1 and not alone:
        return None
    every = [target for found in targets.values() for target in found.values()]
    hoisted = _hoisted(works, first, at, every, touches)
    if hoisted is None:
        return None
    early = [works[i] for i in hoisted]
    gone = {at, *hoisted}
    found = []
    for i, work in enumerate(works):
        if i == first:
            found += early
        if i in targets:
            assert isinstance(work, Cluster)
            changed = [replace(write, access=targets[i][j]) if j in targets[i] else write
                       for j, write in enumerate(work.writes)]
            if not alone:
                changed += [write for j, write in enumerate(work.writes) if j in targets[i]]
            work = replace(work, writes=tuple(changed))
        if i not in gone:
            found.append(work)
    return found


def _hoisted(works: list[Work], first: int, at: int, targets: list[Access],
             touches: _Touched) -> list[int] | None:
    """Return which works must run before ``first``, so that results can be written in place.

    None where another piece of work is in the way.
    """
    dst, base = targets[0].tensor, targets[0].base
    hoisted: list[int] = []
    for i in range(first + 1, at):
        work = works[i]
        if isinstance(work, ReadWord) and work.base is base:
            if any(True in touches(works[j], work.access.tensor) for j in range(first, i)):
                return None
            hoisted.append(i)
        touched = touches(work, dst)
        if not touched:
            continue
        if isinstance(work, Fill) and not any(touches(works[j], dst) for j in range(i)):
            hoisted.append(i)
        elif False in touched or isinstance(work, (Fill, While, Case)) or not all(
                _apart(work, target) for target in targets):
            return None
    return hoisted


def _apart(work: Work, target: Access) -> bool:
    """Whether what a piece of work writes to a tensor lies apart from a target in it."""
    return all(_disjoint(access, target) for access, written in accesses(work)
               if written and access.tensor is target.tensor)


def _disjoint(a: Access, b: Access) -> bool:
    if a.base is not b.base:
        return False
    total = 1
    for size in a.tensor.shape:
        total *= size
    for step in sorted({abs(s) for s in (*a.view.strides, *b.view.strides) if s} | {total}):
        # Within each period of one stride: the elements that either touches.
        spans = [_within(view, step) for view in (a.view, b.view)]
        if spans[0] and spans[1] and (spans[0][1] < spans[1][0] or spans[1][1] < spans[0][0]):
            return True
    return False


def _within(view: View, period: int) -> tuple[int, int] | None:
    """First and last element of a view modulo a period; None where it wraps around."""
    low = view.offset % period
    high = low
    for size, stride in zip(view.shape, view.strides, strict=True):
        if stride < 0:
            return None
        if stride % period:
            high += (size - 1) * stride
    return (low, high) if high < period else None


def forward(works: list[Work], fixed: Collection[Tensor],
            outside: Collection[Tensor] = ()) -> list[Work]:
    """Return the work with results written in place.

    Parameters
    ----------
    works
        Work one after another.
    fixed
        Tensors that are wanted when the program ends.
    outside
        Tensors that work outside of this list touches.
    """
    touches = _Touched()

    def apart(skip: Work, works: list[Work]) -> set[Tensor]:
        return {tensor for work in works if work is not skip for tensor in touches.tensors(work)}

    found: list[Work] = []
    for work in works:
        if isinstance(work, (While, Case)):
            others = apart(work, works) | set(outside)
            if isinstance(work, While):
                conditions = {access.tensor for part in work.cond
                              for access, _ in accesses(part)}
                if work.predicate is not None:
                    conditions.add(work.predicate.tensor)
                work = replace(work, body=tuple(
                    forward(list(work.body), fixed, others | conditions)))
            else:
                work = replace(work, branches=tuple(
                    tuple(forward(list(branch), fixed, others)) for branch in work.branches))
        found.append(work)
    at = 0
    while at < len(found):
        work = found[at]
        if isinstance(work, Move) and _source(work):
            changed = _once(found, at, fixed, outside, touches)
            if changed is not None:
                found, at = changed, 0
                continue
        at += 1
    return found
