"""The floating-point operations of ``numerics`` with the careful work left out where it is safe.

Each returns exactly what its namesake returns. Native float32 agrees with the chip as long as
operands and results are zero or normal numbers (and no result is the smallest normal number, to
which native arithmetic rounds some that the chip flushes); where one is not, the namesake does
the work.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from celosia.arch import numerics

__all__ = ["f32_add", "f32_fma", "f32_max", "f32_min", "f32_mul", "f32_sub", "f32_to_bf16",
           "relu_f"]

U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]

#: Magnitudes (without the sign bit, shifted left by one) less _LOW: normal numbers but the
#: smallest are below _HIGH, infinity and NaN from there on; zero is _ZERO, subnormals are above.
_LOW, _HIGH, _ZERO = np.uint32(0x01000001), np.uint32(0xFDFFFFFF), np.uint32(0xFEFFFFFF)
_SIGN = np.uint32(0x80000000)
_HALF = np.int64(1 << 28)
_BELOW_FLOAT32 = np.int64((1 << 29) - 1)


def _calm(bits: U32) -> bool:
    """Whether all are zero or normal, finite, and not the smallest normal number."""
    magnitude = bits << np.uint32(1)
    magnitude -= _LOW
    top = int(magnitude.max())
    if top < _HIGH:
        return True
    # Zeros hide infinities: look at them only where there are.
    return top == _ZERO and not ((magnitude >= _HIGH) & (magnitude != _ZERO)).any()


def _native(operation: Callable, careful: Callable, a: U32, b: U32) -> U32:
    if _calm(a) and _calm(b):
        with np.errstate(all="ignore"):
            result = operation(a.view(np.float32), b.view(np.float32)).view(np.uint32)
        if _calm(result):
            return result
    return np.asarray(careful(a, b))


def f32_add(a: U32, b: U32) -> U32:
    """Sum."""
    return _native(np.add, numerics.f32_add, a, b)


def f32_sub(a: U32, b: U32) -> U32:
    """Difference."""
    return _native(np.subtract, numerics.f32_sub, a, b)


def f32_mul(a: U32, b: U32) -> U32:
    """Product."""
    return _native(np.multiply, numerics.f32_mul, a, b)


def f32_fma(a: U32, b: U32, c: U32) -> U32:
    """Multiply-add, rounded once."""
    if _calm(a) and _calm(b) and _calm(c):
        x, y, z = (bits.view(np.float32).astype(np.float64) for bits in (a, b, c))
        total = x * y + z
        # The product is exact. Rounding twice differs only where the first lands on a tie.
        if not ((total.view(np.int64) & _BELOW_FLOAT32) == _HALF).any():
            with np.errstate(all="ignore"):
                result = total.astype(np.float32).view(np.uint32)
            if _calm(result):
                return result
    return np.asarray(numerics.f32_fma(a, b, c))


def _ordered(bits: U32) -> NDArray[np.int32]:
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


def f32_to_bf16(x: U32) -> U16:
    """Round to bf16."""
    if _calm(x):
        tie = (x >> np.uint32(16)) & np.uint32(1)
        return ((x + np.uint32(0x7FFF) + tie) >> np.uint32(16)).astype(np.uint16)
    return np.asarray(numerics.f32_to_bf16(x))
