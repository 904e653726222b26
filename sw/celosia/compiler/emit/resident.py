"""Copies from and to tensors that live on chip."""

from __future__ import annotations

import math
from itertools import product

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.vector import Dst, Src, VectorOp
from celosia.arch.words import ceil_div
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.codegen.nodes import Op
from celosia.compiler.emit.strided import end_of
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Access, Move, OnChip, Region, Tensor
from celosia.compiler.views import View

__all__ = ["destination", "matrix", "move_resident", "rows_of", "whole"]


def matrix(tensor: Tensor) -> tuple[int, int]:
    """Return rows and columns of a tensor on chip."""
    return math.prod(tensor.shape[:-1]), tensor.shape[-1] if tensor.shape else 1


def rows_of(config: TpuConfig, tensor: Tensor) -> int:
    """Return how many rows of its memory a tensor on chip takes."""
    rows, columns = matrix(tensor)
    return rows * ceil_div(columns, config.dim)


def whole(access: Access, source: str) -> OnChip:
    """Return where a tensor on chip lies, of which all is used, in order.

    Raises
    ------
    CompileError
        If it is a part, or in another order.
    """
    home, view = access.tensor.home, access.view
    assert isinstance(home, OnChip), access.tensor.name
    if view.offset or not view.is_contiguous or view.size != math.prod(access.tensor.shape) or (
            access.base is not None):
        raise CompileError(f"{source or 'a move'} must use all of {access.tensor.name}, which is "
                           f"on chip, in its order, not {view}")
    return home


def source_kind(tensor: Tensor, lane: bool = False) -> Src:
    """Return how the vector unit reads a tensor on chip."""
    assert isinstance(tensor.home, OnChip)
    if tensor.home.mem == Mem.ACC:
        return Src.ACC_LANE if lane else Src.ACC
    if tensor.format == DmaFormat.I8:
        return Src.UB_I8_LANE if lane else Src.UB_I8
    return Src.UB_BF16_LANE if lane else Src.UB_BF16


def destination(tensor: Tensor) -> Dst:
    """Return how the vector unit writes a tensor on chip."""
    assert isinstance(tensor.home, OnChip)
    if tensor.home.mem == Mem.ACC:
        return Dst.ACC
    return Dst.UB_I8 if tensor.format == DmaFormat.I8 else Dst.UB_BF16


def _moves(config: TpuConfig, move: Move) -> list[Op]:
    """From chip to chip."""
    src, dst = whole(move.src, move.source), whole(move.dst, move.source)
    a, b = move.src.tensor, move.dst.tensor
    if matrix(a) != matrix(b):
        raise CompileError(f"{move.source or 'a move'} must have one matrix on chip on both sides, "
                           f"not {list(matrix(a))} and {list(matrix(b))}")
    if src == dst:
        return []
    total = rows_of(config, a)
    return [nodes.vector(VectorOp.MOV, destination(b), dst.row + at, min(COUNT_MAX, total - at),
                         ((source_kind(a), src.row + at),), source=move.source)
            for at in range(0, total, COUNT_MAX)]


def move_resident(config: TpuConfig, move: Move, region: Region) -> Emitted:
    """Return the operations of a copy with a tensor on chip on one side or both.

    Raises
    ------
    CompileError
        If the tensor is not moved as a whole, or the last dimension of the other side has another
        step than 1.
    """
    del region  # nothing but the tensors themselves
    if move.dst.view.size == 0:
        return Emitted()
    into = isinstance(move.dst.tensor.home, OnChip)
    if into and isinstance(move.src.tensor.home, OnChip):
        return Emitted([*_moves(config, move)])
    chip, other = (move.dst, move.src) if into else (move.src, move.dst)
    home, tensor = whole(chip, move.source), chip.tensor
    rows, columns = matrix(tensor)
    view = other.view.reshape((rows, columns)) or other.view.reshape(tensor.shape)
    if view is None or (columns > 1 and view.strides[-1] != 1) or columns > COUNT_MAX:
        raise CompileError(f"{move.source or 'a move'} must have rows of {columns} elements on the "
                           f"other side of {tensor.name}, which is on chip, not {other.view}")
    *shape, _ = view.shape if view.shape else (1,)
    *steps, _ = view.strides if view.strides else (0,)
    height = shape.pop() if shape else 1
    step = steps.pop() if steps else 0
    if step < 0:
        shape, steps, height, step = [*shape, height], [*steps, step], 1, 0
    unit = other.tensor.format.nbytes
    group = rows if columns > config.dim else 0
    ops: list[Op] = []
    for index in product(*map(range, shape)):
        first = 0
        for i, size in zip(index, shape, strict=True):
            first = first * size + i
        at = sum(i * s for i, s in zip(index, steps, strict=True))
        for row in range(0, height, COUNT_MAX):
            end = end_of(Access(other.tensor, View(view.offset, (), ()), other.base),
                         at + row * step)
            transfer = nodes.load if into else nodes.store
            ops.append(transfer(home.mem, other.tensor.format, home.row + first * height + row,
                                end.addr, min(COUNT_MAX, height - row), columns, step * unit, 1,
                                group, move.source, base=end.base, reach=end.reach))
    out = Emitted(blocks=[Block([[op]]) for op in ops])
    if into and columns == 1:
        out.after = [nodes.vector(VectorOp.MOV, destination(tensor), home.row + at,
                                  min(COUNT_MAX, rows - at),
                                  ((source_kind(tensor, lane=True), home.row + at),),
                                  source=move.source) for at in range(0, rows, COUNT_MAX)]
    return out
