"""What :mod:`celosia.model.lanes` computes, sooner where there is a way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from celosia.arch.numerics import U32
from celosia.arch.vector import Post, ReduceOp
from celosia.arch.vector import VectorOp as Op
from celosia.model import lanes
from celosia.model.fast import numerics, special

__all__ = ["FAST", "first_stage", "second_stage"]


_FIRST: dict[Op, Callable[..., Any]] = {
    Op.FADD: numerics.f32_add,
    Op.FSUB: numerics.f32_sub,
    Op.FMUL: numerics.f32_mul,
    Op.FFMA: numerics.f32_fma,
    Op.FMAX: numerics.f32_max,
    Op.FMIN: numerics.f32_min,
    Op.FEQ: numerics.f32_equal,
    Op.FNE: lambda a, b: ~numerics.f32_equal(a, b),
    Op.FLT: numerics.f32_less,
    Op.FLE: numerics.f32_less_equal,
    Op.FGT: lambda a, b: numerics.f32_less(b, a),
    Op.FGE: lambda a, b: numerics.f32_less_equal(b, a),
}

_SECOND: dict[Post, Callable[..., Any]] = {
    Post.RELU_F: numerics.relu_f,
    Post.SQUARE: lambda x: numerics.f32_mul(x, x),
    Post.RECIP: special.f32_recip,
    Post.RSQRT: special.f32_rsqrt,
    Post.SQRT: special.f32_sqrt,
    Post.DIV: special.f32_div,
    Post.F2I: numerics.f32_to_i32,
    Post.F2I_FLOOR: lambda x: numerics.f32_to_i32(x, np.floor),
    Post.F2I_TRUNC: lambda x: numerics.f32_to_i32(x, np.trunc),
}


def first_stage(op: Op, param: int) -> Callable[..., U32]:
    """Return what :func:`celosia.model.lanes.first_stage` does, or the same sooner."""
    return _FIRST.get(op) or lanes.first_stage(op, param)


def second_stage(post: Post, param: int) -> Callable[..., U32]:
    """Return what :func:`celosia.model.lanes.second_stage` does, or the same sooner."""
    if post == Post.CLAMP_F:
        return lambda x: numerics.clamp_f(x, param & 0xFFFF, param >> 16)
    return _SECOND.get(post) or lanes.second_stage(post, param)


class _Lanes(lanes.Lanes):
    """Sums of fp32 rows are made all at once where that gives the same."""

    @np.errstate(all="ignore")
    def join_rows(self, op: ReduceOp, groups: U32) -> U32:
        return (numerics.f32_sum(groups) if op == ReduceOp.SUM_F
                else super().join_rows(op, groups))


FAST = _Lanes(first_stage, second_stage, {
    **lanes.PLAIN.joins,
    ReduceOp.SUM_F: numerics.f32_add,
    ReduceOp.MAX_F: numerics.f32_max,
    ReduceOp.MIN_F: numerics.f32_min,
}, numerics.f32_to_bf16)
