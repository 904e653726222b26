"""What :mod:`celosia.model.lanes` computes, sooner where there is a way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch import numerics as exact
from celosia.arch.vector import Post, ReduceOp
from celosia.arch.vector import VectorOp as Op
from celosia.model import lanes
from celosia.model.fast import numerics, special

__all__ = ["FAST", "first", "first_stage", "join_lanes", "join_rows", "second", "second_stage"]

U32 = NDArray[np.uint32]

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
}

_JOIN: dict[ReduceOp, Callable[[U32, U32], NDArray]] = {
    ReduceOp.SUM_F: numerics.f32_add,
    ReduceOp.MAX_F: numerics.f32_max,
    ReduceOp.MIN_F: numerics.f32_min,
}

_quiet = np.errstate(all="ignore")


def first_stage(op: Op, param: int) -> Callable[..., U32]:
    """Return what :func:`celosia.model.lanes.first_stage` does, or the same sooner."""
    return _FIRST.get(op) or lanes.first_stage(op, param)


def second_stage(post: Post, param: int) -> Callable[..., U32]:
    """Return what :func:`celosia.model.lanes.second_stage` does, or the same sooner."""
    return _SECOND.get(post) or lanes.second_stage(post, param)


@_quiet
def first(op: Op, operands: list[U32], param: int) -> U32:
    """Return what the first stage makes of its operands; movement has been done."""
    return np.asarray(first_stage(op, param)(*operands), np.uint32)


@_quiet
def second(post: Post, value: U32, param: int, *numerator: U32) -> U32:
    """Return what the second stage makes of a word; ``numerator``: of DIV."""
    return np.asarray(second_stage(post, param)(value, *numerator), np.uint32)


@_quiet
def join_rows(op: ReduceOp, groups: U32) -> U32:
    """Join the rows of each group, (groups, rows, lanes), one after another: (groups, lanes)."""
    if op == ReduceOp.SUM_F:
        return numerics.f32_sum(groups)
    join, joined = _join(op), groups[:, 0]
    for i in range(1, groups.shape[1]):
        joined = join(joined, groups[:, i])
    return joined


@_quiet
def join_lanes(op: ReduceOp, rows: U32) -> U32:
    """Join the lanes of each row, (rows, lanes), pairwise: (rows,)."""
    return exact.lane_tree(_join(op), rows)


def _join(op: ReduceOp) -> Callable[[U32, U32], NDArray]:
    return _JOIN.get(op) or lanes.JOINS[op]


FAST = lanes.Lanes(first, second, join_rows, join_lanes, numerics.f32_to_bf16)
