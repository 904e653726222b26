"""fp32 on bit patterns in exact rational arithmetic, one number at a time: slow and plain.

Rules as in celosia.arch.numerics: nearest even, subnormals flushed in and out, one NaN.
"""

from collections.abc import Callable
from fractions import Fraction

NAN = 0x7FC00000
INF = 0x7F800000
SIGN = 0x80000000


def is_nan(x: int) -> bool:
    return x & INF == INF and x & 0x7FFFFF != 0


def is_inf(x: int) -> bool:
    return x & 0x7FFFFFFF == INF


def flush(x: int) -> int:
    if is_nan(x):
        return NAN
    return x & SIGN if x & INF == 0 else x


def value(x: int) -> Fraction:
    """Value of a finite number; subnormals are 0."""
    exponent = x >> 23 & 255
    if exponent == 0:
        return Fraction(0)
    magnitude = Fraction(x & 0x7FFFFF | 0x800000) * Fraction(2) ** (exponent - 150)
    return -magnitude if x & SIGN else magnitude


def nearest(q: Fraction) -> int:
    """Nearest integer, ties to even."""
    return round(q)  # Python rounds a Fraction so


def rounded(q: Fraction, zero_sign: int = 0) -> int:
    """Bits of the fp32 next to q; zero_sign is the sign bit of an exact zero."""
    if q == 0:
        return zero_sign
    sign, q = (SIGN, -q) if q < 0 else (0, q)
    exponent = q.numerator.bit_length() - q.denominator.bit_length()
    if Fraction(2) ** exponent > q:
        exponent -= 1
    significand = nearest(q / Fraction(2) ** (exponent - 23))
    if significand == 1 << 24:
        significand, exponent = 1 << 23, exponent + 1
    if exponent < -126:
        return sign
    if exponent > 127:
        return sign | INF
    return sign | exponent + 127 << 23 | significand & 0x7FFFFF


def fma(a: int, b: int, c: int) -> int:
    a, b, c = flush(a), flush(b), flush(c)
    sign = (a ^ b) & SIGN
    if NAN in (a, b, c):
        return NAN
    if is_inf(a) or is_inf(b):
        if value_or_inf_is_zero(a) or value_or_inf_is_zero(b):
            return NAN
        return NAN if is_inf(c) and c & SIGN != sign else sign | INF
    if is_inf(c):
        return c
    product, addend = value(a) * value(b), value(c)
    if product == 0 and addend == 0:
        return sign if sign == c & SIGN else 0
    return rounded(product + addend)  # an exact cancellation gives +0


def value_or_inf_is_zero(x: int) -> bool:
    return x & 0x7FFFFFFF == 0


def add(a: int, b: int) -> int:
    return fma(0x3F800000, a, b)


def mul(a: int, b: int) -> int:
    a, b = flush(a), flush(b)
    # An addend of -0 or +0 with the sign of the product does not change it.
    return fma(a, b, (a ^ b) & SIGN)


def order(x: int) -> int:
    """Integers in the order of the numbers, -0 below +0."""
    return -(x & 0x7FFFFFFF) - 1 if x & SIGN else x


def maximum(a: int, b: int) -> int:
    a, b = flush(a), flush(b)
    return NAN if NAN in (a, b) else max(a, b, key=order)


def minimum(a: int, b: int) -> int:
    a, b = flush(a), flush(b)
    return NAN if NAN in (a, b) else min(a, b, key=order)


def to_bf16(x: int) -> int:
    """Round to bf16 by looking for the nearest neighbour."""
    x = flush(x)
    if x == NAN:
        return 0x7FC0
    if is_inf(x) or value(x) == 0:
        return x >> 16
    low = x >> 16  # the neighbours in magnitude are low and low + 1
    q = abs(value(x))
    below = abs(value(low << 16))
    step = Fraction(2) ** ((x >> 23 & 255) - 127 - 7)
    up = q - below > step / 2 or (q - below == step / 2 and low & 1)
    return low + 1 if up else low


def from_int(x: int) -> int:
    """Convert a signed integer."""
    return rounded(Fraction(x))


def to_int(x: int, rounding: Callable[[Fraction], int] = nearest) -> int:
    """Convert to a signed 32-bit integer, saturating; ``rounding``: nearest, floor or trunc."""
    x = flush(x)
    if x == NAN:
        return 0
    if is_inf(x):
        return -(1 << 31) if x & SIGN else (1 << 31) - 1
    return min(max(rounding(value(x)), -(1 << 31)), (1 << 31) - 1)


def compare(a: int, b: int) -> int | None:
    """-1, 0 or 1 as a is below, equal to or above b; None where either is NaN."""
    a, b = flush(a), flush(b)
    if NAN in (a, b):
        return None
    x, y = (order(v) if v & 0x7FFFFFFF else 0 for v in (a, b))
    return (x > y) - (x < y)
