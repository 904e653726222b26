"""Emission of `lowered.Fill`: one row on chip, stored everywhere."""

from __future__ import annotations

import numpy as np

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.numerics import f32_to_bf16
from celosia.arch.vector import Dst, Src, VectorOp
from celosia.arch.words import WORD_MASK
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.emit.copies import copy_of, need
from celosia.compiler.emit.pieces import Piece, even, fold_groups, offset
from celosia.compiler.lowered import Fill, Region

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


def emit_fill(config: TpuConfig, fill: Fill, region: Region) -> Emitted:
    """Return the operations that set all elements of a view to a word.

    Raises
    ------
    CompileError
        If there is no accumulator row for the word.
    """
    copy = copy_of(None, fill.dst, fill.source)
    if copy is None:
        return Emitted()
    box, word = copy.dst, fill.word
    words = box.words()
    if words is not None:
        bits, unit = stored_bits(box.fmt, word), box.fmt.nbytes
        box, word = words, sum(bits << 8 * byte for byte in range(0, DmaFormat.W32.nbytes, unit))
    need(region.acc, 1, Mem.ACC, fill.source)
    at = region.acc.start
    out = Emitted([nodes.vector(VectorOp.MOV, Dst.ACC, at, 1, ((Src.SCALAR, word & WORD_MASK),),
                                source=fill.source)])
    outer = [(size, stride) for size, stride in zip(box.sizes, box.strides, strict=True)
             if size > 1]
    last = outer.pop() if outer and outer[-1][1] == 1 else (1, 1)
    best = max(range(len(outer)), key=lambda i: outer[i][0], default=None)
    row = (1, 0) if best is None else outer.pop(best)
    columns = even(last[0], min(_ELEMENTS, COUNT_MAX), config.dim)
    height = even(row[0], min(max(_ELEMENTS // columns, 1), COUNT_MAX))
    sizes, strides = zip(*outer, row, last, strict=True)

    def block(group: list[Piece], _: int) -> Block:
        return Block([[box.transfer(nodes.store, Mem.ACC, at, rows, cols, row[1], 0, 0, fill.source,
                                    at=offset(first, strides))
                       for first, (*_, rows, cols) in group]])

    out.runs = fold_groups(sizes, [*(1 for _ in outer), height, columns], _PIECES, block, places=1)
    return out
