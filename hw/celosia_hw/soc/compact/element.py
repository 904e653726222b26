"""What the matrix engine of a compact chip with bf16 is made of."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia_hw.fp.add import ADD_CYCLES, f32_add
from celosia_hw.fp.mac import bf16_product, factor

__all__ = ["PRODUCT_CYCLES", "SUM_CYCLES", "Adder", "ElementUnit"]

#: Cycles of an `Adder`.
SUM_CYCLES = ADD_CYCLES + 1

#: Cycles from an activation to its product: operands, product of the significands, exponent,
#: product.
PRODUCT_CYCLES = 4
#: Those behind the first two.
_EXPONENT_CYCLES = 1


class Adder(wiring.Component):
    """Adds two fp32 numbers, or two integers. Latency: ``SUM_CYCLES``; throughput: one a cycle.

    Parameters
    ----------
    bits
        Of the integers; 32 or less.

    Members
    -------
    floats : In(1)
        What is added; the same from a cycle before anything is under way.
    a, b : In(32), total : Out(32)
        An integer ``total`` is extended by its sign.
    """

    floats: Signal
    a: Signal
    b: Signal
    total: Signal

    def __init__(self, bits: int = 32):
        self._bits = bits
        super().__init__({"floats": In(1), "a": In(32), "b": In(32), "total": Out(32)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        floats = _late(m, self.floats)
        number = f32_add(m, self.a, self.b, name="add", pipelined=True)
        integer = Signal(signed(self._bits))
        m.d.comb += integer.eq(self.a + self.b)
        for _ in range(ADD_CYCLES):
            integer = _late(m, integer)
        m.d.comb += self.total.eq(_late(m, Mux(floats, number, integer)[:32]))
        return m


def _late(m: Module, value):
    """Return what ``value`` was a cycle ago."""
    held = Signal(value.shape(), name="late", reset_less=True)
    m.d.sync += held.eq(value)
    return held


class ElementUnit(wiring.Component):
    """Adds the product of an activation and its weight to a sum.

    An activation is in the sum that leaves ``PRODUCT_CYCLES + SUM_CYCLES`` later, which came
    ``SUM_CYCLES`` before that. Throughput: one a cycle.

    Parameters
    ----------
    bits
        Of an integer sum.

    Members
    -------
    floats : In(1)
        Operands are bf16, and otherwise int8, the low bits of a lane. As of `Adder`.
    act, weight : In(16), take : In(1)
        The activation, and with ``take`` the weight from now on.
    sum_i : In(32), sum_o : Out(32)
    """

    floats: Signal
    act: Signal
    weight: Signal
    take: Signal
    sum_i: Signal
    sum_o: Signal

    def __init__(self, bits: int):
        self._bits = bits
        members: dict[str, Any] = {"act": In(16), "weight": In(16), "take": In(1)}
        super().__init__({"floats": In(1), **members, "sum_i": In(32), "sum_o": Out(32)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        floats = _late(m, self.floats)
        kept = Signal(16, reset_less=True)
        with m.If(self.take):
            m.d.sync += kept.eq(self.weight)
        operands, late = [], []
        for name, lane in (("act", self.act), ("weight", kept)):
            operand = Signal(signed(9), name=f"{name}_operand", reset_less=True)
            m.d.sync += operand.eq(factor(lane, floats))
            operands.append(operand)
            for _ in range(PRODUCT_CYCLES - _EXPONENT_CYCLES - 1):
                lane = _late(m, lane)
            late.append(lane)
        exact = Signal(signed(18), reset_less=True)
        m.d.sync += exact.eq(operands[0] * operands[1])
        number = bf16_product(m, late[0], late[1], exact[:16],
                              register=lambda value: _late(m, value))
        product = Signal(32, reset_less=True)
        m.d.sync += product.eq(Mux(floats, number, _late(m, exact)))
        m.submodules.adder = adder = Adder(self._bits)
        m.d.comb += [adder.floats.eq(self.floats), adder.a.eq(self.sum_i), adder.b.eq(product),
                     self.sum_o.eq(adder.total)]
        return m
