"""Runs functions through the compiler and compares them with what is exact."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.compiled import Compiled
from celosia.compiler.api import compile
from celosia.compiler.jit import jit
from celosia.graph import DType, Graph, TensorType, Value, parameter
from pages.accuracy.cases import Case

__all__ = ["Found", "Point", "compiled", "errors", "jax_errors", "measure"]

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
_LEAST, _BEYOND = 2.0**-126, 2.0**128
_EMAX = 128


def errors(found: F32, exact: NDArray[Any], size: NDArray[Any] | None = None,
           bits: int = 24) -> F64:
    """Return the errors in ULP of numbers of float32's range.

    Infinite where the one is NaN or infinite and the other is not so, and where a zero has the
    wrong sign. A finite number that is too large for float32 is infinite there, and one below
    2**-126 is a zero: what is as far from these limits as it is wrong otherwise is wrong by that.

    Parameters
    ----------
    size
        Numbers whose last place is meant, where that is more than the result's.
    bits
        Of the significand.
    """
    value = found.astype(np.longdouble)
    exact = np.asarray(exact, np.longdouble)
    finite = np.isfinite(exact)
    limit = np.longdouble(2.0)**128
    wanted = np.clip(np.where(finite, exact, 0), -limit, limit)
    wanted = np.where(abs(wanted) >= limit - np.ldexp(np.longdouble(1), _EMAX - bits - 1),
                      np.copysign(limit, wanted), wanted)
    about = np.abs(wanted) if size is None else np.maximum(np.abs(wanted), size)
    exponent = np.clip(np.frexp(np.minimum(about, limit / 2))[1], -125, _EMAX) - bits
    exponent = np.where(about == 0, -125 - bits, exponent)
    bounded = np.where(np.isinf(value), np.copysign(limit, value), value)
    # From the nearest number that is flushed to this zero, or that this zero is for.
    tiny = np.abs(wanted) < _LEAST
    off = np.where((value == 0) & ~tiny, np.abs(wanted) - _LEAST, np.abs(bounded - wanted))
    off = np.where(tiny, np.maximum(np.abs(value) - _LEAST, 0), off)
    error = np.ldexp(off, -exponent)
    opposite = (np.signbit(value) != np.signbit(exact)) & (
        (value == 0) | np.isinf(value) | tiny)
    if size is not None:
        opposite &= (wanted == 0) & (value == 0)
    wrong = np.isnan(value) | opposite
    error = np.where(finite, np.where(wrong, np.inf, error), np.where(
        (value == exact) | (np.isnan(value) & np.isnan(exact)), 0, np.inf))
    return error.astype(np.float64)


@dataclass(frozen=True)
class Point:
    """An error, in ULP, and where it is."""

    error: float
    arguments: tuple[float, ...]
    result: float
    exact: float


@dataclass(frozen=True)
class Found:
    """What was found of a function.

    Attributes
    ----------
    worst
        Where the error is largest, but for those that are infinite.
    wrong
        A zero, an infinity or a NaN that is not what it must be; None: there is none.
    beyond
        Share of the arguments whose error is beyond the case's bound.
    """

    worst: Point
    wrong: Point | None
    beyond: float

    @property
    def error(self) -> float:
        """The largest error."""
        return (self.wrong or self.worst).error


def compiled(case: Case, shapes: Sequence[tuple[int, ...]],
             options: Mapping[str, object] | None = None) -> Compiled:
    """Return the program of a function on arguments of some shapes."""
    if case.jax:
        import jax
        types = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
        return jit(functools.partial(case.make, jax), cache=False, options=options).lower(*types)
    params: list[Value] = [parameter(TensorType(DType.F32, shape)) for shape in shapes]
    return compile(Graph(case.name, params, [case.make(*params)]), cache=False, options=options)


def _sample(case: Case, points: int, seed: int) -> tuple[list[F32], list[F32], F64 | NDArray[Any]]:
    """Return arguments, the same for each element as the chip sees them, and exact results."""
    arrays = case.arguments(np.random.default_rng(seed), points)
    whole = np.broadcast_shapes(*(array.shape for array in arrays))
    flat = [np.broadcast_to(array, whole).reshape(-1) for array in arrays]
    seen = [np.where(np.abs(x) < _LEAST, np.copysign(np.float32(0), x), x).astype(np.float64)
            for x in flat]
    with np.errstate(all="ignore"):
        exact = np.asarray(case.exact(*seen)).reshape(-1)
    return arrays, flat, exact


def _worst(case: Case, flat: Sequence[F32], found: F32, exact: NDArray[Any]) -> Found:
    wide = [x.astype(np.float64) for x in flat]
    with np.errstate(all="ignore"):
        size = None if case.size is None else np.asarray(case.size(*wide))
        error = errors(found, exact, size, case.bits)
        if case.within is not None:
            error = np.where(case.within(*wide), error, 0.0)

    def point(at: int) -> Point:
        return Point(float(error[at]), tuple(float(x[at]) for x in flat), float(found[at]),
                     float(exact[at]))

    wrong = np.isinf(error)
    return Found(point(int(np.argmax(np.where(wrong, -1, error)))),
                 point(int(np.argmax(wrong))) if wrong.any() else None,
                 float(np.mean(error > case.bound)))


def measure(case: Case, points: int, seed: int = 0,
            options: Mapping[str, object] | None = None) -> Found:
    """Compile a function for so many elements, run it on the model, and return what is found."""
    arrays, flat, exact = _sample(case, points, seed)
    (found,) = compiled(case, [array.shape for array in arrays], options)(*arrays)
    return _worst(case, flat, np.asarray(found, np.float32).reshape(-1), exact)


def jax_errors(case: Case, points: int, seed: int = 0) -> Found:
    """Return what is found for the same arguments on JAX's default device, such as a CPU."""
    import jax
    arrays, flat, exact = _sample(case, points, seed)
    found = jax.jit(functools.partial(case.make, jax))(*arrays)
    return _worst(case, flat, np.asarray(found, np.float32).reshape(-1), exact)
