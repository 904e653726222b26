"""Cholesky factors and triangular systems, column after column, in fp32 on the vector unit.

Golub and Van Loan, Matrix Computations, 4th edition: 3.1.3 (column-oriented forward substitution)
and 4.2.5 (outer product Cholesky). Products are fp32's: the array's, of bf16, are too coarse here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.attributes import name_of
from celosia.frontend.stablehlo.loops import repeat
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import DType, Value, constant, splat
from celosia.graph.build import NodeMaker

__all__ = []


class _Matrices(NodeMaker):
    """Operations on batches of matrices, [batch, rows, columns], f32, made at one place."""

    def scalar(self, number: int) -> Value:
        return constant(np.int32(number), None, self.source)

    def spread(self, x: Value, shape: Sequence[int]) -> Value:
        """Return what has extent 1 in some dimensions, as often as they have elements."""
        shape = tuple(shape)
        if x.shape == shape:
            return x
        kept = [dim for dim, extent in enumerate(x.shape) if extent == shape[dim]]
        if len(kept) < len(x.shape):
            x = self("reshape", x, shape=tuple(shape[dim] for dim in kept))
        return self("broadcast", x, shape=shape, dims=kept)

    def turned(self, x: Value) -> Value:
        return self("transpose", x, permutation=(0, 2, 1))

    def part(self, x: Value, row: Value, column: Value, sizes: Sequence[int]) -> Value:
        return self("dynamic_slice", x, self.scalar(0), row, column, sizes=(x.shape[0], *sizes))

    def row_put(self, x: Value, row: Value, at: Value) -> Value:
        zero = self.scalar(0)
        return self("dynamic_update_slice", x, row, zero, at, zero)

    def where(self, direction: str, x: Value, dim: int, at: Value) -> Value:
        """Return x where its number along a dimension compares so to ``at``, else 0."""
        places = self("iota", dtype=DType.I32, shape=x.shape, dim=dim)
        chosen = self("compare", places, self("broadcast", at, shape=x.shape, dims=()),
                      direction=direction)
        return self("select", chosen, x, self.full(0, x.type))


def _batched(here: Here, x: Value) -> Value:
    """Return an operand as a batch of matrices in f32."""
    if not x.dtype.is_float or x.dtype.is_wide:
        raise Unsupported(f"elements must be floats of at most 32 bits, not {x.dtype}")
    x = x if x.dtype is DType.F32 else here.emit("convert", x, dtype=DType.F32)
    *batch, rows, columns = x.shape
    return here.emit("reshape", x, shape=(math.prod(batch), rows, columns))


def _unbatched(here: Here, x: Value) -> Value:
    x = here.emit("reshape", x, shape=here.type.shape)
    return x if x.dtype is here.type.dtype else here.emit("convert", x, dtype=here.type.dtype)


@translates("stablehlo.triangular_solve")
def _triangular_solve(here: Here) -> Value:
    if not here.type.size:
        return here.splat(0, here.type)
    make = _Matrices(here.source)
    a, b = (_batched(here, x) for x in here.operands)
    left, lower, unit = (bool(here[name].value) for name in ("left_side", "lower",
                                                             "unit_diagonal"))
    # x a = b is a' x' = b'. What is transposed twice is not.
    if (name_of(here["transpose_a"]) != "NO_TRANSPOSE") == left:
        a, lower = make.turned(a), not lower
    if not left:
        b = make.turned(b)
    if not lower:
        a, b = make("reverse", a, dims=(1, 2)), make("reverse", b, dims=(1,))
    columns = b.shape[2]

    def step(at: Value, a: Value, b: Value) -> list[Value]:
        row = make.part(b, at, make.scalar(0), (1, columns))
        if not unit:
            row = make("divide", row, make.spread(make.part(a, at, at, (1, 1)), row.shape))
        factors = make.part(a, make.scalar(0), at, (a.shape[1], 1))
        factors = make.where("gt", factors, 1, at)
        change = make("multiply", make.spread(factors, b.shape), make.spread(row, b.shape))
        return [a, make.row_put(make("subtract", b, change), row, at)]

    _, x = repeat(here.source, a.shape[1], step, a, b)
    if not lower:
        x = make("reverse", x, dims=(1,))
    return _unbatched(here, x if left else make.turned(x))


@translates("stablehlo.cholesky")
def _cholesky(here: Here) -> Value:
    if not here.type.size:
        return here.splat(0, here.type)
    make = _Matrices(here.source)
    a = _batched(here, here.operands[0])
    lower = here.has("lower") and bool(here["lower"].value)
    rows, columns = (make("iota", dtype=DType.I32, shape=a.shape, dim=dim) for dim in (1, 2))
    mine = make("compare", rows, columns, direction="ge" if lower else "le")
    a = make("select", mine, a, make.turned(a))

    def step(at: Value, a: Value, factor: Value) -> list[Value]:
        row = make.part(a, at, make.scalar(0), (1, a.shape[2]))
        root = make("sqrt", make.part(a, at, at, (1, 1)))
        row = make.where("ge", make("divide", row, make.spread(root, row.shape)), 2, at)
        change = make("multiply", make.spread(make.turned(row), a.shape),
                      make.spread(row, a.shape))
        return [make("subtract", a, change), make.row_put(factor, row, at)]

    _, factor = repeat(here.source, a.shape[1], step, a, splat(0, a.type, here.source))
    # Of a matrix that is not positive definite no element is a number.
    bad = make("reduce", make("multiply", factor, splat(0, a.type, here.source)),
               constant(np.float32(0), None, here.source), dims=(1, 2), reducer="add")
    bad = make("broadcast", bad, shape=a.shape, dims=(0,))
    factor = make("add", factor, bad)
    return _unbatched(here, make.turned(factor) if lower else factor)
