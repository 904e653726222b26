"""Multiply-accumulate of the arrays: one multiplier for int8 and for significands of bf16."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from celosia.arch.config import TpuConfig
from celosia.arch.numerics import NAN
from celosia_hw.fp.add import f32_add
from celosia_hw.stream import delayed

__all__ = ["multiply_add"]


def _factor(lane: Value, bf16: Value) -> Value:
    """Factor of a 9-bit signed multiplier: an int8, or a significand and its leading one."""
    return Mux(bf16, Cat(lane[:7], Const(1, 2)), Cat(lane[:8], lane[7])).as_signed()


def _bf16_product(m: Module, a: Value, b: Value, significand: Value) -> Signal:
    """fp32 product of two bf16, as ``numerics.f32_mul`` of the widened operands.

    ``significand`` is the 16-bit product of the two 8-bit significands (leading ones included).
    The product of two bf16 needs no rounding.
    """
    a_exp, b_exp = Signal(8), Signal(8)
    high = Signal()  # the significand's value is 2 or more
    exponent = Signal(10)  # biased twice
    m.d.comb += [
        a_exp.eq(a[7:15]), b_exp.eq(b[7:15]), high.eq(significand[15]),
        exponent.eq(a_exp + b_exp + high),
    ]
    fraction, has_zero, is_great = Signal(23), Signal(), Signal()
    nan, infinite, zero, sign = Signal(), Signal(), Signal(), Signal()
    m.d.comb += [
        has_zero.eq((a_exp == 0) | (b_exp == 0)), is_great.eq((a_exp == 255) | (b_exp == 255)),
        nan.eq(((a_exp == 255) & ((a[:7] != 0) | (b_exp == 0)))
               | ((b_exp == 255) & ((b[:7] != 0) | (a_exp == 0)))),
        sign.eq(a[15] ^ b[15]),
        fraction.eq(Mux(high, Cat(Const(0, 8), significand[:15]),
                        Cat(Const(0, 9), significand[:14]))),
    ]
    m.d.comb += [zero.eq(has_zero | (exponent <= 127)),
                 infinite.eq(is_great | (exponent >= 127 + 255))]
    product = Signal(32)
    with m.If(nan):
        m.d.comb += product.eq(NAN)
    with m.Elif(infinite):
        m.d.comb += product.eq(Cat(Const(0, 23), Const(255, 8), sign))
    with m.Elif(zero):
        m.d.comb += product.eq(Cat(Const(0, 31), sign))
    with m.Else():
        m.d.comb += product.eq(Cat(fraction, (exponent - 127)[:8], sign))
    return product


def multiply_add(m: Module, config: TpuConfig, a: Value, b: Value, total: Signal,
                 bf16: Value) -> Value:
    """``total`` plus the product of ``a`` and ``b`` of ``config.product_cycles`` ago, in registers.

    int8 wraps to the width of ``total``; fp32 is rounded once. ``bf16`` is the format of the
    operands; it matters on a chip with both. What is returned is that of ``config.sum_cycles`` - 1
    cycles before.
    """
    cycles = config.sum_cycles
    if not config.bf16:
        product = Signal(signed(16), reset_less=True)
        m.d.sync += product.eq(a.as_signed() * b.as_signed())
        return product + total
    product = Signal(32, reset_less=True)

    def multiplied(value: Value, name: str) -> Value:
        """Out of a register behind the multiplier, or beside it, where there is one."""
        return delayed(m, value, config.product_cycles - 1, name=name, reset_less=True)[-1]

    if not config.int8:
        significand = multiplied(Cat(a[:7], Const(1, 1)) * Cat(b[:7], Const(1, 1)), "significand")
        a, b = multiplied(a, "multiplied_a"), multiplied(b, "multiplied_b")
        m.d.sync += product.eq(_bf16_product(m, a, b, significand))
        return f32_add(m, total, product, name="add", cycles=cycles)
    in_bf16 = Signal(reset_less=True)  # format of the product
    exact: Value = Signal(18, name="exact")
    m.d.comb += exact.eq(_factor(a, bf16) * _factor(b, bf16))
    exact, bf16 = multiplied(exact, "multiplied"), multiplied(bf16, "multiplied_bf16")
    a, b = multiplied(a, "multiplied_a"), multiplied(b, "multiplied_b")
    m.d.sync += [in_bf16.eq(bf16),
                 product.eq(Mux(bf16, _bf16_product(m, a, b, exact[:16]), exact.as_signed()))]
    sums = f32_add(m, total, product, name="add", cycles=cycles)
    whole = delayed(m, (product + total)[:32], cycles - 1, name="whole", reset_less=True)[-1]
    return Mux(delayed(m, in_bf16, cycles - 1, name="in_bf16", reset_less=True)[-1], sums, whole)
