"""exp2, log2, reciprocal, quotient and square roots: tables, and the arithmetic around them.

Each function is a quadratic in each of 128 segments of a significand, evaluated in fixed point:
``y = c0 + ((c1 + (c2 * d >> 18)) * d >> 18)`` with ``FRACTION`` bits behind the point, where the
segment is given by the 7 upper bits of the argument and ``d`` by the 18 below them. Shifts round
down. ``y`` is then scaled by a power of two and rounded once, to nearest even, as every fp32
result. Before that it is multiplied for log2 by the argument's distance from 1, and added to the
exponent; for the square root, whose ``y`` is the reciprocal one's, by the argument's significand;
for a quotient, whose ``y`` is the divisor's reciprocal, by the numerator's.

All functions take and return arrays of fp32 bit patterns (``uint32``). Errors are measured against
float64 in docs/numerics.md.
"""

from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import lru_cache, wraps
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.arch.numerics import INF, NAN, U32Like, flush, round_f64

__all__ = ["C0_BITS", "C1_BITS", "C2_BITS", "FRACTION", "OFFSET_BITS", "SEGMENTS", "Coefficients",
           "Table", "evaluate", "f32_div", "f32_exp2", "f32_log2", "f32_recip", "f32_rsqrt",
           "f32_sqrt", "tables"]

#: Bits behind the point of a quadratic's value, and of its argument within a segment.
FRACTION, OFFSET_BITS = 28, 18
#: Segments of each table.
SEGMENTS = 128
#: Bits of the coefficients: c0 unsigned, c1 and c2 signed.
C0_BITS, C1_BITS, C2_BITS = 29, 23, 16

#: Elements that are computed at once.
_PIECE = 1 << 15
_SIGN, _ONE = np.uint32(0x80000000), np.uint32(0x3F800000)


class Coefficients(NamedTuple):
    """Of one segment, as integers."""

    c0: int
    c1: int
    c2: int


class Table(NamedTuple):
    """The tables, each of ``SEGMENTS`` segments."""

    exp2: tuple[Coefficients, ...]
    recip: tuple[Coefficients, ...]
    rsqrt: tuple[Coefficients, ...]
    log2: tuple[Coefficients, ...]


def _exp2_segment(i: int) -> tuple[Callable[[Decimal], Decimal], Decimal, Decimal]:
    return (lambda x: Decimal(2) ** x), Decimal(i) / 128, Decimal(1) / 128


def _recip_segment(i: int) -> tuple[Callable[[Decimal], Decimal], Decimal, Decimal]:
    return (lambda x: 1 / x), 1 + Decimal(i) / 128, Decimal(1) / 128


def _rsqrt_segment(i: int) -> tuple[Callable[[Decimal], Decimal], Decimal, Decimal]:
    scale = 1 + i // 64  # the second half of the table is for odd exponents
    return (lambda x: 1 / (scale * x).sqrt()), 1 + Decimal(i % 64) / 64, Decimal(1) / 64


def _log2_segment(i: int) -> tuple[Callable[[Decimal], Decimal], Decimal, Decimal]:
    scale = 1 + i // 64  # significands from 1.5 on are halved

    def slope(x: Decimal) -> Decimal:
        """log2(x) / (x - 1), which has no step at 1."""
        x /= scale
        return (1 if x == 1 else x.ln() / (x - 1)) / Decimal(2).ln()

    return slope, 1 + Decimal(i) / 128, Decimal(1) / 128


def _fit(function: Callable[[Decimal], Decimal], start: Decimal, width: Decimal) -> Coefficients:
    """Quadratic through three Chebyshev nodes of a segment: close to the best one.

    Where the value at the begin is a power of two (of 1; of exp2, of 0), that must be exact: there
    the nodes are spread so that the first of them is the begin.
    """
    root, begin = Decimal(3).sqrt() / 2, function(start) * (1 << FRACTION)
    if begin == int(begin):
        nodes = Decimal(0), root / (1 + root), 2 * root / (1 + root)
    else:
        nodes = (1 - root) / 2, Decimal(1) / 2, (1 + root) / 2
    values = [function(start + width * node) * (1 << FRACTION) for node in nodes]
    first = [(values[k + 1] - values[k]) / (nodes[k + 1] - nodes[k]) for k in range(2)]
    c2 = (first[1] - first[0]) / (nodes[2] - nodes[0])
    c1 = first[0] - c2 * (nodes[0] + nodes[1])
    c0 = values[0] - nodes[0] * (c1 + c2 * nodes[0])
    # Both shifts round down: by a half on average, the inner one's counts by half as much.
    return Coefficients(*(int(c.to_integral_value()) for c in (c0 + Decimal("0.75"), c1, c2)))


