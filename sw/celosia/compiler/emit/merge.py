"""The same cluster over another space: of fewer dimensions, or of some of the lanes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar

from celosia.compiler.lowered import Cluster, Code, External, Read, Write
from celosia.compiler.views import View
from celosia.kernels.terms import Extent, Leaf, Term, lane_index

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
    if (cluster.product is not None or code.joins or not plain or not dense
            or any(term.extent not in extents for term in code.terms)):
        return None
    count = math.prod(cluster.space)

    def flat(use: _Use) -> _Use:
        if use.extent == Extent.SCALAR:
            return use
        return _with_view(use, View(use.access.view.offset, (count,), (1,)))

    return replace(cluster, space=(count,), kept=0, reads=tuple(map(flat, cluster.reads)),
                   writes=tuple(map(flat, cluster.writes)))


def _joined(view: View, i: int) -> View | None:
    """Return a view with dimensions i and i + 1 as one; None where no stride fits."""
    (outer, step), (inner, stride) = ((view.shape[d], view.strides[d]) for d in (i, i + 1))
    if outer != 1 and inner != 1 and step != inner * stride:
        return None
    return View(view.offset, (*view.shape[:i], outer * inner, *view.shape[i + 2:]),
                (*view.strides[:i], step if inner == 1 else stride, *view.strides[i + 2:]))


def _merge(cluster: Cluster, code: Code, i: int) -> Cluster | None:
    """Return the cluster with row dimensions i and i + 1 as one."""
    space = cluster.space

    def views(uses: tuple[_Use, ...]) -> tuple[_Use, ...] | None:
        out = []
        for use in uses:
            has = Extent.ROWS in use.extent
            if isinstance(use, Write) and use.value in code.joins:
                has = i < cluster.kept
            view = _joined(use.access.view, i) if has else use.access.view
            if view is None:
                return None
            out.append(_with_view(use, view))
        return tuple(out)

    reads, writes = views(cluster.reads), views(cluster.writes)
    if reads is None or writes is None:
        return None
    return replace(cluster, space=(*space[:i], space[i] * space[i + 1], *space[i + 2:]),
                   kept=cluster.kept - (i < cluster.kept), reads=reads, writes=writes)


def merge_rows(cluster: Cluster, code: Code) -> Cluster:
    """Return the cluster with as few row dimensions as its tensors allow."""
    i = len(cluster.space) - 3
    while i >= 0:
        if i + 1 != cluster.kept:
            cluster = _merge(cluster, code, i) or cluster
        i -= 1
    return cluster


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
