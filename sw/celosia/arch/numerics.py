"""The numerics of the chip: each operation on NumPy arrays, exactly as the hardware rounds.

fp32 results round to nearest, ties to even. Subnormals are flushed to a zero of the same sign
where they enter an operation and where they leave it; a result is flushed when, rounded to 24
bits with an unbounded exponent, it is below 2**-126. Every NaN that an operation makes is
``NAN``. bf16 is the upper half of an fp32. Arrays of ``uint32`` hold fp32 bit patterns, arrays of
``uint16`` bf16 bit patterns, arrays of ``int32`` integers; each function says which.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from celosia.arch.words import WORD_MASK

__all__ = [
    "BF16_NAN", "F32", "INF", "NAN", "SIGN", "TINY", "U16", "U32", "bf16_to_f32", "clamp_f",
    "clamp_i", "f32_add", "f32_equal", "f32_fma", "f32_is_finite", "f32_less", "f32_less_equal",
    "f32_max", "f32_min", "f32_mul", "f32_mul_complement", "f32_square", "f32_sub",
    "f32_to_bf16", "f32_to_i32", "flush", "i32_to_f32", "imul", "lane_tree", "mask", "relu_f",
    "relu_i", "requant", "requant_scale", "round_f64", "saturate_i8", "shift_left",
    "shift_right", "shift_right_signed",
]

#: Arrays of fp32, of half words, bf16 among them, and of words.
F32 = NDArray[np.float32]
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
U32Like = U32 | np.uint32
I32Like = NDArray[np.int32] | np.int32
U16Like = U16 | np.uint16

NAN = 0x7FC00000
INF = 0x7F800000
BF16_NAN = 0x7FC0
_ONE = 0x3F800000
#: The bit of the sign.
SIGN = np.uint32(0x80000000)
#: The least normal number.
TINY = 2.0**-126
#: Below this an exact result rounds (24 bits, ties to even) to less than 2**-126.
_FLUSH_BELOW = 2.0**-126 - 2.0**-151


def flush(x: U32Like) -> U32Like:
    """Replace subnormal fp32 by zero of the same sign, and every NaN by ``NAN``."""
    x = np.asarray(x, np.uint32)
    exponent = x & np.uint32(0x7F800000)
    out = np.where(exponent == 0, x & SIGN, x)
    nan = (exponent == 0x7F800000) & ((x & np.uint32(0x007FFFFF)) != 0)
    return np.where(nan, np.uint32(NAN), out).astype(np.uint32)


def _f64(x: U32Like) -> NDArray[np.float64]:
    return np.asarray(flush(x).view(np.float32), np.float64)


def round_f64(exact: NDArray[np.float64]) -> U32Like:
    """Round a float64 that is exact, or exact but for a sticky last bit, to fp32."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        single = exact.astype(np.float32)
    single = np.where(np.abs(exact) < _FLUSH_BELOW, np.copysign(np.float32(0), single), single)
    return flush(single.astype(np.float32).view(np.uint32))


def f32_fma(a: U32Like, b: U32Like, c: U32Like) -> U32Like:
    """Multiply-add a * b + c on fp32 bit patterns, rounded once (round-to-odd in float64)."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        product = _f64(a) * _f64(b)  # exact: 48 bits
        addend = _f64(c)
        total = product + addend
        # TwoSum: total + error == product + addend
        virtual = total - product
        error = (product - (total - virtual)) + (addend - virtual)
        inexact = np.isfinite(total) & (error != 0)
        even = (total.view(np.int64) & 1) == 0
        towards = np.where(error > 0, np.inf, -np.inf)
        total = np.where(inexact & even, np.nextafter(total, towards), total)
    return round_f64(total)


def f32_mul_complement(a: U32Like, b: U32Like) -> U32Like:
    """Product a * (1 - b) of fp32 bit patterns, rounded once; zeros have the product's sign."""
    one = np.uint32(0x3F800000)
    exponent = np.asarray(a, np.uint32) & INF
    plain = (exponent == 0) | (exponent == INF) | (b == one)
    return np.where(plain, f32_mul(a, f32_sub(one, b)),
                    f32_fma(a, np.asarray(b, np.uint32) ^ SIGN, a))


