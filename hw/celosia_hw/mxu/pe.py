"""Processing element of the systolic array."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.numerics import NAN
from celosia_hw.fp.add import f32_add

__all__ = ["ProcessingElement", "bf16_product"]


def bf16_product(m: Module, a: Value, b: Value, significand: Value) -> Signal:
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
    nan, infinite, zero, sign = Signal(), Signal(), Signal(), Signal()
    m.d.comb += [
        zero.eq((a_exp == 0) | (b_exp == 0) | (exponent <= 127)),
        infinite.eq((a_exp == 255) | (b_exp == 255) | (exponent >= 127 + 255)),
        nan.eq(((a_exp == 255) & ((a[:7] != 0) | (b_exp == 0)))
               | ((b_exp == 255) & ((b[:7] != 0) | (a_exp == 0)))),
        sign.eq(a[15] ^ b[15]),
    ]
    fraction = Mux(high, Cat(Const(0, 8), significand[:15]), Cat(Const(0, 9), significand[:14]))
    product = Signal(32)
    with m.If(nan):
        m.d.comb += product.eq(NAN)
    with m.Elif(infinite):
        m.d.comb += product.eq(Cat(Const(0, 23), Const(255, 8), sign))
    with m.Elif(zero):
        m.d.comb += product.eq(Cat(Const(0, 31), sign))
    with m.Else():
        m.d.comb += product.eq(Cat(fraction[:23], (exponent - 127)[:8], sign))
    return product


class ProcessingElement(wiring.Component):
    """Multiplies activations by its weight and adds the products to the sums that pass it.

    An activation that arrives in cycle t is on ``o_act`` in t + 1 and is contained in the sum on
    ``o_sum`` in t + 2, added to ``i_sum`` of cycle t + 1. Throughput: one a cycle. int32 sums wrap;
    fp32 sums are rounded at each element. Two weights are held: the one in use and the next one.

    Parameters
    ----------
    config
        Decides the formats. An int8 operand is the low 8 bits of a lane.

    Members
    -------
    i_act, o_act
        Activation, one lane.
    i_valid : In(1)
        There is an activation in this cycle.
    i_swap : In(1)
        From this activation on, use the next weight. May come without a valid activation.
    i_add : In(1)
        ``i_valid`` of the cycle before.
    i_bf16, i_add_bf16 : In(1)
        Format of the activation and of the product to be added; only on chips with both formats.
    i_top, i_left, o_right
        Weights on their way: from above (as stored) and from the left (transposed).
    i_take_top, i_take_left : In(1)
        Keep the weight that arrives as the next one.
    i_sum, o_sum
        Sum, 32 bits.
    """

    def __init__(self, config: TpuConfig):
        self._config = config
        lane = config.lane_bits
        both = {"i_bf16": In(1), "i_add_bf16": In(1)} if config.int8 and config.bf16 else {}
        super().__init__({
            "i_act": In(lane), "o_act": Out(lane), "i_valid": In(1), "i_swap": In(1), "i_add": In(1),
            "i_top": In(lane), "i_left": In(lane), "o_right": Out(lane),
            "i_take_top": In(1), "i_take_left": In(1), "i_sum": In(32), "o_sum": Out(32), **both,
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        lane = config.lane_bits
        act = Signal(lane, reset_less=True)
        right = Signal(lane, reset_less=True)
        following = Signal(lane, reset_less=True)
        current = Signal(lane, reset_less=True)
        product = Signal(32, reset_less=True)
        total = Signal(32, reset_less=True)
        weight = Signal(lane)
        m.d.sync += [act.eq(self.i_act), right.eq(self.i_left)]
        m.d.comb += [self.o_act.eq(act), self.o_right.eq(right), self.o_sum.eq(total),
                     weight.eq(Mux(self.i_swap, following, current))]
        with m.If(self.i_take_top | self.i_take_left):
            m.d.sync += following.eq(Mux(self.i_take_top, self.i_top, self.i_left))
        with m.If(self.i_swap):
            m.d.sync += current.eq(following)

        next_product, next_total = self._arithmetic(m, weight, product)
        with m.If(self.i_valid):
            m.d.sync += product.eq(next_product)
        with m.If(self.i_add):
            m.d.sync += total.eq(next_total)
        return m

    def _arithmetic(self, m: Module, weight: Value, product: Value) -> tuple[Value, Value]:
        config = self._config
        a, b = self.i_act, weight
        if not config.bf16:
            exact = a[:8].as_signed() * b[:8].as_signed()
            return exact, product + self.i_sum
        if not config.int8:
            significand = Cat(a[:7], Const(1, 1)) * Cat(b[:7], Const(1, 1))
            return (bf16_product(m, a, b, significand),
                    f32_add(m, self.i_sum, product, name="add"))
        operands = [Mux(self.i_bf16, Cat(x[:7], Const(1, 2)), Cat(x[:8], x[7])).as_signed()
                    for x in (a, b)]
        exact = Signal(18)
        m.d.comb += exact.eq(operands[0] * operands[1])
        floating = bf16_product(m, a, b, exact[:16])
        return (Mux(self.i_bf16, floating, exact.as_signed()),
                Mux(self.i_add_bf16, f32_add(m, self.i_sum, product, name="add"),
                    product + self.i_sum))
