"""Conversions of fp32, as combinational logic.

Each function adds named signals to ``m`` and returns the one that holds the result; ``name`` is the
prefix of their names.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from celosia.arch.numerics import BF16_NAN, NAN
from celosia_hw.fp.wire import wire

__all__ = ["f32_flush", "f32_to_bf16", "f32_to_i32_round", "f32_to_i32_shift"]


def f32_flush(m: Module, x: Value, name: str) -> Signal:
    """Zero for subnormals, one NaN for every NaN: :func:`celosia.arch.numerics.flush`."""
    zero = x[23:31] == 0
    nan = (x[23:31] == 0xFF) & (x[:23] != 0)
    return wire(m, Mux(nan, NAN, Mux(zero, Cat(Const(0, 31), x[31]), x)), name)


def f32_to_bf16(m: Module, x: Value, name: str) -> Signal:
    """Rounded to bf16, 16 bits: :func:`celosia.arch.numerics.f32_to_bf16`."""
    zero = x[23:31] == 0
    nan = wire(m, (x[23:31] == 0xFF) & (x[:23] != 0), f"{name}_nan")
    rounded = wire(m, (x + 0x7FFF + x[16])[16:32], f"{name}_rounded")
    return wire(m, Mux(nan, BF16_NAN, Mux(zero, Cat(Const(0, 15), x[31]), rounded)), name)


def f32_to_i32_shift(m: Module, x: Value, name: str) -> Signal:
    """First half of :func:`celosia.arch.numerics.f32_to_i32`: the magnitude in fixed point.

    56 bits, 25 of them behind the point; bits below are dropped. Not meaningful for magnitudes of
    2**31 and more.
    """
    exponent = x[23:31]
    right = wire(m, Const(157, 8) - exponent, f"{name}_right")  # negative from 2**31 on
    distance = wire(m, Mux(right[6:8].any(), 63, right[:6]), f"{name}_distance")
    return wire(m, (Cat(Const(0, 32), x[:23], Const(1, 1)) >> distance)[:56], name)


def f32_to_i32_round(m: Module, x: Value, fixed: Value, floor: Value, trunc: Value,
                     name: str) -> Signal:
    """Second half: the int32 of ``x``, where ``fixed`` is what ``f32_to_i32_shift`` made of it.

    Rounds to nearest, ties to even; down with ``floor``, towards zero with ``trunc``.
    """
    exponent, negative = x[23:31], x[31]
    # Bits may have been dropped where the magnitude is below one half.
    fraction = fixed[:25].any() | ((exponent < 127) & (exponent != 0))
    nearest = fixed[24] & (fixed[:24].any() | fixed[25])
    up = Mux(floor, negative & fraction, nearest & ~trunc)
    magnitude = wire(m, (fixed[25:56] + up)[:32], f"{name}_magnitude")
    nan = (exponent == 0xFF) & (x[:23] != 0)
    limit = Mux(negative, 0x80000000, 0x7FFFFFFF)
    signed = Mux(negative, (-magnitude)[:32], magnitude)
    return wire(m, Mux(nan, 0, Mux(exponent >= 158, limit, signed))[:32], name)
