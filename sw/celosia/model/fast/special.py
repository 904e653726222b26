"""Reciprocals, quotients and roots, as :mod:`celosia.arch.special` has them, of plain numbers.

Each returns exactly what its namesake returns. What is to be rounded, an integer, is so by its
conversion to float32; where operand and result are normal, the power of two is then a sum of
exponents. Where one is not, the namesake does the work.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.arch import special
from celosia.arch.numerics import SIGN, U32

__all__ = ["f32_div", "f32_recip", "f32_rsqrt", "f32_sqrt"]


_FRACTION = np.uint32(23)
#: Biased exponents of numbers whose reciprocals and roots are normal too, and of normal ones.
_LEAST, _MOST, _LARGEST = 1, 252, 254


def f32_recip(x: U32) -> U32:
    """1 / x."""
    exponent = (x >> _FRACTION) & np.uint32(0xFF)
    if not _within(exponent):
        return np.asarray(special.f32_recip(x))
    y = _rounded(_recip_value(x))
    exponent -= np.uint32(127 - special.FRACTION)
    return (y - (exponent << _FRACTION)) | (x & SIGN)


def f32_div(x: U32, numerator: U32) -> U32:
    """``numerator`` / x."""
    below, above = ((word >> _FRACTION) & np.uint32(0xFF) for word in (x, numerator))
    power = above.view(np.int32) - below.view(np.int32)
    if not (_within(below, _LARGEST) and _within(above, _LARGEST)
            and power.min() > -_MOST // 2 and power.max() < _MOST // 2):
        return np.asarray(special.f32_div(x, numerator))
    product = _recip_value(x) * ((numerator & np.uint32(0x7FFFFF)) | np.uint32(1 << 23))
    power -= np.int32(23 + special.FRACTION)
    return (_rounded(product) + (power.view(np.uint32) << _FRACTION)) | ((x ^ numerator) & SIGN)


def f32_rsqrt(x: U32) -> U32:
    """1 / sqrt(x)."""
    exponent = x >> _FRACTION  # beyond all normal ones where there is a sign
    if not _within(exponent):
        return np.asarray(special.f32_rsqrt(x))
    half = (exponent.view(np.int32) - np.int32(127)) >> np.int32(1)
    half += np.int32(special.FRACTION)
    return _rounded(_rsqrt_value(x)) - (half.view(np.uint32) << _FRACTION)


def f32_sqrt(x: U32) -> U32:
    """Square root of x."""
    exponent = x >> _FRACTION  # beyond all normal ones where there is a sign
    if not _within(exponent):
        return np.asarray(special.f32_sqrt(x))
    product = _rsqrt_value(x)
    product *= (x & np.uint32(0x7FFFFF)) | np.uint32(1 << 23)
    half = (exponent.view(np.int32) - np.int32(126)) >> np.int32(1)
    half -= np.int32(23 + special.FRACTION)
    return _rounded(product) + (half.view(np.uint32) << _FRACTION)


def _within(exponent: U32, most: int = _MOST) -> bool:
    least, largest = (exponent.item(where) for where in (exponent.argmin(), exponent.argmax()))
    return least >= _LEAST and largest <= most


def _recip_value(x: U32) -> NDArray[np.int64]:
    """Value of the quadratic."""
    return _evaluate("recip", (x >> np.uint32(16)) & np.uint32(0x7F),
                     (x & np.uint32(0xFFFF)) << np.uint32(2))


def _rsqrt_value(x: U32) -> NDArray[np.int64]:
    """Value of the quadratic."""
    # The upper half of the table is for odd exponents, whose biased ones are even.
    return _evaluate("rsqrt", ((x >> np.uint32(17)) & np.uint32(0x7F)) ^ np.uint32(0x40),
                     (x & np.uint32(0x1FFFF)) << np.uint32(1))


def _evaluate(name: str, segment: U32, offset: U32) -> NDArray[np.int64]:
    return special.evaluate(name, segment.astype(np.int64), offset.astype(np.int64))


def _rounded(y: NDArray[np.int64]) -> U32:
    """Bits of an integer as a float32."""
    return y.astype(np.float32).view(np.uint32)
