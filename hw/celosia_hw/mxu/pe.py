"""Processing element of the systolic array."""

from collections.abc import Callable

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia.arch.numerics import NAN
from celosia_hw.fp.add import f32_add

__all__ = ["ELEMENT_CYCLES", "ProcessingElement", "bf16_product", "sum_bits"]

#: Cycles from an activation at an element to the sum that it is in: operands, product, sum.
ELEMENT_CYCLES = 3


def sum_bits(config: TpuConfig) -> int:
    """Bits of a sum inside the array: sums of ``dim`` int8 products need less than 32.

    The largest is dim * 2**14, the product of two times -128.
    """
    return 32 if config.bf16 else 16 + ceil_log2(config.dim)


def bf16_product(m: Module, a: Value, b: Value, significand: Value,
                 register: Callable[[Value], Value] = lambda value: value) -> Signal:
    """fp32 product of two bf16, as ``numerics.f32_mul`` of the widened operands.

    ``significand`` is the 16-bit product of the two 8-bit significands (leading ones included).
    The product of two bf16 needs no rounding. ``register`` may put registers where the logic is
    halved.
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
    exponent, fraction, has_zero, is_great, nan, sign = map(
        register, (exponent, fraction, has_zero, is_great, nan, sign))
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


class ProcessingElement(wiring.Component):
    """Multiplies activations by its weight and adds the products to the sums that pass it.

    What arrives from the left leaves to the right one cycle later, what arrives from above leaves
    below one cycle later. A sum leaves with the product of the activation of two cycles before
    added to it: an activation of cycle t is in the sum that leaves in t + 3. Throughput: one a
    cycle. Sums are of :func:`sum_bits` bits; int32 sums wrap; fp32 sums are rounded at each
    element. Two weights are held: the one in use and the next one. A reset clears the control, not
    the data.

    Both operands and the product are registers with nothing between them and the multiplier: those
    that the DSP block of an FPGA has at its ports.

    Parameters
    ----------
    config
        Decides the formats. An int8 operand is the low 8 bits of a lane.

    Members
    -------
    act_i, act_o
        Activation, one lane; to the right.
    swap_i, swap_o
        From this activation on, use the next weight; to the right.
    bf16_i, bf16_o
        Format of the activation; to the right. Only on chips with both formats.
    left_i, left_o
        Weight of a transposed tile on its way to the right.
    top_i, top_o
        Weight of a tile as stored on its way down.
    take_left_i, take_left_o
        Keep what arrives from the left as the next weight; down.
    take_top_i, take_top_o
        Keep what arrives from above as the next weight; to the right.
    sum_i, sum_o
        Sum; down.
    """

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            f"{name}_{letter}": direction(width)
            for name, width in (self.right(config) | self.down(config)).items()
            for letter, direction in (("i", In), ("o", Out))
        })

    @staticmethod
    def right(config: TpuConfig) -> dict[str, int]:
        """Names and widths of what passes to the right."""
        both = {"bf16": 1} if config.int8 and config.bf16 else {}
        return {"act": config.lane_bits, "swap": 1, **both,
                "left": config.lane_bits, "take_top": 1}

    @staticmethod
    def down(config: TpuConfig) -> dict[str, int]:
        """Names and widths of what passes down."""
        return {"sum": sum_bits(config), "top": config.lane_bits, "take_left": 1}

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        port: dict[str, Signal] = {
            f"{name}_{letter}": getattr(self, f"{name}_{letter}")
            for name in self.right(self._config) | self.down(self._config) for letter in "io"}

        # Everything but the sum is handed on as it is.
        held: dict[str, Signal] = {}
        for name, width in (self.right(self._config) | self.down(self._config)).items():
            data = name in ("act", "left", "top", "sum")
            held[name] = Signal(width, name=name, reset_less=data)
            m.d.comb += port[f"{name}_o"].eq(held[name])
            if name != "sum":
                m.d.sync += held[name].eq(port[f"{name}_i"])

        following = Signal(self._config.lane_bits, reset_less=True)
        current = Signal(self._config.lane_bits, reset_less=True)
        with m.If(port["take_top_i"] | port["take_left_i"]):
            m.d.sync += following.eq(Mux(port["take_top_i"], port["top_i"], port["left_i"]))
        with m.If(port["swap_i"]):
            m.d.sync += current.eq(following)

        m.d.sync += held["sum"].eq(self._sum(m, held, current, port["sum_i"]))
        return m

    def _sum(self, m: Module, held: dict[str, Signal], weight: Signal, total: Signal) -> Value:
        """Return ``total`` and the product of two cycles ago: of ``weight`` and the activation."""
        config = self._config
        a, b = held["act"], weight
        if not config.bf16:
            product = Signal(signed(16), reset_less=True)
            m.d.sync += product.eq(a.as_signed() * b.as_signed())
            return product + total
        product = Signal(32, reset_less=True)
        if not config.int8:
            significand = Cat(a[:7], Const(1, 1)) * Cat(b[:7], Const(1, 1))
            m.d.sync += product.eq(bf16_product(m, a, b, significand))
            return f32_add(m, total, product, name="add")
        # One 9-bit signed multiplier serves both: an int8, or a significand and its leading one.
        bf16, in_bf16 = held["bf16"], Signal(reset_less=True)  # of the operands, of the product
        x, y = (Mux(bf16, Cat(x[:7], Const(1, 2)), Cat(x[:8], x[7])).as_signed() for x in (a, b))
        exact = Signal(18)
        m.d.comb += exact.eq(x * y)
        m.d.sync += [in_bf16.eq(bf16),
                     product.eq(Mux(bf16, bf16_product(m, a, b, exact[:16]), exact.as_signed()))]
        return Mux(in_bf16, f32_add(m, total, product, name="add"), (product + total)[:32])
