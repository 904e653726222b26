"""What the lanes of the vector unit compute: operations, second stages and joins, on words.

Words are ``uint32``, whatever they stand for; shapes broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch import numerics, special
from celosia.arch.numerics import U32
from celosia.arch.vector import MOVEMENT_OPS, Post, ReduceOp
from celosia.arch.vector import VectorOp as Op

__all__ = ["JOINS", "PLAIN", "Lanes", "first_stage", "second_stage"]




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
    Op.FADD: numerics.f32_add,
    Op.FSUB: numerics.f32_sub,
    Op.FMUL: numerics.f32_mul,
    Op.FFMA: numerics.f32_fma,
    Op.FMAX: numerics.f32_max,
    Op.FMIN: numerics.f32_min,
    Op.FABS: lambda a: a & ~numerics.SIGN,
    Op.FNEG: lambda a: a ^ numerics.SIGN,
    Op.FEQ: numerics.f32_equal,
    Op.FNE: lambda a, b: ~numerics.f32_equal(a, b),
    Op.FLT: numerics.f32_less,
    Op.FLE: numerics.f32_less_equal,
    Op.FGT: lambda a, b: numerics.f32_less(b, a),
    Op.FGE: lambda a, b: numerics.f32_less_equal(b, a),
    Op.ISFINITE: numerics.f32_is_finite,
    Op.I2F: lambda a: numerics.i32_to_f32(a.view(np.int32)),
    Op.FMULC: numerics.f32_mul_complement,
}

_SECOND: dict[Post, Callable[..., Any]] = {
    Post.NONE: lambda x: x,
    Post.RELU_I: _on_int32(numerics.relu_i),
    Post.RELU_F: numerics.relu_f,
    Post.SQUARE: numerics.f32_square,
    Post.EXP2: special.f32_exp2,
    Post.LOG2: special.f32_log2,
    Post.RECIP: special.f32_recip,
    Post.RSQRT: special.f32_rsqrt,
    Post.SQRT: special.f32_sqrt,
    Post.DIV: special.f32_div,
    Post.F2I: lambda x: np.asarray(numerics.f32_to_i32(x)).view(np.uint32),
    Post.F2I_FLOOR: lambda x: np.asarray(numerics.f32_to_i32(x, np.floor)).view(np.uint32),
    Post.F2I_TRUNC: lambda x: np.asarray(numerics.f32_to_i32(x, np.trunc)).view(np.uint32),
}

_JOIN: dict[ReduceOp, Callable[[U32, U32], Any]] = {
    ReduceOp.SUM_I: np.add,
    ReduceOp.MAX_I: _on_int32(np.maximum),
    ReduceOp.MIN_I: _on_int32(np.minimum),
    ReduceOp.AND: np.bitwise_and,
    ReduceOp.OR: np.bitwise_or,
    ReduceOp.SUM_F: numerics.f32_add,
    ReduceOp.MAX_F: numerics.f32_max,
    ReduceOp.MIN_F: numerics.f32_min,
}

_quiet = np.errstate(all="ignore")

#: How a reduction joins two words, the earlier one first.
JOINS: dict[ReduceOp, Callable[[U32, U32], NDArray]] = {
    op: _quiet(join) for op, join in _JOIN.items()}


def _signed(word: int, lsb: int, width: int) -> int:
    value = word >> lsb & (1 << width) - 1
    return value - (1 << width) if value >> width - 1 else value


def _requant(param: int) -> Callable[[U32, U32, U32], U32]:
    zp, lo, hi = (_signed(param, lsb, 8) for lsb in (0, 8, 16))
    return _on_int32(lambda x, scale, bias: numerics.requant(x, scale.view(np.uint32), bias, zp,
                                                             lo, hi))


def _clamp_i(param: int) -> Callable[[U32], U32]:
    lo, hi = _signed(param, 0, 16), _signed(param, 16, 16)
    return _on_int32(lambda x: numerics.clamp_i(x, lo, hi))


def first_stage(op: Op, param: int) -> Callable[..., U32]:
    """Return what the first stage does to its operands; movement has been done.

    The function wants NumPy's warnings switched off.
    """
    if op in MOVEMENT_OPS:
        return lambda *operands: operands[0]
    return _requant(param) if op == Op.REQUANT else _FIRST[op]


def second_stage(post: Post, param: int) -> Callable[..., U32]:
    """Return what the second stage does to a word, and DIV to its numerator too.

    The function wants NumPy's warnings switched off.
    """
    if post == Post.CLAMP_I:
        return _clamp_i(param)
    if post == Post.CLAMP_F:
        return lambda x: np.asarray(numerics.clamp_f(x, param & 0xFFFF, param >> 16))
    return _SECOND[post]


@dataclass(frozen=True)
class Lanes:
    """The lanes, by the functions of this file or by others that return the same.

    Attributes
    ----------
    first_stage, second_stage
        As `first_stage` and `second_stage`.
    joins
        How a reduction joins two words, the earlier one first; NumPy's warnings switched off.
    to_bf16
        The bf16 next to an fp32.
    to_i8
        The int8 next to an int32.
    """

    first_stage: Callable[[Op, int], Callable[..., U32]]
    second_stage: Callable[[Post, int], Callable[..., U32]]
    joins: Mapping[ReduceOp, Callable[[U32, U32], NDArray]]
    to_bf16: Callable[[U32], Any]
    to_i8: Callable[[NDArray[np.int32]], NDArray[np.int8]] = numerics.saturate_i8

    @_quiet
    def first(self, op: Op, operands: list[U32], param: int) -> U32:
        """Return what the first stage makes of its operands; movement has been done."""
        return np.asarray(self.first_stage(op, param)(*operands), np.uint32)

    @_quiet
    def second(self, post: Post, value: U32, param: int, *numerator: U32) -> U32:
        """Return what the second stage makes of a word; ``numerator``: of DIV."""
        return np.asarray(self.second_stage(post, param)(value, *numerator), np.uint32)

    def compute(self, op: Op, post: Post, operands: list[U32], param: int) -> U32:
        """Return what both stages make of the operands; movement has been done."""
        taken = len(operands) - (post == Post.DIV)
        result = self.first(op, operands[:taken], param)
        return self.second(post, result, param, *operands[taken:])

    @_quiet
    def join_rows(self, op: ReduceOp, groups: U32) -> U32:
        """Join the rows of each group, (groups, rows, lanes), in order: (groups, lanes)."""
        join, joined = self.joins[op], groups[:, 0]
        for i in range(1, groups.shape[1]):
            joined = join(joined, groups[:, i])
        return joined

    @_quiet
    def join_lanes(self, op: ReduceOp, rows: U32) -> U32:
        """Join the lanes of each row, (rows, lanes), pairwise: (rows,)."""
        return numerics.lane_tree(self.joins[op], rows)


PLAIN = Lanes(first_stage, second_stage, _JOIN, numerics.f32_to_bf16)
