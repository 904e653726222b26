"""Functions of whole rows: softmax, log-softmax, layer norm, arg-max.

A row of n columns is a tile for each group of D columns; the lanes beyond n in the last group are
masked where they would count. Sums and maxima join the groups first, in order, then the lanes
as `celosia.arch.numerics.lane_tree` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.kernels.terms import Term, lane_index, step
from celosia.kernels.trace import Kernel, kernel

__all__ = ["argmax", "layer_norm", "log_softmax", "softmax"]

Op = VectorOp
Row = Sequence[Term]

_LOG2_E = 1 / math.log(2)
_NO_LANE = 0x7FFFFFFF


def _joined(op: Op, reduce_op: ReduceOp, row: Row) -> Term:
    """Join the groups, then the lanes, whose every one holds the result."""
    if len(row) == 1:
        return step(Op.MOV, row[0], reduce=Reduce.LANES, reduce_op=reduce_op)
    total = row[0]
    for tile in row[1:-1]:
        total = step(op, total, tile)
    return step(op, total, row[-1], reduce=Reduce.LANES, reduce_op=reduce_op)


def _total(row: Row) -> Term:
    return _joined(Op.FADD, ReduceOp.SUM_F, row)


def _masked(row: Row, columns: int, dim: int, filler: float) -> list[Term]:
    """Put a filler into the lanes beyond the last column."""
    rest = columns - (len(row) - 1) * dim
    if rest == dim:
        return list(row)
    inside = step(Op.ILT, lane_index(), rest)
    return [*row[:-1], step(Op.SELECT, inside, row[-1], filler)]


def _of_rows(name: str, columns: int, dim: int, function: Callable[..., object],
             rows: Sequence[str] = (), **options: Sequence[str]) -> Kernel:
    return kernel(name, function, rows=rows, columns=columns, dim=dim, **options)


def _centred(x: Row, columns: int, dim: int) -> list[Term]:
    """Subtract the largest of a row; -inf beyond its end."""
    x = _masked(x, columns, dim, -math.inf)
    top = _joined(Op.FMAX, ReduceOp.MAX_F, x)
    return [tile - top for tile in x]


def softmax(columns: int, dim: int) -> Kernel:
    """Return softmax over rows of ``columns``: six instructions for a group, 5 n - 1 for n."""
    def function(x: Row) -> list[Term]:
        powers = [step(Op.FMUL, tile, _LOG2_E, post=Post.EXP2)
                  for tile in _centred(x, columns, dim)]
        inverse = step(Op.MOV, _total(powers), post=Post.RECIP)
        return [tile * inverse for tile in powers]
    return _of_rows("softmax", columns, dim, function)


def log_softmax(columns: int, dim: int) -> Kernel:
    """Return the logarithm of softmax: five instructions for a group, 5 n - 1 for n."""
    def function(x: Row) -> list[Term]:
        x = _centred(x, columns, dim)
        if len(x) == 1:
            total = step(Op.FMUL, x[0], _LOG2_E, post=Post.EXP2, reduce=Reduce.LANES,
                         reduce_op=ReduceOp.SUM_F)
        else:
            total = _total([step(Op.FMUL, tile, _LOG2_E, post=Post.EXP2) for tile in x])
        log = step(Op.MOV, total, post=Post.LOG2)
        return [step(Op.FFMA, log, -math.log(2), tile) for tile in x]
    return _of_rows("log_softmax", columns, dim, function)


def layer_norm(columns: int, dim: int, eps: float = 1e-5) -> Kernel:
    """Return (x - mean) / sqrt(variance + eps) * gamma + beta: six instructions for a group.

    For n groups they are 6 n - 1. ``gamma`` and ``beta`` are one row; the variance is that of the
    row (not of a sample), from the differences from the mean.
    """
    def function(x: Row, gamma: Row, beta: Row) -> list[Term]:
        total = _total(x)  # lanes beyond the last column are loaded as zeros
        x = _masked([step(Op.FFMA, total, -1 / columns, tile) for tile in x], columns, dim, 0.0)
        if len(x) == 1:
            squares = step(Op.MOV, x[0], post=Post.SQUARE, reduce=Reduce.LANES,
                           reduce_op=ReduceOp.SUM_F)
        else:
            squares = _total([step(Op.MOV, tile, post=Post.SQUARE) for tile in x])
        inverse = step(Op.FFMA, squares, 1 / columns, eps, post=Post.RSQRT)
        return [step(Op.FFMA, tile * inverse, scale, shift)
                for tile, scale, shift in zip(x, gamma, beta, strict=True)]
    return _of_rows("layer_norm", columns, dim, function, ("gamma", "beta"))


def argmax(columns: int, dim: int) -> Kernel:
    """Return the column of the first largest element, or of the first NaN: one int32 for a row."""
    def function(x: Row) -> Term:
        x = _masked(x, columns, dim, -math.inf)
        top = _joined(Op.FMAX, ReduceOp.MAX_F, x)
        found = [step(Op.SELECT, step(Op.OR, step(Op.FEQ, tile, top), step(Op.FNE, tile, tile)),
                      lane_index(g * dim), _NO_LANE) for g, tile in enumerate(x)]
        return _joined(Op.IMIN, ReduceOp.MIN_I, found)
    return _of_rows("argmax", columns, dim, function, integers=("y",), per_row=("y",))
