"""Emission of `lowered.Fill`: one row on chip, stored everywhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.numerics import f32_to_bf16
from celosia.arch.vector import Dst, Src, VectorOp
from celosia.arch.words import WORD_MASK, ceil_div
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.codegen.nodes import Op
from celosia.compiler.emit.resident import destination, matrix, whole
from celosia.compiler.emit.strided import (
    Copy,
    Dim,
    copy_of,
    even,
    grids,
    grouped,
    need,
    offset,
)
from celosia.compiler.lowered import Fill, OnChip, Region

__all__ = ["emit_fill"]

#: Elements of one store, where there are enough: so that there are loops, and short steps of them.
_ELEMENTS = 1 << 14
_PIECES = 4


def stored_bits(fmt: DmaFormat, word: int) -> int:
    """Return the bits that an accumulator of ``word`` becomes in external memory."""
    word &= WORD_MASK
    if fmt == DmaFormat.I8:
        signed = word - (1 << 32) if word >> 31 else word
        return min(max(signed, -128), 127) & 0xFF
    return int(f32_to_bf16(np.uint32(word))) if fmt == DmaFormat.BF16 else word


def _as_words(copy: Copy, word: int) -> tuple[Copy, int]:
    """Return the same fill with words, if everything is aligned for it."""
    unit = copy.fmt.nbytes
    ratio = 4 // unit
    if ratio == 1 or not copy.dims or copy.dst.base is not None or copy.dst.addr % 4:
        return copy, word
    *others, last = copy.dims
    if last.dst != 1 or last.size % ratio or any(dim.dst % ratio for dim in others):
        return copy, word
    bits = stored_bits(copy.fmt, word)
    dims = [Dim(dim.size, 0, dim.dst // ratio) for dim in others]
    if last.size > ratio:
        dims.append(Dim(last.size // ratio, 0, 1))
    return (replace(copy, fmt=DmaFormat.W32, dims=tuple(dims)),
            sum(bits << 8 * unit * i for i in range(ratio)))


def emit_fill(config: TpuConfig, fill: Fill, region: Region) -> Emitted:
    """Return the operations that set all elements of a view to a word.

    Raises
    ------
    CompileError
        If there is no accumulator row for the word, or an on-chip tensor is not filled as a whole.
    """
    if isinstance(fill.dst.tensor.home, OnChip):
        return _resident(config, fill, region)
    copy = copy_of(None, fill.dst, fill.source)
    if copy is None:
        return Emitted()
    copy, word = _as_words(copy, fill.word)
    need(region.acc, 1, Mem.ACC, fill.source)
    at = region.acc.start
    out = Emitted([_set(at, 1, word, fill.source)])
    outer = list(copy.dims)
    last = outer.pop() if outer and outer[-1].dst == 1 else Dim(1, 0, 1)
    best = max(range(len(outer)), key=lambda i: outer[i].size, default=None)
    row = Dim(1, 0, 0) if best is None else outer.pop(best)
    columns = even(last.size, min(_ELEMENTS, COUNT_MAX), config.dim)
    height = even(row.size, min(max(_ELEMENTS // columns, 1), COUNT_MAX))
    dims = [*outer, row, last]
    for grid in grids([d.size for d in dims], [*(1 for _ in outer), height, columns]):
        for group in grouped(grid, _PIECES):
            out.blocks.append(Block([[
                copy.store(Mem.ACC, at, offset(first, [d.dst for d in dims]), rows, cols, row.dst,
                           0, 0) for first, (*_, rows, cols) in group]]))
    return out


def _set(row: int, rows: int, word: int, source: str) -> Op:
    return nodes.vector(VectorOp.MOV, Dst.ACC, row, rows, ((Src.SCALAR, word & WORD_MASK),),
                        source=source)


def _resident(config: TpuConfig, fill: Fill, region: Region) -> Emitted:
    """Set a tensor on chip; lanes of the unified buffer beyond its columns to 0."""
    home = whole(fill.dst, fill.source)
    tensor = fill.dst.tensor
    rows, columns = matrix(tensor)
    if rows * columns == 0:
        return Emitted()
    word = fill.word & WORD_MASK
    panels = ceil_div(columns, config.dim)
    full = rows * (panels - (home.mem == Mem.UB and columns > 1 and columns % config.dim > 0))
    out = Emitted([
        nodes.vector(VectorOp.MOV, destination(tensor), home.row + at, min(COUNT_MAX, full - at),
                     ((Src.SCALAR, word),), source=fill.source)
        for at in range(0, full, COUNT_MAX)])
    if full < rows * panels:
        need(region.acc, 1, Mem.ACC, fill.source)
        mask = region.acc.start
        out.before.append(nodes.vector(
            VectorOp.ILT, Dst.ACC, mask, 1,
            ((Src.LANE_INDEX, 0), (Src.SCALAR, columns % config.dim)), source=fill.source))
        out.before += [
            nodes.vector(VectorOp.AND, destination(tensor), home.row + full + at,
                         min(COUNT_MAX, rows - at), ((Src.ACC_ROW, mask), (Src.SCALAR, word)),
                         source=fill.source) for at in range(0, rows, COUNT_MAX)]
    return out
