"""Batch normalisation, as StableHLO's specification writes it out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import TensorType, Value

__all__ = []


class _Batch:
    """Arithmetic on arrays of one type and on a number for each of its features."""

    def __init__(self, here: Here):
        self.here, self.x = here, here.operands[0]
        self.feature = here.int("feature_index")
        self.others = tuple(dim for dim in range(self.x.type.rank) if dim != self.feature)
        self.count = math.prod(self.x.shape[dim] for dim in self.others)
        self.epsilon = float(here["epsilon"].value)

    def __call__(self, name: str, *operands: Value | float, **attrs: Any) -> Value:
        """Return the result of an operation; what is smaller is made as large."""
        return self.here.emit(name, *map(self.whole, operands), **attrs)

    def whole(self, x: Value | float) -> Value:
        if not isinstance(x, Value):
            return self.here.splat(x, self.x.type)
        if x.type.rank == 1 and self.x.type.rank > 1:
            return self.here.emit("broadcast", x, shape=self.x.shape, dims=(self.feature,))
        return x

    def sum(self, x: Value) -> Value:
        zero = self.here.splat(0, TensorType(x.dtype))
        return self.here.emit("reduce", x, zero, dims=self.others, reducer="add")

    def mean(self, x: Value) -> Value:
        found = self.sum(x)
        return self.here.emit("divide", found, self.here.splat(self.count, found.type))

    def deviation(self, variance: Value) -> Value:
        return self("sqrt", self("add", variance, self.epsilon))

    def normal(self, scale: Value, offset: Value, mean: Value, variance: Value) -> Value:
        found = self("divide", self("subtract", self.x, mean), self.deviation(variance))
        return self("add", self("multiply", found, scale), offset)


@translates("stablehlo.batch_norm_inference")
def _inference(here: Here) -> Value:
    _, scale, offset, mean, variance = here.operands
    return _Batch(here).normal(scale, offset, mean, variance)


@translates("stablehlo.batch_norm_training")
def _training(here: Here) -> Sequence[Value]:
    batch = _Batch(here)
    x, scale, offset = here.operands
    mean = batch.mean(x)
    centred = batch("subtract", x, mean)
    variance = batch.mean(batch("multiply", centred, centred))
    return batch.normal(scale, offset, mean, variance), mean, variance


@translates("stablehlo.batch_norm_grad")
def _gradient(here: Here) -> Sequence[Value]:
    batch = _Batch(here)
    x, scale, mean, variance, gradient = here.operands
    centred, deviation = batch("subtract", x, mean), batch.deviation(variance)
    with_centred = batch.sum(batch("multiply", gradient, centred))
    less = batch("divide", batch("multiply", with_centred, centred),
                 batch("add", variance, batch.epsilon))
    rest = batch("subtract", batch("subtract", batch("multiply", gradient, batch.count),
                                   batch.sum(gradient)), less)
    of_x = batch("multiply", batch("divide", batch("divide", scale, deviation), batch.count), rest)
    of_scale = batch.sum(batch("multiply", gradient, batch("divide", centred, deviation)))
    return of_x, of_scale, batch.sum(gradient)
