"""Clusters without a product, block after block."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.compiler.codegen.blocks import Block, BlockRun, Emitted
from celosia.compiler.emit.body import Body
from celosia.compiler.emit.fold import fold_loops
from celosia.compiler.emit.merge import flatten, merge_rows, some_lanes
from celosia.compiler.emit.pieces import cut, loops_of, most_rows
from celosia.compiler.errors import WorkTooLarge
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import Cluster, Code, Read, Region, Write
from celosia.compiler.views import View

__all__ = ["emit_map"]

_Use = TypeVar("_Use", Read, Write)

#: Places for blocks that take turns: one is loaded, one worked on, one stored; fewer where that
#: makes blocks small.
_PLACES = (3, 2, 1)
#: Rows of all panels that one block holds where that is everything.
_SMALL = 128
#: Blocks that a large space is cut into at least.
_BLOCKS = 8
#: Rows of a panel from which on an instruction for each panel is long enough.
_TALL = 64
#: The same where most of the work is on columns.
_LOW = 16


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to ``limit`` that fits, or 0."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _shape(cluster: Cluster, body: Body, room: int, dim: int) -> tuple[int, int, int]:
    """Choose the rows and panels of a block, and how many places there are."""
    rows = math.prod(cluster.space[:-1])
    panels = ceil_div(cluster.space[-1], dim)
    if rows * panels <= _SMALL and body.block_rows(rows, panels) <= room:
        return rows, panels, 1
    target = max(_SMALL, ceil_div(rows * panels, _BLOCKS))
    # Work on columns is done again for each block of other lanes.
    least = 1 if body.whole_rows else min(rows, _LOW if body.is_of_columns else _TALL)
    best = (0, 0, 0)
    for places in _PLACES:
        share = room // places

        def fits(count: int, width: int, share: int = share) -> bool:
            # What lies on chip is found for boxes only.
            return body.block_rows(most_rows(cluster.space[:-1], count), width) <= share

        if body.whole_rows or (least * panels <= target and fits(least, panels)):
            width = panels
            top = min(rows, max(least, ceil_div(target, panels)))
            count = _most(top, lambda n, fits=fits: fits(n, panels))
        else:
            count = _most(least, lambda n, fits=fits: fits(n, 1))
            top = min(panels, max(1, ceil_div(target, max(count, 1))))
            width = _most(top, lambda n, fits=fits, count=count: fits(count, n))
        if count * width > best[0] * best[1]:
            best = count, width, places
        if count * width >= _TALL:
            break
    if not best[0]:
        whole = body.whole_rows
        raise WorkTooLarge(
            f"{cluster.source}: {'a whole row' if whole else 'a row of one panel'} of "
            f"{list(cluster.space)} must fit {room} accumulator rows, not take "
            f"{body.block_rows(1, panels if whole else 1)}")
    return best


def emit_map(config: TpuConfig, cluster: Cluster, code: Code, region: Region) -> Emitted:
    """Return the operations of a cluster that begins with no product.

    Stages of a block: loads; vector work and stores.

    Raises
    ------
    WorkTooLarge
        If one row of one panel (a whole row where its lanes are joined) does not fit the region.
    """
    if 0 in cluster.space:
        return Emitted()
    if not cluster.space:
        cluster = _of_one_row(cluster)
    return _emit(config, flatten(cluster, code) or merge_rows(cluster, code), code, region)


def _emit(config: TpuConfig, cluster: Cluster, code: Code, region: Region) -> Emitted:
    body = Body(config, cluster, code)
    room = len(region.acc) - body.once_rows()
    if room < body.once_rows() and not body.whole_rows and cluster.space[-1] > config.dim:
        return _in_halves(config, cluster, code, region)
    limit, width, places = _shape(cluster, body, room, config.dim)
    total = ceil_div(cluster.space[-1], config.dim)
    width = ceil_div(total, ceil_div(total, width))
    while True:
        ranges = cut(cluster.space[:-1], limit)
        shapes = {(count, min(width, total - first)) for _, count in ranges
                  for first in range(0, total, width)}
        area = max(body.block_rows(*shape) for shape in shapes)
        if area * places <= room:
            break
        if limit == 1:
            raise WorkTooLarge(f"{cluster.source}: a block of {list(cluster.space)} must fit "
                               f"{room} accumulator rows, not take {area * places}")
        limit //= 2
    start = region.acc.start
    out = Emitted(before=body.begin(start))
    start += body.once_rows()
    turns = [(rows, (first, min(width, total - first))) for rows in ranges
             for first in range(0, total, width)]
    out.runs = fold_loops(
        [body.turn(start + i % places * area, *turn) for i, turn in enumerate(turns)],
        lambda i: Block([*body.block(start + i % places * area, *turns[i])]),
        [ceil_div(total, width), *loops_of(cluster.space[:-1], len(ranges))], places)
    out.after = body.end()
    return out


def _in_halves(config: TpuConfig, cluster: Cluster, code: Code, region: Region) -> Emitted:
    """Return the work of one half of the panels, then of the other: what is kept is less."""
    half = ceil_div(cluster.space[-1], 2 * config.dim) * config.dim
    one, other = (_emit(config, *some_lanes(cluster, code, first, count), region)
                  for first, count in ((0, half), (half, cluster.space[-1] - half)))
    between = Block([[], [*one.after, *other.before]])
    return Emitted(one.before, [*one.runs, BlockRun([between]), *other.runs], other.after)


def _of_one_row(cluster: Cluster) -> Cluster:
    """Return a cluster over a space without dimensions as one over a row of one lane."""
    def of(use: _Use) -> _Use:
        if Extent.LANES not in use.extent or use.access.view.shape:
            return use
        view = View(use.access.view.offset, (1,), (1,))
        return replace(use, access=replace(use.access, view=view))

    return replace(cluster, space=(1,), kept=0, reads=tuple(map(of, cluster.reads)),
                   writes=tuple(map(of, cluster.writes)))
