"""What work reads and writes, and the work inside it."""

from __future__ import annotations

from collections.abc import Iterator

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
    While,
    Work,
)

__all__ = ["accesses", "inner", "own"]


def own(work: Work) -> tuple[list[Access], list[Access]]:
    """Return what a piece of work itself reads and writes."""
    match work:
        case Cluster():
            reads = [read.access for read in work.reads]
            if isinstance(work.product, Dot):
                reads += [work.product.lhs, work.product.rhs]
            elif isinstance(work.product, Convolution):
                reads += [work.product.x, work.product.w]
            writes = [write.access for write in work.writes]
            if isinstance(work.product, Dot) and work.product.turned is not None:
                writes.append(work.product.turned)
            return reads, writes
        case Move():
            return [work.src], [work.dst]
        case Fill():
            return [], [work.dst]
        case GatherRows():
            return [work.table, work.indices], [work.dst]
        case ScatterRows():
            return [work.indices, work.updates], [work.table]
        case ReadWord():
            return [work.access], []
        case While():
            return ([] if work.predicate is None else [work.predicate]), []
        case Case():
            return [work.index], []


def inner(work: Work) -> list[tuple[Work, ...]]:
    """Return the lists of work in a piece of work."""
    if isinstance(work, While):
        return [work.cond, work.body]
    return list(work.branches) if isinstance(work, Case) else []


def accesses(work: Work) -> Iterator[tuple[Access, bool]]:
    """Yield what a piece of work, and all in it, accesses, and whether it writes there."""
    reads, writes = own(work)
    yield from ((access, False) for access in reads)
    yield from ((access, True) for access in writes)
    for works in inner(work):
        for part in works:
            yield from accesses(part)
