"""Dead-code elimination (DCE): what nobody reads is left out, as counters now in registers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from celosia.compiler.accesses import accesses, inner
from celosia.compiler.lowered import Case, Cluster, Tensor, While, Work

__all__ = ["without_dead"]


def _leaves(works: Iterable[Work]) -> Iterator[Work]:
    for work in works:
        parts = inner(work)
        if not parts:
            yield work
        for part in parts:
            yield from _leaves(part)


def _read(work: Work) -> set[Tensor]:
    return {access.tensor for access, written in accesses(work) if not written}


def _written(work: Work) -> set[Tensor]:
    return {access.tensor for access, written in accesses(work) if written}


def _tests(works: Iterable[Work]) -> Iterator[Tensor]:
    """Yield what loops and branches depend on."""
    for work in works:
        if isinstance(work, While) and work.predicate is not None:
            yield work.predicate.tensor
        if isinstance(work, Case):
            yield work.index.tensor
        for part in inner(work):
            yield from _tests(part)


def _live(works: list[Work], fixed: Collection[Tensor]) -> set[Tensor]:
    leaves = list(_leaves(works))
    live = {*fixed, *_tests(works)}
    count = -1
    while len(live) > count:
        count = len(live)
        for work in reversed(leaves):
            written = _written(work)
            if not written or not live.isdisjoint(written):
                live |= _read(work)
    return live


def _kept(works: Iterable[Work], live: set[Tensor]) -> tuple[Work, ...]:
    found: list[Work] = []
    for work in works:
        written = _written(work)
        if written and live.isdisjoint(written):
            continue
        if isinstance(work, While):
            work = replace(work, cond=_kept(work.cond, live), body=_kept(work.body, live))
        elif isinstance(work, Case):
            work = replace(work, branches=tuple(_kept(part, live) for part in work.branches))
        elif isinstance(work, Cluster):
            writes = tuple(write for write in work.writes if write.access.tensor in live)
            work = replace(work, writes=writes)
        found.append(work)
    return tuple(found)


def without_dead(works: list[Work], fixed: Collection[Tensor]) -> list[Work]:
    """Return the work that ``fixed`` depends on.

    Parameters
    ----------
    works
        A whole program.
    fixed
        Tensors that are wanted when it ends.
    """
    return list(_kept(works, _live(works, fixed)))
