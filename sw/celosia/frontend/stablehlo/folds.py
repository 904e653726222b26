"""Reductions by bodies that the graph has no name for, and of several arrays at once.

Halves of the extent are joined by the body itself, neighbours in their order. StableHLO leaves open
in which order, so a body must be associative; one that some numbers show not to be is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.bodies import body_of, spread
from celosia.frontend.stablehlo.regions import text_of
from celosia.frontend.stablehlo.translation import Here
from celosia.graph import DType, Graph, Value, interpret

__all__ = ["fold", "fold_windows"]

_Values = tuple[Value, ...]
_Join = Callable[[_Values, _Values], _Values]


def fold(here: Here, operands: Sequence[Value]) -> _Values:
    """Return the results of a reduction.

    Parameters
    ----------
    here
        The operation; its own operands are not looked at.
    operands
        Arrays of one shape, then a scalar for each that all begins with: complex ones as two.

    Raises
    ------
    Unsupported
        If its body is more than elementwise operations on its arguments, or not associative.
    """
    arrays, initial = _halves(operands)
    join, dims, shape = _join_of(here), here.ints("dimensions"), arrays[0].shape
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    left = tuple(shape[dim] for dim in kept)
    begin = _each(here, "broadcast", initial, shape=left, dims=()) if left else initial
    count = math.prod(shape[dim] for dim in dims)
    if not math.prod(shape):
        return begin
    if dims != tuple(range(len(dims))):
        arrays = _each(here, "transpose", arrays, permutation=(*dims, *kept))
    arrays = _each(here, "reshape", arrays, shape=(count, *left))
    while count > 1:
        even, odd = (_cut(here, arrays, 0, i, count - count % 2, 2) for i in (0, 1))
        found = join(even, odd)
        if count % 2:
            rest = _cut(here, arrays, 0, count - 1, count)
            found = tuple(here.emit("concatenate", *pair, dim=0)
                          for pair in zip(found, rest, strict=True))
        arrays, count = found, count // 2 + count % 2
    return join(begin, _each(here, "reshape", arrays, shape=left))


def fold_windows(here: Here, operands: Sequence[Value]) -> _Values:
    """Return the results of a reduction of windows; all else as `fold`."""
    arrays, initial = _halves(operands)
    join, rank = _join_of(here), arrays[0].type.rank
    ones = (1,) * rank
    padding = here.pairs("padding", rank)
    low, high = zip(*padding, strict=True) if padding else ((), ())
    interior = tuple(each - 1 for each in here.ints("base_dilations", ones))
    arrays = tuple(here.emit("pad", array, value, low=low, high=high, interior=interior)
                   for array, value in zip(arrays, initial, strict=True))
    shape = here.type.shape
    begin = _each(here, "broadcast", initial, shape=shape, dims=()) if shape else initial
    if not math.prod(shape):
        return begin
    there = np.ones(operands[0].shape, bool)
    for dim, (before, after, gaps) in enumerate(zip(low, high, interior, strict=True)):
        there = _padded(there, dim, before, after, gaps)
    sizes = (here.ints("window_dimensions"), here.ints("window_strides", ones),
             here.ints("window_dilations", ones))
    work, windows = _Windows(here, join), _Part(arrays, there)
    # The last dimension first: so all elements of a window are joined in their order.
    for dim, (window, stride, dilation) in reversed([*enumerate(zip(*sizes, strict=True))]):
        windows = work.windows(windows, dim, window, stride, dilation, shape[dim])
    return work.joined(_Part(begin, np.ones(shape, bool)), windows).arrays


def _padded(there: NDArray[np.bool_], dim: int, low: int, high: int, interior: int
            ) -> NDArray[np.bool_]:
    """Return which elements are there after a pad along a dimension; edges may be negative."""
    there = np.moveaxis(there, dim, 0)
    extent = len(there) + max(len(there) - 1, 0) * interior
    found = np.zeros((max(low, 0) + extent + max(high, 0), *there.shape[1:]), bool)
    found[max(low, 0):max(low, 0) + extent:interior + 1] = there
    return np.moveaxis(found[max(-low, 0):len(found) - max(-high, 0)], 0, dim)


class _Part(NamedTuple):
    """Arrays of one shape, and which of their elements are there: others are padding."""

    arrays: _Values
    there: NDArray[np.bool_]


class _Windows:
    """Joins elements of windows, but no padding: of a body it need not be without effect twice."""

    def __init__(self, here: Here, join: _Join):
        self.here, self.join = here, join

    def joined(self, a: _Part, b: _Part) -> _Part:
        found, both = self.join(a.arrays, b.arrays), a.there & b.there
        if not both.all():
            one = _chosen(self.here, a.there, a.arrays, b.arrays)
            found = _chosen(self.here, both, found, one)
        return _Part(found, a.there | b.there)

    def cut(self, part: _Part, dim: int, begin: int, end: int, stride: int = 1) -> _Part:
        places = (*(slice(None),) * dim, slice(begin, end, stride))
        return _Part(_cut(self.here, part.arrays, dim, begin, end, stride), part.there[places])

    def windows(self, part: _Part, dim: int, window: int, stride: int, dilation: int, count: int
                ) -> _Part:
        """Return ``count`` windows along a dimension: of runs of 1, 2, 4, ... that they are
        made of.
        """
        found: _Part | None = None
        done, run = 0, 1
        while True:
            if window & run:
                at = done * dilation
                piece = self.cut(part, dim, at, at + (count - 1) * stride + 1, stride)
                found = piece if found is None else self.joined(found, piece)
                done += run
            if done == window:
                assert found is not None
                return found
            extent, ahead = part.there.shape[dim], run * dilation
            part = self.joined(self.cut(part, dim, 0, extent - ahead),
                               self.cut(part, dim, ahead, extent))
            run *= 2


def _chosen(here: Here, condition: NDArray[np.bool_], then: _Values, otherwise: _Values
            ) -> _Values:
    if condition.all() or not condition.any():
        return then if condition.all() else otherwise
    known = here.constant(condition)
    return tuple(here.emit("select", known, *pair)
                 for pair in zip(then, otherwise, strict=True))


def _halves(operands: Sequence[Value]) -> tuple[_Values, _Values]:
    count = len(operands) // 2
    return tuple(operands[:count]), tuple(operands[count:])


def _each(here: Here, name: str, arrays: _Values, **attrs: Any) -> _Values:
    return tuple(here.emit(name, array, **attrs) for array in arrays)


def _cut(here: Here, arrays: _Values, dim: int, begin: int, end: int, stride: int = 1) -> _Values:
    """Return arrays without the others along a dimension."""
    shape = arrays[0].shape
    start, limit, steps = [0] * len(shape), list(shape), [1] * len(shape)
    start[dim], limit[dim], steps[dim] = begin, end, stride
    return _each(here, "slice", arrays, start=start, limit=limit, stride=steps)


def _join_of(here: Here) -> _Join:
    """Return the body, as what joins arrays."""
    region = here.op.regions[0]
    body = body_of(here, region)
    for of in _samples(body):
        left = interpret(body, [*interpret(body, [*of[0], *of[1]]), *of[2]])
        right = interpret(body, [*of[0], *interpret(body, [*of[1], *of[2]])])
        if not all(map(_alike, left, right)):
            raise Unsupported(f"body must be associative, not {text_of(region)}, which makes "
                              f"{_described(of, left, right)}")
    return lambda a, b: spread(here, body, (*a, *b))


def _samples(body: Graph) -> list[list[list[NDArray[Any]]]]:
    """Return three values for each array, some times."""
    random = np.random.default_rng(0)
    count = len(body.outputs)

    def value(dtype: DType) -> NDArray[Any]:
        numbers = [0, 1, 2, 3] if dtype is DType.BOOL or not (
            dtype.is_float or dtype.is_signed) else [-2, -1, 0, 1, 2]
        if dtype.is_float:
            numbers = [*numbers, -0.5, 0.5]
        return np.asarray(random.choice(numbers)).astype(dtype.numpy)

    return [[[value(each.dtype) for each in body.params[:count]] for _ in range(3)]
            for _ in range(24)]


def _alike(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if not DType.of(a.dtype).is_float:
        return bool(a == b)
    tolerance = 0.05 if a.dtype.itemsize == 2 else 1e-4
    return np.allclose(a.astype(np.float64), b.astype(np.float64), tolerance, tolerance,
                       equal_nan=True)


def _described(of: Any, left: Any, right: Any) -> str:
    def show(values: Sequence[NDArray[Any]]) -> str:
        numbers = ", ".join(str(each.astype(np.float64).item()) if DType.of(each.dtype).is_float
                            else str(each.item()) for each in values)
        return numbers if len(values) == 1 else f"({numbers})"

    numbers = ", ".join(map(show, of))
    return f"{show(left)} and {show(right)} of {numbers}"