def f32_add(a: U32Like, b: U32Like) -> U32Like:
    """Sum a + b of fp32 bit patterns."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        total = flush(a).view(np.float32) + flush(b).view(np.float32)
    return flush(total.view(np.uint32))


def f32_sub(a: U32Like, b: U32Like) -> U32Like:
    """Difference a - b of fp32 bit patterns."""
    return f32_add(a, np.asarray(b, np.uint32) ^ SIGN)


def f32_mul(a: U32Like, b: U32Like) -> U32Like:
    """Product a * b of fp32 bit patterns."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        return round_f64(_f64(a) * _f64(b))


def _ordered(x: U32Like) -> NDArray[np.int64]:
    """Integers in the order of the (flushed) fp32 numbers, -0 below +0."""
    bits = x.astype(np.int64)
    return np.where(bits & 0x80000000, 0x7FFFFFFF - bits, bits)


def _select(a: U32Like, b: U32Like, larger: bool) -> U32Like:
    a, b = np.broadcast_arrays(flush(a), flush(b))
    take_a = _ordered(a) >= _ordered(b) if larger else _ordered(a) <= _ordered(b)
    nan = (a == NAN) | (b == NAN)
    return np.where(nan, np.uint32(NAN), np.where(take_a, a, b)).astype(np.uint32)


def f32_max(a: U32Like, b: U32Like) -> U32Like:
    """Larger of two fp32; NaN if either is NaN; -0 is below +0 (IEEE 754-2019 maximum)."""
    return _select(a, b, True)


def f32_min(a: U32Like, b: U32Like) -> U32Like:
    """Smaller of two fp32; NaN if either is NaN; -0 is below +0 (IEEE 754-2019 minimum)."""
    return _select(a, b, False)


def mask(holds: NDArray[np.bool_] | np.bool_) -> U32Like:
    """All ones where a comparison holds, else 0."""
    return np.where(holds, np.uint32(WORD_MASK), np.uint32(0))


def f32_equal(a: U32Like, b: U32Like) -> U32Like:
    """Mask of a == b: never with NaN; -0 equals +0, and so do flushed subnormals."""
    return mask(_f64(a) == _f64(b))


def f32_less(a: U32Like, b: U32Like) -> U32Like:
    """Mask of a < b: never with NaN."""
    with np.errstate(invalid="ignore"):
        return mask(_f64(a) < _f64(b))


def f32_less_equal(a: U32Like, b: U32Like) -> U32Like:
    """Mask of a <= b: never with NaN."""
    with np.errstate(invalid="ignore"):
        return mask(_f64(a) <= _f64(b))


def f32_is_finite(x: U32Like) -> U32Like:
    """Mask of what is neither infinite nor NaN."""
    return mask((np.asarray(x, np.uint32) & np.uint32(INF)) != INF)


def f32_square(x: U32Like) -> U32Like:
    """Square of an fp32."""
    return f32_mul(x, x)


def relu_f(x: U32Like) -> U32Like:
    """max(x, +0) on fp32 bit patterns; NaN stays NaN."""
    return f32_max(x, np.uint32(0))


def clamp_f(x: U32Like, lo: int, hi: int) -> U32Like:
    """min(max(x, lo), hi) on fp32 bit patterns; ``lo`` and ``hi`` are bf16 bit patterns."""
    return f32_min(f32_max(x, np.uint32(lo << 16)), np.uint32(hi << 16))


def bf16_to_f32(x: U16Like) -> U32Like:
    """Widen bf16 to fp32 by appending zeros; nothing is flushed."""
    return np.asarray(x, np.uint16).astype(np.uint32) << np.uint32(16)


def f32_to_bf16(x: U32Like) -> U16Like:
    """Round fp32 to bf16, nearest even; subnormals become zero, NaN becomes ``BF16_NAN``."""
    bits = flush(x)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(bits == NAN, np.uint32(BF16_NAN), rounded).astype(np.uint16)


def i32_to_f32(x: I32Like) -> U32Like:
    """Convert int32 to fp32, nearest even."""
    return np.asarray(x, np.int32).astype(np.float32).view(np.uint32)


def f32_to_i32(x: U32Like, rounding: Callable[[NDArray], NDArray] = np.rint) -> I32Like:
    """Convert fp32 to int32, saturating; NaN becomes 0.

    ``rounding``: ``np.rint`` (nearest, ties to even), ``np.floor`` or ``np.trunc``.
    """
    value = rounding(_f64(x))
    value = np.where(np.isnan(value), 0.0, np.clip(value, -(2.0**31), 2.0**31 - 1))
    return value.astype(np.int64).astype(np.int32)


