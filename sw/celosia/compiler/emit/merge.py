"""The same cluster over another space: of fewer dimensions, or of some of the lanes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from celosia.compiler.kernels.terms import Extent, Leaf, Term, lane_index
from celosia.compiler.lowered import Cluster, Code, External, Read, Write, rows_of
from celosia.compiler.views import View, merged

__all__ = ["flatten", "merge_rows", "some_lanes"]

_Use = TypeVar("_Use", Read, Write)


def _with_view(use: _Use, view: View) -> _Use:
    return replace(use, access=replace(use.access, view=view))


def flatten(cluster: Cluster, code: Code) -> Cluster | None:
    """Return the cluster over one row of all elements.

    None where an element depends on more than the same element of dense tensors in external memory
    and on scalars.
    """
    plain = all(not step.reduce and not any(arg.op in (Leaf.LANE, Leaf.ROW) for arg in step.args)
                for step in code.steps)
    extents = (Extent.FULL, Extent.SCALAR)
    dense = all(use.extent == Extent.SCALAR or (
        use.extent == Extent.FULL and isinstance(use.access.tensor.home, External)
        and use.access.view.is_contiguous) for use in (*cluster.reads, *cluster.writes))
    if (cluster.product is not None or code.joined or not plain or not dense
            or any(term.extent not in extents for term in code.terms)):
        return None
    count = math.prod(cluster.space)

    def flat(use: _Use) -> _Use:
        if use.extent == Extent.SCALAR:
            return use
        return _with_view(use, View(use.access.view.offset, (count,), (1,)))

    return replace(cluster, space=(count,), kept=0, reads=tuple(map(flat, cluster.reads)),
                   writes=tuple(map(flat, cluster.writes)))


def _merged(sizes: Sequence[int],
            sides: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """Return merged dimensions: one at least where there are any."""
    found = merged(sizes, *sides)
    return found if found[0] or not sizes else ([1], [[0] for _ in sides])


def merge_rows(cluster: Cluster, code: Code) -> Cluster:
    """Return the cluster with as few row dimensions as its tensors allow.

    What is joined over rows stays apart from what is kept.
    """
    uses = (*cluster.reads, *cluster.writes)
    rows = len(cluster.space) - 1
    # What has no rows, or no longer these, goes with all of them.
    sides = [(*(rows_of(use.access.view, use.extent).strides if Extent.ROWS in use.extent else ()),
              *[0] * rows)[:rows] for use in uses]
    (kept, outer), (joined, inner) = (
        _merged(cluster.space[part], [side[part] for side in sides])
        for part in (slice(cluster.kept), slice(cluster.kept, rows)))

    def of(use: _Use, outer: Sequence[int], inner: Sequence[int]) -> _Use:
        if Extent.ROWS not in use.extent:
            return use
        view, after = use.access.view, isinstance(use, Write) and use.value in code.joined
        sizes = [*kept, *([] if after else joined)]
        strides = [*outer, *([] if after else inner)]
        if Extent.LANES in use.extent:
            sizes.append(view.shape[-1])
            strides.append(view.strides[-1])
        return _with_view(use, View(view.offset, tuple(sizes), tuple(strides)))

    count = len(cluster.reads)
    steps = list(zip(outer, inner, strict=True))
    return replace(
        cluster, space=(*kept, *joined, cluster.space[-1]), kept=len(kept),
        reads=tuple(of(use, *each) for use, each in zip(cluster.reads, steps, strict=False)),
        writes=tuple(of(use, *each) for use, each in zip(
            cluster.writes, steps[count:], strict=True)))


def some_lanes(cluster: Cluster, code: Code, first: int, count: int) -> tuple[Cluster, Code]:
    """Return a cluster and code for ``count`` lanes from ``first`` on.

    For code without joins of lanes: lanes then know nothing of one another.
    """
    def part(use: _Use) -> _Use:
        if Extent.LANES not in use.extent:
            return use
        view = use.access.view
        return _with_view(use, View(view.offset + first * view.strides[-1],
                                    (*view.shape[:-1], count), view.strides))

    def moved(leaf: Term) -> Term:
        return lane_index(leaf.param + first) if leaf.op is Leaf.LANE else leaf

    return (replace(cluster, space=(*cluster.space[:-1], count),
                    reads=tuple(map(part, cluster.reads)), writes=tuple(map(part, cluster.writes))),
            code.replaced(moved))
