"""The vector unit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.arch import numerics
from celosia.arch.isa import Dst, Mem, Post
from celosia.arch.isa import VectorOp as Op
from celosia.model import fast
from celosia.model.commands import DST_MEM, SRC_MEM, Operand, Vector
from celosia.model.decode import INT8_SRCS

__all__ = ["execute"]

U32 = NDArray[np.uint32]
I32 = NDArray[np.int32]


def execute(command: Vector, ub: NDArray, acc: U32) -> None:
    """Run one vector instruction on the two memories."""
    # No stream overlaps the destination but in step with it, and single rows are read first:
    # reading everything before writing anything is the same as going row by row.
    operands = [_read(source, ub, acc) for source in command.sources]
    result = _second(command.post, _first(command.op, operands, command.param), command.param)
    target = ub if DST_MEM[command.kind] == Mem.UB else acc
    if command.kind == Dst.UB_I8:
        result = numerics.saturate_i8(result.view(np.int32)).astype(ub.dtype)
    elif command.kind == Dst.UB_BF16:
        result = fast.f32_to_bf16(result)
    target[command.dst.index()] = result  # where a row repeats, NumPy keeps the last


def _read(source: Operand, ub: NDArray, acc: U32) -> U32:
    """Return the operand as 32-bit words: shape (rows, D), (1, D) for a row, (1, 1) for a value."""
    if source.stream is None:
        return np.full((1, 1), source.value, np.uint32)
    if SRC_MEM[source.kind] == Mem.ACC:
        return acc[source.stream.index()]
    lanes = ub[source.stream.index()]
    if source.kind in INT8_SRCS:
        return lanes.astype(np.int8).astype(np.int32).view(np.uint32)
    return np.asarray(numerics.bf16_to_f32(lanes))


def _signed(word: int, lsb: int, width: int) -> int:
    value = word >> lsb & (1 << width) - 1
    return value - (1 << width) if value >> width - 1 else value


_INTEGER = {Op.IMUL: numerics.imul, Op.IMAX: np.maximum, Op.IMIN: np.minimum}
_FLOAT = {Op.FADD: fast.f32_add, Op.FSUB: fast.f32_sub, Op.FMUL: fast.f32_mul,
          Op.FFMA: fast.f32_fma, Op.FMAX: fast.f32_max, Op.FMIN: fast.f32_min}


def _first(op: Op, operands: list[U32], param: int) -> U32:
    if op == Op.MOV:
        return operands[0]
    if op == Op.IADD:
        return operands[0] + operands[1]
    if op == Op.ISUB:
        return operands[0] - operands[1]
    if op in _FLOAT:
        return _FLOAT[op](*operands)
    if op == Op.F2I:
        return np.asarray(numerics.f32_to_i32(operands[0])).view(np.uint32)
    integers = [operand.view(np.int32) for operand in operands]
    if op == Op.I2F:
        return np.asarray(numerics.i32_to_f32(integers[0]))
    if op == Op.REQUANT:
        x, _, bias = integers
        zp, lo, hi = (_signed(param, lsb, 8) for lsb in (0, 8, 16))
        return np.asarray(numerics.requant(x, operands[1], bias, zp, lo, hi)).view(np.uint32)
    return np.asarray(_INTEGER[op](*integers)).view(np.uint32)


def _second(post: Post, value: U32, param: int) -> U32:
    match post:
        case Post.NONE:
            return value
        case Post.RELU_I:
            return np.asarray(numerics.relu_i(value.view(np.int32))).view(np.uint32)
        case Post.CLAMP_I:
            lo, hi = _signed(param, 0, 16), _signed(param, 16, 16)
            return np.asarray(numerics.clamp_i(value.view(np.int32), lo, hi)).view(np.uint32)
        case Post.RELU_F:
            return fast.relu_f(value)
        case Post.CLAMP_F:
            return np.asarray(numerics.clamp_f(value, param & 0xFFFF, param >> 16))
