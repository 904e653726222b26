"""What the lanes of the vector unit compute: operations, second stages and joins, on words.

Words are ``uint32``, whatever they stand for; shapes broadcast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch import numerics, special
from celosia.arch.vector import MOVEMENT_OPS, Post, ReduceOp
from celosia.arch.vector import VectorOp as Op
from celosia.model import fast

__all__ = ["JOINS", "first", "join_lanes", "join_rows", "second"]

U32 = NDArray[np.uint32]

_SIGN = np.uint32(0x80000000)


def _on_int32(operation: Callable) -> Callable[..., U32]:
    """Make an operation on int32 one on words."""
    return lambda *words: np.asarray(operation(*(word.view(np.int32) for word in words))).view(
        np.uint32)


def _compare(operation: Callable) -> Callable[[U32, U32], U32]:
    return _on_int32(lambda a, b: numerics.mask(operation(a, b)))


_FIRST: dict[Op, Callable[..., Any]] = {
    Op.MOV: lambda a: a,
    Op.IADD: np.add,
    Op.ISUB: np.subtract,
    Op.IMUL: _on_int32(numerics.imul),
    Op.IMAX: _on_int32(np.maximum),
    Op.IMIN: _on_int32(np.minimum),
    Op.AND: np.bitwise_and,
    Op.OR: np.bitwise_or,
    Op.XOR: np.bitwise_xor,
    Op.NOT: np.bitwise_not,
    Op.SHL: numerics.shift_left,
    Op.SHR: numerics.shift_right,
    Op.SAR: numerics.shift_right_signed,
    Op.SELECT: lambda a, b, c: np.where(a != 0, b, c),
    Op.IEQ: _compare(np.equal),
    Op.INE: _compare(np.not_equal),
    Op.ILT: _compare(np.less),
    Op.ILE: _compare(np.less_equal),
    Op.IGT: _compare(np.greater),
    Op.IGE: _compare(np.greater_equal),
    Op.FADD: fast.f32_add,
    Op.FSUB: fast.f32_sub,
    Op.FMUL: fast.f32_mul,
    Op.FFMA: fast.f32_fma,
    Op.FMAX: fast.f32_max,
    Op.FMIN: fast.f32_min,
    Op.FABS: lambda a: a & ~_SIGN,
    Op.FNEG: lambda a: a ^ _SIGN,
    Op.FEQ: numerics.f32_equal,
    Op.FNE: lambda a, b: ~numerics.f32_equal(a, b),
    Op.FLT: numerics.f32_less,
    Op.FLE: numerics.f32_less_equal,
    Op.FGT: lambda a, b: numerics.f32_less(b, a),
    Op.FGE: lambda a, b: numerics.f32_less_equal(b, a),
    Op.ISFINITE: numerics.f32_is_finite,
    Op.I2F: lambda a: numerics.i32_to_f32(a.view(np.int32)),
}

_SECOND: dict[Post, Callable[[U32], Any]] = {
    Post.NONE: lambda x: x,
    Post.RELU_I: _on_int32(numerics.relu_i),
    Post.RELU_F: fast.relu_f,
    Post.SQUARE: lambda x: fast.f32_mul(x, x),
    Post.EXP2: special.f32_exp2,
    Post.LOG2: special.f32_log2,
    Post.RECIP: special.f32_recip,
    Post.RSQRT: special.f32_rsqrt,
    Post.F2I: lambda x: np.asarray(numerics.f32_to_i32(x)).view(np.uint32),
    Post.F2I_FLOOR: lambda x: np.asarray(numerics.f32_to_i32(x, np.floor)).view(np.uint32),
    Post.F2I_TRUNC: lambda x: np.asarray(numerics.f32_to_i32(x, np.trunc)).view(np.uint32),
}

#: How a reduction joins two words, the earlier one first.
JOINS: dict[ReduceOp, Callable[[U32, U32], NDArray]] = {
    ReduceOp.SUM_I: np.add,
    ReduceOp.MAX_I: _on_int32(np.maximum),
    ReduceOp.MIN_I: _on_int32(np.minimum),
    ReduceOp.AND: np.bitwise_and,
    ReduceOp.OR: np.bitwise_or,
    ReduceOp.SUM_F: fast.f32_add,
    ReduceOp.MAX_F: fast.f32_max,
    ReduceOp.MIN_F: fast.f32_min,
}


def _signed(word: int, lsb: int, width: int) -> int:
    value = word >> lsb & (1 << width) - 1
    return value - (1 << width) if value >> width - 1 else value


def first(op: Op, operands: list[U32], param: int) -> U32:
    """Return what the first stage makes of its operands; movement has been done."""
    if op in MOVEMENT_OPS:
        return operands[0]
    if op == Op.REQUANT:
        x, scale, bias = operands
        zp, lo, hi = (_signed(param, lsb, 8) for lsb in (0, 8, 16))
        return np.asarray(numerics.requant(x.view(np.int32), scale, bias.view(np.int32), zp, lo,
                                           hi)).view(np.uint32)
    return np.asarray(_FIRST[op](*operands), np.uint32)


def second(post: Post, value: U32, param: int) -> U32:
    """Return what the second stage makes of a word."""
    if post == Post.CLAMP_I:
        lo, hi = _signed(param, 0, 16), _signed(param, 16, 16)
        return np.asarray(numerics.clamp_i(value.view(np.int32), lo, hi)).view(np.uint32)
    if post == Post.CLAMP_F:
        return np.asarray(numerics.clamp_f(value, param & 0xFFFF, param >> 16))
    return np.asarray(_SECOND[post](value), np.uint32)


def join_rows(op: ReduceOp, groups: U32) -> U32:
    """Join the rows of each group, (groups, rows, lanes), one after another: (groups, lanes)."""
    joined = groups[:, 0]
    for i in range(1, groups.shape[1]):
        joined = JOINS[op](joined, groups[:, i])
    return joined


def join_lanes(op: ReduceOp, rows: U32) -> U32:
    """Join the lanes of each row, (rows, lanes), pairwise: (rows,)."""
    return numerics.lane_tree(JOINS[op], rows)