def imul(a: I32Like, b: I32Like) -> I32Like:
    """Low 32 bits of a product of int32."""
    product = np.asarray(a, np.int32).astype(np.int64) * np.asarray(b, np.int32).astype(np.int64)
    return product.astype(np.uint32).view(np.int32)


def shift_left(a: U32Like, b: U32Like) -> U32Like:
    """Shift a left by the 5 lowest bits of b."""
    return np.asarray(a, np.uint32) << (np.asarray(b, np.uint32) & np.uint32(31))


def shift_right(a: U32Like, b: U32Like) -> U32Like:
    """Shift a right by the 5 lowest bits of b, zeros in."""
    return np.asarray(a, np.uint32) >> (np.asarray(b, np.uint32) & np.uint32(31))


def shift_right_signed(a: U32Like, b: U32Like) -> U32Like:
    """Shift a right by the 5 lowest bits of b, signs in."""
    shifted = np.asarray(a, np.uint32).view(np.int32) >> (
        np.asarray(b, np.uint32) & np.uint32(31)).astype(np.int32)
    return np.asarray(shifted).view(np.uint32)


def lane_tree(join: Callable[[NDArray, NDArray], NDArray], rows: NDArray) -> NDArray:
    """Join the lanes (last axis, a power of two) of each row: lanes 2i and 2i + 1 in each step."""
    while rows.shape[-1] > 1:
        rows = join(rows[..., 0::2], rows[..., 1::2])
    return rows[..., 0]


def relu_i(x: I32Like) -> I32Like:
    """max(x, 0) on int32."""
    return np.maximum(np.asarray(x, np.int32), np.int32(0))


def clamp_i(x: I32Like, lo: int, hi: int) -> I32Like:
    """min(max(x, lo), hi) on int32."""
    return np.minimum(np.maximum(np.asarray(x, np.int32), np.int32(lo)), np.int32(hi))


def saturate_i8(x: I32Like) -> NDArray[np.int8]:
    """Saturate int32 to -128..127."""
    return np.clip(np.asarray(x, np.int32), -128, 127).astype(np.int8)


def requant(x: I32Like, scale: U32Like, bias: I32Like, zp: int, lo: int, hi: int) -> I32Like:
    """Scale int32 sums to a small integer range, per channel.

    ``t = x + bias`` (mod 2**32); ``r = (t * m + half) >> s`` in 64 bits, where ``scale`` holds the
    multiplier ``m`` (unsigned) in bits 0..15 and the shift ``s`` in bits 16..21, its other bits are
    ignored, and ``half`` is ``2**(s-1)``, or 0 where ``s`` is 0; the result is
    ``min(max(r + zp, lo), hi)``. Ties round towards +infinity.
    """
    total = (np.asarray(x, np.int32).view(np.uint32) + np.asarray(bias, np.int32).view(np.uint32))
    scale = np.asarray(scale, np.uint32)
    multiplier = (scale & np.uint32(0xFFFF)).astype(np.int64)
    shift = ((scale >> np.uint32(16)) & np.uint32(63)).astype(np.int64)
    product = total.view(np.int32).astype(np.int64) * multiplier
    half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), np.int64(0))
    rounded = (product + half) >> shift
    return np.minimum(np.maximum(rounded + zp, lo), hi).astype(np.int32)


def requant_scale(scale: float) -> int:
    """Encode a positive real factor as the ``scale`` word of :func:`requant`.

    The factor is kept to 16 significant bits (relative error at most 2**-16). Raises
    ``ValueError`` where it is not finite, not positive, or outside 2**-47 .. 2**15.
    """
    if not np.isfinite(scale) or scale <= 0:
        raise ValueError(f"requantise scale must be finite and positive, not {scale!r}")
    mantissa, exponent = np.frexp(scale)  # scale = mantissa * 2**exponent, mantissa in [0.5, 1)
    multiplier = round(float(mantissa) * 65536)
    shift = 16 - int(exponent)
    if multiplier == 65536:
        multiplier, shift = 32768, shift - 1
    if not 0 <= shift <= 63:
        raise ValueError(f"requantise scale must be from 2**-47 to 2**15, not {scale!r}")
    return multiplier | shift << 16