@lru_cache(maxsize=1)
def tables() -> Table:
    """Return the coefficients; computed in decimal arithmetic, the same on every machine."""
    with localcontext() as context:
        context.prec = 40
        return Table(*(tuple(_fit(*segment(i)) for i in range(SEGMENTS)) for segment in (
            _exp2_segment, _recip_segment, _rsqrt_segment, _log2_segment)))


@lru_cache(maxsize=4)
def _columns(name: str) -> tuple[NDArray[np.int64], ...]:
    return tuple(np.array(column, np.int64)
                 for column in zip(*getattr(tables(), name), strict=True))


def evaluate(name: str, segment: NDArray, offset: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the value of a quadratic, FRACTION bits behind the point.

    Parameters
    ----------
    name
        Field of :class:`Table`.
    segment
        Segments, integers from 0 to ``SEGMENTS - 1``.
    offset
        Where in the segment, ``OFFSET_BITS`` bits; of the same shape.
    """
    c0, c1, c2 = (column.take(segment, mode="clip") for column in _columns(name))
    return c0 + ((c1 + (c2 * offset >> OFFSET_BITS)) * offset >> OFFSET_BITS)


def _parts(x: U32Like) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Exponent without its bias, and the 23 bits of the fraction."""
    bits = np.asarray(x, np.int64)
    return (bits >> 23 & 0xFF) - 127, bits & 0x7FFFFF


def _in_pieces(function: Callable[..., U32Like]) -> Callable[..., U32Like]:
    """Have a function of large arrays work on pieces of them: what it makes between stays in the
    cache of a processor, which is five times as fast.
    """
    @wraps(function)
    def pieces(*arrays: U32Like) -> U32Like:
        if max(map(np.size, arrays)) <= _PIECE:
            return function(*arrays)
        whole = np.broadcast_arrays(*arrays)
        flat = [np.ravel(each) for each in whole]
        result = np.empty(flat[0].size, np.uint32)
        for start in range(0, result.size, _PIECE):
            end = start + _PIECE
            result[start:end] = function(*(each[start:end] for each in flat))
        return result.reshape(whole[0].shape)

    return pieces


@_in_pieces
def f32_exp2(x: U32Like) -> U32Like:
    """2**x. -inf gives +0; below -126 the result is flushed to +0, from 128 on it is +inf."""
    x = flush(x)
    exponent, fraction = _parts(x)
    # Fixed point with 25 bits behind the point, towards zero; |x| >= 2**8 is out of range anyway.
    distance = np.clip(7 - exponent, 0, 63)
    magnitude = ((fraction | 0x800000) << 9) >> distance
    fixed = np.where(x & _SIGN, -magnitude, magnitude)
    y = evaluate("exp2", fixed >> OFFSET_BITS & (SEGMENTS - 1), fixed & (1 << OFFSET_BITS) - 1)
    power = (fixed >> 25) - FRACTION
    with np.errstate(under="ignore"):
        result = round_f64(np.ldexp(y.astype(np.float64), power.astype(np.int64)))
    huge = exponent >= 7
    result = np.where(huge, np.where(x & _SIGN, np.uint32(0), np.uint32(INF)), result)
    return np.where(x == NAN, np.uint32(NAN), result).astype(np.uint32)


def f32_recip(x: U32Like) -> U32Like:
    """1 / x. A zero gives infinity, an infinity zero, of the same sign."""
    return f32_div(x, _ONE)


@_in_pieces
def f32_div(x: U32Like, numerator: U32Like) -> U32Like:
    """``numerator`` / x, exact where that is an fp32. 0 / 0 and inf / inf are NaN."""
    x, numerator = np.broadcast_arrays(flush(x), flush(numerator))
    (below, fraction), (above, digits) = _parts(x), _parts(numerator)
    inverse = evaluate("recip", fraction >> 16, (fraction & 0xFFFF) << 2)
    product = (digits | 0x800000) * inverse  # below 2**52
    result = round_f64(np.ldexp(product.astype(np.float64), above - below - 23 - FRACTION))
    sign, zero, inf = (x ^ numerator) & _SIGN, np.uint32(0), np.uint32(INF)
    size, divisor = numerator & ~_SIGN, x & ~_SIGN
    result = np.where((size == zero) | (divisor == inf), zero, result)
    result = np.where((size == inf) | (divisor == zero), inf, result) | sign
    nan = (x == NAN) | (numerator == NAN) | ((size == divisor) & ((size == zero) | (size == inf)))
    return np.where(nan, np.uint32(NAN), result).astype(np.uint32)


def _rsqrt_value(exponent: NDArray[np.int64], fraction: NDArray[np.int64]) -> NDArray[np.int64]:
    """1 / sqrt(m) for an even exponent, 1 / sqrt(2 * m) for an odd one, m the significand."""
    return evaluate("rsqrt", (exponent & 1) << 6 | fraction >> 17, (fraction & 0x1FFFF) << 1)


def _has_no_root(x: U32Like) -> NDArray[np.bool_]:
    return (x == NAN) | ((x & _SIGN != 0) & (x & ~_SIGN != 0))


@_in_pieces
def f32_rsqrt(x: U32Like) -> U32Like:
    """1 / sqrt(x). A zero gives infinity of the same sign, +inf +0, a negative number NaN."""
    x = flush(x)
    exponent, fraction = _parts(x)
    y = _rsqrt_value(exponent, fraction)
    result = round_f64(np.ldexp(y.astype(np.float64), -(exponent >> 1) - FRACTION))
    result = np.where(x & ~_SIGN == 0, INF | (x & _SIGN), result)
    result = np.where(x == INF, np.uint32(0), result)
    return np.where(_has_no_root(x), np.uint32(NAN), result).astype(np.uint32)


@_in_pieces
def f32_sqrt(x: U32Like) -> U32Like:
    """Square root of x. A zero gives itself, +inf +inf, a negative number NaN."""
    x = flush(x)
    exponent, fraction = _parts(x)
    product = (fraction | 0x800000) * _rsqrt_value(exponent, fraction)  # below 2**52
    result = round_f64(np.ldexp(product.astype(np.float64), (exponent + 1 >> 1) - 23 - FRACTION))
    result = np.where((x & ~_SIGN == 0) | (x == INF), x, result)
    return np.where(_has_no_root(x), np.uint32(NAN), result).astype(np.uint32)


@_in_pieces
def f32_log2(x: U32Like) -> U32Like:
    """Logarithm of x to base 2. A zero gives -inf, +inf +inf, a negative number NaN; 1 gives +0."""
    x = flush(x)
    exponent, fraction = _parts(x)
    halved = fraction >> 22  # significands from 1.5 on
    slope = evaluate("log2", fraction >> 16, (fraction & 0xFFFF) << 2)
    # Distance from 1, 24 bits behind the point.
    distance = np.where(halved, (1 << 23) - fraction, fraction << 1)
    whole = exponent + halved
    product = distance * slope  # 52 bits behind the point
    # The sum has 43 bits behind the point; without a whole part the product keeps its 52.
    total = np.abs((whole << 43) + np.where(halved, -(product >> 9), product >> 9))
    scaled = np.where(whole == 0, np.ldexp(product.astype(np.float64), -52),
                      np.ldexp(total.astype(np.float64), -43))
    negative = (whole < 0) | ((whole == 0) & (halved != 0))
    result = round_f64(scaled) | np.where(negative, _SIGN, np.uint32(0))
    result = np.where(x & ~_SIGN == 0, INF | _SIGN, result)
    result = np.where(x == INF, np.uint32(INF), result)
    return np.where(_has_no_root(x), np.uint32(NAN), result).astype(np.uint32)
