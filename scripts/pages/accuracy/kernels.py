"""Errors of the hardware's and the library's functions, against float64.

The error is in units in the last place (ULP) of the fp32 that is closest to the exact result.
Where the exact result is subnormal or overflows, the chip flushes or gives infinity, and there is
no error to speak of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.arch.vector import Post, VectorOp
from celosia.compiler.kernels import error_functions, functions, inverses
from celosia.compiler.kernels.terms import step
from pages.accuracy.trace import Kernel, kernel

__all__ = ["HARDWARE", "LIBRARY", "POINTS", "Case", "Worst", "errors", "measure"]

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
#: Makes the numbers of one argument, or those of all: from a generator, how many.
Sampler = Callable[[np.random.Generator, int], F32]
Sample = Callable[[np.random.Generator, int], tuple[F32, ...]]

#: Arguments of each sample where not all are taken.
POINTS = 1 << 20
_CHUNK = 1 << 16


def errors(bits: NDArray[np.uint32], exact: F64) -> F64:
    """Return the errors in ULP; 0 where the exact result is not normal in fp32 or no number."""
    magnitude = np.abs(exact)
    normal = (magnitude >= 2.0**-126) & (magnitude < 2.0**128 - 2.0**103)
    exponent = np.frexp(np.where(normal, magnitude, 1.0))[1] - 24
    with np.errstate(invalid="ignore"):
        error = np.abs(bits.view(np.float32).astype(np.float64) - exact) / np.ldexp(1.0, exponent)
    return np.where(normal, np.where(np.isnan(error), np.inf, error), 0.0)


def _order(value: float) -> int:
    bits = int(np.float32(value).view(np.int32))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFF)


def every(low: float, high: float) -> Sampler:
    """All numbers from low to below high; as many as are wanted, evenly, where that is fewer."""
    def sample(rng: np.random.Generator, points: int) -> F32:
        begin, end = _order(low), _order(high)
        order = (np.arange(begin, end) if points >= POINTS
                 else np.linspace(begin, end - 1, points).astype(np.int64))
        bits = np.where(order < 0, -order | 1 << 31, order)
        return bits.astype(np.uint32).view(np.float32)
    return sample


def even(low: float, high: float) -> Sampler:
    """Numbers from low to high, as likely everywhere."""
    return lambda rng, points: rng.uniform(low, high, points).astype(np.float32)


def spread(low: float, high: float, both: bool = True) -> Sampler:
    """Magnitudes from low to high, as likely in each binade; of both signs."""
    def sample(rng: np.random.Generator, points: int) -> F32:
        magnitude = np.exp2(rng.uniform(math.log2(low), math.log2(high), points))
        return np.asarray(magnitude * rng.choice((-1, 1), points) if both else magnitude,
                          np.float32)
    return sample


def near_one(distance: float) -> Sampler:
    """Numbers up to a distance from 1, as likely in each binade of the distance."""
    def sample(rng: np.random.Generator, points: int) -> F32:
        off = spread(2.0**-23, distance)(rng, points)
        return (1 + off.astype(np.float64)).astype(np.float32)
    return sample


def each(*samplers: Sampler) -> Sample:
    """Sample each argument on its own."""
    return lambda rng, points: tuple(sampler(rng, points) for sampler in samplers)


def powers(base: Sampler) -> Sample:
    """Bases, and exponents with results from 2**-126 to 2**128."""
    def sample(rng: np.random.Generator, points: int) -> tuple[F32, ...]:
        x = base(rng, points)
        x = np.where(x == 1, np.float32(2), x)
        y = rng.uniform(-125.999, 127.999, points) / np.log2(x.astype(np.float64))
        return x, y.astype(np.float32)
    return sample


@dataclass(frozen=True)
class Case:
    """A function: how it is computed, what is exact, and where it is measured.

    Attributes
    ----------
    bound
        ULP that the error is stated to stay below.
    domain, how
        Texts for docs/numerics.md.
    samples
        Where it is measured.
    """

    name: str
    kernel: Kernel
    exact: Callable[..., NDArray]
    bound: float
    domain: str
    how: str
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Worst:
    """The largest error, and the arguments that have it."""

    error: float
    arguments: tuple[float, ...]


def measure(case: Case, points: int = POINTS, seed: int = 0) -> Worst:
    """Return the largest error over the samples of a case.

    With fewer than `POINTS` points that many are taken of samples of all numbers too.
    """
    rng = np.random.default_rng(seed)
    worst = Worst(0.0, ())
    for sample in case.samples:
        arrays = sample(rng, points)
        for at in range(0, len(arrays[0]), _CHUNK):
            parts = [array[at:at + _CHUNK] for array in arrays]
            bits = case.kernel.evaluate(*parts)
            with np.errstate(all="ignore"):
                exact = case.exact(*(part.astype(np.float64) for part in parts))
            found = errors(bits, np.asarray(exact, np.float64))
            index = int(np.argmax(found))
            if found[index] > worst.error:
                worst = Worst(float(found[index]), tuple(float(part[index]) for part in parts))
    return worst


def _wide(function: Callable[..., NDArray]) -> Callable[..., NDArray]:
    """Compute with more than float64 where the machine can."""
    return lambda *arrays: function(*(array.astype(np.longdouble) for array in arrays))


def _erf(x: F64) -> F64:
    return np.array([math.erf(value) for value in x.tolist()])


def _erfc(x: F64) -> F64:
    return np.array([math.erfc(value) for value in x.tolist()])


def _post(post: Post) -> Kernel:
    return kernel(post.name.lower(), lambda x: step(VectorOp.MOV, x, post=post))


_TINY, _MAX = 2.0**-126, 2.0**127
_ALL = "all"

HARDWARE = (
    Case("exp2", _post(Post.EXP2), np.exp2, 2, _ALL,
         "all of 1..2 and of -2..-1; samples of -126..128 and about 0",
         (each(every(1, 2)), each(every(-2, -1)), each(even(-126, 128)),
          each(spread(2.0**-30, 1)))),
    Case("log2", _post(Post.LOG2), np.log2, 2, "x >= 0", "all of 0.5..2; a sample of all",
         (each(every(0.5, 2)), each(spread(_TINY, _MAX, False)))),
    Case("recip", _post(Post.RECIP), lambda x: 1 / x, 2, _ALL,
         "all of 1..2 (binades are alike); a sample of all",
         (each(every(1, 2)), each(spread(_TINY, _MAX)))),
    Case("div", kernel("div", functions.div, ("n", "d")), np.divide, 1, _ALL,
         "all of 1..2 by a sample of 1..2 (binades are alike), a sample of all",
         (each(even(1, 2), every(1, 2)), each(spread(_TINY, _MAX), spread(_TINY, _MAX)))),
    Case("rsqrt", _post(Post.RSQRT), lambda x: 1 / np.sqrt(x), 2, "x >= 0",
         "all of 1..4 (pairs of binades are alike); a sample of all",
         (each(every(1, 4)), each(spread(_TINY, _MAX, False)))),
    Case("sqrt", _post(Post.SQRT), np.sqrt, 1, "x >= 0",
         "all of 1..4 (pairs of binades are alike); a sample of all",
         (each(every(1, 4)), each(spread(_TINY, _MAX, False)))),
)

LIBRARY = (
    Case("div", kernel("div", functions.div, ("n", "d")), np.divide, 1, _ALL,
         "samples of 1..2 by 1..2, of quotients near 1, of all",
         (each(even(1, 2), even(1, 2)), each(near_one(0.01), near_one(0.01)),
          each(spread(_TINY, _MAX), spread(_TINY, _MAX)))),
    Case("sqrt", kernel("sqrt", functions.sqrt), np.sqrt, 1, "x >= 0",
         "all of 1..4 (pairs of binades are alike); a sample of all",
         (each(every(1, 4)), each(spread(_TINY, _MAX, False)))),
    Case("cbrt", kernel("cbrt", inverses.cbrt), np.cbrt, 1, _ALL,
         "all of 1..8 (triples of binades are alike); a sample of all",
         (each(every(1, 8)), each(spread(_TINY, _MAX)))),
    Case("atan2", kernel("atan2", inverses.atan2, ("y", "x")), np.arctan2, 4, _ALL,
         "samples of -1..1 by -1..1, of angles near a half, of all",
         (each(even(-1, 1), even(-1, 1)), each(near_one(0.5), near_one(0.5)),
          each(spread(_TINY, _MAX), spread(_TINY, _MAX)))),
    Case("exp", kernel("exp", functions.exp), np.exp, 4, _ALL,
         "all of 1..2; samples of -87.3..88.7, of -1..1 and about 0",
         (each(every(1, 2)), each(even(-87.3, 88.7)), each(even(-1, 1)),
          each(spread(2.0**-30, 1)))),
    Case("expm1", kernel("expm1", functions.expm1), np.expm1, 4, _ALL,
         "all of 0.25..0.5; samples of -20..88.7, of -1..1 and about 0",
         (each(every(0.25, 0.5)), each(even(-20, 88.7)), each(even(-1, 1)),
          each(spread(_TINY, 1)))),
    Case("log", kernel("log", functions.log), np.log, 4, "x >= 0",
         "all of 0.5..2; a sample of all",
         (each(every(0.5, 2)), each(spread(_TINY, _MAX, False)))),
    Case("log1p", kernel("log1p", functions.log1p), np.log1p, 4, "x >= -1",
         "samples of -1..3, about 0, and of all",
         (each(even(-1, 3)), each(spread(_TINY, 0.9)), each(spread(_TINY, _MAX, False)))),
    Case("tanh", kernel("tanh", functions.tanh), np.tanh, 4, _ALL,
         "all of -4..-2 and of 0.5..1; samples of -10..10 and about 0",
         (each(every(-4, -2)), each(every(0.5, 1)), each(even(-10, 10)),
          each(spread(_TINY, 1)))),
    Case("logistic", kernel("logistic", functions.logistic), lambda x: 1 / (1 + np.exp(-x)), 4,
         _ALL, "all of -2..-1; samples of -87.3..20, of -2..2 and about 0",
         (each(every(-2, -1)), each(even(-87.3, 20)), each(even(-2, 2)),
          each(spread(2.0**-30, 1)))),
    Case("erf", kernel("erf", functions.erf), _erf, 4, _ALL,
         "samples of -4..4, of -1..1 and about 0",
         (each(even(-4, 4)), each(even(-1, 1)), each(spread(_TINY, 1)))),
    Case("erfc", kernel("erfc", error_functions.erfc), _erfc, 4, _ALL,
         "samples of -4..0.5, of 0.5..2, of 2..9.2 and about 0",
         (each(even(-4, 0.5)), each(even(0.5, 2)), each(even(2, 9.2)), each(spread(_TINY, 1)))),
    Case("sin", kernel("sin", functions.sin), _wide(np.sin), 4, "abs(x) <= 1e4",
         "all of 1..2; samples of -1e4..1e4, of -4..4 and about 0",
         (each(every(1, 2)), each(even(-1e4, 1e4)), each(even(-4, 4)), each(spread(_TINY, 1)))),
    Case("cos", kernel("cos", functions.cos), _wide(np.cos), 4, "abs(x) <= 1e4",
         "all of 1..2; samples of -1e4..1e4, of -4..4 and about 0",
         (each(every(1, 2)), each(even(-1e4, 1e4)), each(even(-4, 4)),
          each(spread(2.0**-30, 1)))),
    Case("power", kernel("power", functions.power, ("x", "y")), _wide(np.power), 8, _ALL,
         "samples of x of all, of 0.5..2 and near 1, each with y for results of 2**-126..2**128",
         (powers(spread(_TINY, _MAX, False)), powers(even(0.5, 2)), powers(near_one(0.5)))),
)
