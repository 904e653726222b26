"""Emission of `lowered.Move`: copies from one view to another."""

from __future__ import annotations

import math

from celosia.arch.commands import Load
from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.words import ceil_div
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.cycles import transfer
from celosia.compiler.emit.copies import Copy, Dim, copy_of, memory_of, need, room
from celosia.compiler.emit.pieces import Piece, even, fold_groups, offset
from celosia.compiler.emit.transposed import pick_lanes, repeat_lanes, transpose
from celosia.compiler.lowered import Move, Region

__all__ = ["emit_move"]

#: On-chip rows that one load or store moves, where there are enough: so many that its start does
#: not count, and so few of all that the first load and the last store, which nothing overlaps, do
#: not count either.
_PIECE_ROWS = range(32, 128)
_SHARE = 32
#: Cycles of an element that is a row, less what it costs to be wrong about the rest.
_WORTH = 0.75
#: Pieces of a block at most: stores of one begin while the next is loaded.
_PIECES = 8


def emit_move(config: TpuConfig, move: Move, region: Region) -> Emitted:
    """Return the operations of a copy.

    Rows that both sides have in one piece go through the chip as they are. Where the sides differ
    in the dimension of step 1, tiles of D x D elements are transposed by the vector unit; a last
    dimension of small or negative step in the source is picked out of whole rows. What is left goes
    element by element.

    Bits stay as they are, but for bf16 that are transposed or repeated into rows whose pairs of
    elements do not lie in words: of those subnormal numbers become zero and a NaN any NaN.

    Raises
    ------
    CompileError
        If the region is too small.
    """
    copy = copy_of(move.src, move.dst, move.source)
    if copy is None:
        return Emitted()
    last = copy.dims[-1] if copy.dims else Dim(1, 1, 1)
    if last.dst != 1 or last.src == 1:
        return _rows(config, copy, region)
    if last.src == 0:
        return repeat_lanes(config, copy, region)
    if any(dim.src == 1 for dim in copy.dims):
        return transpose(config, copy, region)
    found = pick_lanes(config, copy, region) if _is_dense(config, copy, last) else None
    return _rows(config, copy, region) if found is None else found


def _is_dense(config: TpuConfig, copy: Copy, last: Dim) -> bool:
    """Whether it is faster to load what lies between the elements of a row, too."""
    dim, step = config.dim, abs(last.src)
    others = copy.dims[:-1]
    columns = min(last.size, dim)
    span = (columns - 1) * step + 1
    rows = max((d.size for d in others if d.src >= 0), default=1)
    rows = dim if last.size >= 4 * dim else min(rows, dim)
    # Cycles for an element: of loads, and of rows of the vector unit.
    loads = transfer(config, Load, 1, span, copy.fmt.nbytes).occupied / columns
    work = dim * (ceil_div(span, dim) + 1 + (last.src < 0)) / (rows * columns)
    single = last.src < 0 and all(d.src < 0 for d in others)
    alone = transfer(config, Load, 1, 1, copy.fmt.nbytes).check
    return max(loads, work) < (alone if single else _WORTH)


def _rows(config: TpuConfig, copy: Copy, region: Region) -> Emitted:
    """Copy rows of the last dimension, or elements, where that has not the step 1 on both sides."""
    mem = memory_of(copy.fmt)
    rows = room(region, mem)
    need(rows, 2, mem, copy.source)
    most = len(rows) // 2
    outer = list(copy.dims)
    last = outer.pop() if outer and outer[-1].src == outer[-1].dst == 1 else Dim(1, 1, 1)
    # The dimension that one load walks; the others are loops.
    walked = [i for i, dim in enumerate(outer) if dim.src >= 0] or range(len(outer))
    at = max(walked, key=lambda i: (outer[i].size, outer[i].dst), default=None)
    row = Dim(1, 0, 0) if at is None else outer.pop(at)
    total = math.prod(dim.size for dim in [*outer, row]) * ceil_div(last.size, config.dim)
    target = min(max(_PIECE_ROWS.start, min(total // _SHARE, _PIECE_ROWS.stop)), most)
    if row.size == 1 or ceil_div(last.size, config.dim) > target:
        columns = even(last.size, min(target * config.dim, COUNT_MAX), config.dim)
    else:
        columns = last.size
    groups = ceil_div(columns, config.dim)
    repeated = row.src == 0
    height = even(row.size, COUNT_MAX if repeated else max(target // groups, 1))
    kept = groups if repeated else groups * height
    pieces = max(1, min(_PIECES, most // kept, max(2, target // kept)))
    dims = [*outer, row, last]

    def block(group: list[Piece], place: int) -> Block:
        loads, stores = [], []
        for i, (first, (*_, count, cols)) in enumerate(group):
            used = 1 if repeated else count
            at_row = rows.start + place * most + i * kept
            at_src, at_dst = (offset(first, strides) for strides in zip(
                *((dim.src, dim.dst) for dim in dims), strict=True))
            # Pitches cannot be negative: rows that lie backwards are loaded one by one.
            single = row.src < 0
            loads += [copy.load(mem, at_row + k, at_src + k * row.src, 1 if single else used, cols,
                                max(row.src, 0), not repeated, used)
                      for k in range(used if single else 1)]
            stores.append(copy.store(mem, at_row, at_dst, count, cols, row.dst, not repeated, used))
        return Block([loads, stores])

    return Emitted(runs=fold_groups([dim.size for dim in dims],
                                    [*(1 for _ in outer), height, columns], pieces, block))
