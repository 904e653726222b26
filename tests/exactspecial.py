"""exp2, log2, reciprocal, quotient and roots as celosia.arch.special says, in integers and
fractions, one number at a time.
"""

from fractions import Fraction

import exactfloat as xf
from celosia.arch.special import FRACTION, Coefficients, tables


def quadratic(segment: Coefficients, d: int) -> Fraction:
    inner = segment.c2 * d // 2**18
    return Fraction(segment.c0 + (segment.c1 + inner) * d // 2**18, 2**FRACTION)


def parts(x: int) -> tuple[int, int]:
    return (x >> 23 & 255) - 127, x & 0x7FFFFF


def exp2(x: int) -> int:
    x = xf.flush(x)
    if x == xf.NAN:
        return xf.NAN
    if xf.is_inf(x) or abs(xf.value(x)) >= 128:
        return 0 if x & xf.SIGN else xf.INF
    fixed = int(xf.value(x) * 2**25)  # towards zero
    whole, rest = divmod(fixed, 2**25)
    segment, d = divmod(rest, 2**18)
    return xf.rounded(quadratic(tables().exp2[segment], d) * Fraction(2) ** whole)


def recip(x: int) -> int:
    x = xf.flush(x)
    sign = x & xf.SIGN
    if x == xf.NAN:
        return xf.NAN
    if xf.is_inf(x):
        return sign
    if xf.value(x) == 0:
        return sign | xf.INF
    exponent, fraction = parts(x)
    segment, d = divmod(fraction, 2**16)
    return sign | xf.rounded(quadratic(tables().recip[segment], 4 * d) * Fraction(2) ** -exponent)


def div(x: int, numerator: int) -> int:
    x, numerator = xf.flush(x), xf.flush(numerator)
    sign = (x ^ numerator) & xf.SIGN
    if xf.NAN in (x, numerator) or (xf.is_inf(x) and xf.is_inf(numerator)):
        return xf.NAN
    if xf.is_inf(x) or xf.is_inf(numerator):
        return sign if xf.is_inf(x) else sign | xf.INF
    if xf.value(x) == 0:
        return xf.NAN if xf.value(numerator) == 0 else sign | xf.INF
    exponent, fraction = parts(x)
    segment, d = divmod(fraction, 2**16)
    inverse = quadratic(tables().recip[segment], 4 * d) * Fraction(2) ** -exponent
    return sign | xf.rounded(abs(xf.value(numerator)) * inverse)


def rsqrt_parts(x: int) -> tuple[int, int, Fraction]:
    """x is 4**half * (2 if odd else 1) * m: half, odd, and the quadratic's 1 / sqrt of the rest."""
    exponent, fraction = parts(x)
    segment, d = divmod(fraction, 2**17)
    half, odd = divmod(exponent, 2)
    return half, odd, quadratic(tables().rsqrt[64 * odd + segment], 2 * d)


def rsqrt(x: int) -> int:
    x = xf.flush(x)
    if x & 0x7FFFFFFF == 0:
        return x | xf.INF
    if x == xf.NAN or x & xf.SIGN:
        return xf.NAN
    if xf.is_inf(x):
        return 0
    half, _, y = rsqrt_parts(x)
    return xf.rounded(y * Fraction(2) ** -half)


def sqrt(x: int) -> int:
    x = xf.flush(x)
    if x & 0x7FFFFFFF == 0:
        return x
    if x == xf.NAN or x & xf.SIGN:
        return xf.NAN
    if xf.is_inf(x):
        return xf.INF
    half, odd, y = rsqrt_parts(x)
    return xf.rounded((1 + Fraction(parts(x)[1], 2**23)) * y * Fraction(2) ** (half + odd))


def log2(x: int) -> int:
    x = xf.flush(x)
    if x & 0x7FFFFFFF == 0:
        return xf.SIGN | xf.INF
    if x == xf.NAN or x & xf.SIGN:
        return xf.NAN
    if xf.is_inf(x):
        return xf.INF
    exponent, fraction = parts(x)
    segment, d = divmod(fraction, 2**16)
    distance = Fraction(fraction, 2**23)
    if segment >= 64:  # from 1.5 on: half of it, which is below 1
        exponent, distance = exponent + 1, Fraction(fraction - 2**23, 2**24)
    product = abs(distance) * quadratic(tables().log2[segment], 4 * d)
    kept = 52 if exponent == 0 else 43
    product = Fraction(product * 2**kept // 1, 2**kept)
    return xf.rounded(exponent + (product if distance >= 0 else -product),
                      0 if exponent or distance >= 0 else xf.SIGN)
