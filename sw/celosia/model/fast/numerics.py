"""The floating-point operations of ``numerics`` with the careful work left out where it is safe.

Each returns exactly what its namesake returns. Native float32 agrees with the chip as long as no
operand and no result is subnormal or NaN, and no product is rounded to the smallest normal number
(some that native arithmetic rounds to it the chip flushes). Results that are no NaN have operands
that are none, so often only the result is asked for that. Where something else turns up, the
namesake does the work.

Sums, products and comparisons may then have warned: they are called with NumPy's warnings switched
off, by :func:`numpy.errstate`, which itself costs more than one of them.

For arrays of some hundred words a call counts for more than its work, and the methods that are
called here (``argmin`` and ``item`` where one would write ``min``) are those that NumPy has in C.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.arch import numerics
from celosia.arch.numerics import F32, U16, U32

__all__ = ["COARSE", "clamp_f", "exponent", "f32_add", "f32_equal", "f32_fma", "f32_less",
           "f32_less_equal", "f32_max", "f32_min", "f32_mul", "f32_sub", "f32_sum", "f32_to_bf16",
           "f32_to_i32", "relu_f"]


#: Biased exponent from which on numbers, and so their sums, are multiples of 2**-126.
COARSE = 24
#: Biased exponents of factors that add to this have a product of at least 2**-125.
_FAR = 2 * 127 - 125
#: Numbers below it, and above its negative, are int32 when they are rounded.
_RANGE = 2.0**31
_ONE = np.uint32(1)
_HALF = np.int64(1 << 28)
_BELOW_FLOAT32 = np.int64((1 << 29) - 1)


def exponent(bits: U32) -> int:
    """Return the biased exponent of the smallest number that is not zero; 256 if all are.

    It is 0 where one is subnormal.
    """
    if bits.size == 1:
        magnitude = bits.item() & 0x7FFFFFFF
        return magnitude >> 23 if magnitude else 256
    magnitudes = bits << _ONE
    magnitudes -= _ONE  # zeros are the largest now
    return (magnitudes.item(magnitudes.argmin()) + 1) >> 24


def _numbers(values: F32) -> bool:
    """Whether none is NaN."""
    top = values.item(values.argmax())  # the first NaN, if there is one
    return top == top


def _calm(bits: U32) -> bool:
    """Whether none is subnormal or NaN."""
    return exponent(bits) > 0 and _numbers(bits.view(np.float32))


def f32_add(a: U32, b: U32) -> U32:
    """Sum."""
    low = min(exponent(a), exponent(b))
    if low:
        result = a.view(np.float32) + b.view(np.float32)
        bits = result.view(np.uint32)
        if (low >= COARSE or exponent(bits)) and _numbers(result):
            return bits
    return np.asarray(numerics.f32_add(a, b))


def f32_sum(groups: U32) -> U32:
    """Sums of each group, shape (groups, terms, ...), one term added after another."""
    if exponent(groups):
        totals = np.add.accumulate(groups.view(np.float32), axis=1)
        if exponent(totals.view(np.uint32)) and _numbers(totals):
            return totals[:, -1].view(np.uint32)
    total = groups[:, 0]
    for i in range(1, groups.shape[1]):
        total = f32_add(total, groups[:, i])
    return total


def f32_sub(a: U32, b: U32) -> U32:
    """Difference."""
    low = min(exponent(a), exponent(b))
    if low:
        result = a.view(np.float32) - b.view(np.float32)
        bits = result.view(np.uint32)
        if (low >= COARSE or exponent(bits)) and _numbers(result):
            return bits
    return np.asarray(numerics.f32_sub(a, b))


def f32_mul(a: U32, b: U32) -> U32:
    """Product."""
    low_a = exponent(a)
    low_b = low_a if b is a else exponent(b)
    if low_a and low_b:
        result = a.view(np.float32) * b.view(np.float32)
        bits = result.view(np.uint32)
        if (low_a + low_b >= _FAR or exponent(bits) > 1) and _numbers(result):
            return bits
    return np.asarray(numerics.f32_mul(a, b))


def f32_fma(a: U32, b: U32, c: U32) -> U32:
    """Multiply-add, rounded once."""
    if exponent(a) and exponent(b) and exponent(c):
        x, y, z = (bits.view(np.float32).astype(np.float64) for bits in (a, b, c))
        total = x * y + z
        # The product is exact. Rounding twice differs only where the first lands on a tie.
        if not np.count_nonzero((total.view(np.int64) & _BELOW_FLOAT32) == _HALF):
            result = total.astype(np.float32)
            bits = result.view(np.uint32)
            if exponent(bits) > 1 and _numbers(result):
                return bits
    return np.asarray(numerics.f32_fma(a, b, c))


def f32_equal(a: U32, b: U32) -> U32:
    """Mask of a == b."""
    if exponent(a) and exponent(b):
        return np.asarray(numerics.mask(a.view(np.float32) == b.view(np.float32)))
    return np.asarray(numerics.f32_equal(a, b))


def f32_less(a: U32, b: U32) -> U32:
    """Mask of a < b."""
    if exponent(a) and exponent(b):
        return np.asarray(numerics.mask(a.view(np.float32) < b.view(np.float32)))
    return np.asarray(numerics.f32_less(a, b))


def f32_less_equal(a: U32, b: U32) -> U32:
    """Mask of a <= b."""
    if exponent(a) and exponent(b):
        return np.asarray(numerics.mask(a.view(np.float32) <= b.view(np.float32)))
    return np.asarray(numerics.f32_less_equal(a, b))


def _ordered(bits: U32 | NDArray[np.int32]) -> NDArray[np.int32]:
    """Integers in the order of the numbers, -0 below +0; its own inverse."""
    signed = bits.view(np.int32)
    return signed ^ ((signed >> np.int32(31)) & np.int32(0x7FFFFFFF))


def f32_max(a: U32, b: U32) -> U32:
    """Larger of two."""
    if _calm(a) and _calm(b):
        larger = np.maximum(_ordered(a), _ordered(b))
        return _ordered(larger.view(np.uint32)).view(np.uint32)
    return np.asarray(numerics.f32_max(a, b))


def f32_min(a: U32, b: U32) -> U32:
    """Smaller of two."""
    if _calm(a) and _calm(b):
        smaller = np.minimum(_ordered(a), _ordered(b))
        return _ordered(smaller.view(np.uint32)).view(np.uint32)
    return np.asarray(numerics.f32_min(a, b))


def relu_f(x: U32) -> U32:
    """max(x, +0)."""
    if _calm(x):
        return np.maximum(x.view(np.int32), np.int32(0)).view(np.uint32)
    return np.asarray(numerics.relu_f(x))


def clamp_f(x: U32, lo: int, hi: int) -> U32:
    """Value between two of bf16."""
    least, most = (np.array([bits << 16], np.uint32) for bits in (lo, hi))
    if _calm(x) and _calm(least) and _calm(most):
        clamped = np.minimum(np.maximum(_ordered(x), _ordered(least)), _ordered(most))
        return _ordered(clamped).view(np.uint32)
    return np.asarray(numerics.clamp_f(x, lo, hi))


def f32_to_i32(x: U32, rounding: np.ufunc = np.rint) -> U32:
    """Words of the integer that ``rounding`` gives."""
    values = x.view(np.float32)
    if (values.item(values.argmin()) > -_RANGE and values.item(values.argmax()) < _RANGE
            and (rounding is not np.floor or exponent(x))):
        return rounding(values).astype(np.int32).view(np.uint32)
    return np.asarray(numerics.f32_to_i32(x, rounding)).view(np.uint32)


def f32_to_bf16(x: U32) -> U16:
    """Round to bf16."""
    if _calm(x):
        rounded = x >> np.uint32(16)
        rounded &= _ONE  # a tie goes to even
        rounded += x
        rounded += np.uint32(0x7FFF)
        rounded >>= np.uint32(16)
        return rounded.astype(np.uint16)
    return np.asarray(numerics.f32_to_bf16(x))
