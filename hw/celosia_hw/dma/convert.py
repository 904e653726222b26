"""Conversions between elements in external memory and lanes, as expressions."""

from amaranth.hdl import Cat, Const, Mux, Value

from celosia.arch import numerics

__all__ = ["f32_to_bf16", "saturate_i8"]


def f32_to_bf16(x: Value) -> Value:
    """Round 32 bits of fp32 to 16 bits of bf16: :func:`celosia.arch.numerics.f32_to_bf16`."""
    exponent, fraction, sign = x[23:31], x[:23], x[31]
    # The sum carries from the fraction into the exponent, and from the largest number to infinity.
    rounded = (x[:31] + 0x7FFF + x[16])[16:31]
    number = Cat(Mux(exponent == 0, Const(0, 15), rounded), sign)
    return Mux(exponent.all() & fraction.any(), Const(numerics.BF16_NAN, 16), number)


def saturate_i8(x: Value) -> Value:
    """Saturate 32 bits of int32 to 8 bits: :func:`celosia.arch.numerics.saturate_i8`."""
    sign = x[31]
    fits = x[7:31] == sign.replicate(24)
    return Mux(fits, x[:8], Cat((~sign).replicate(7), sign))
