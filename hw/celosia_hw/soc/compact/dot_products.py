"""Products of int8 operands, registered as the DSP blocks of FPGAs are."""

from typing import Any

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["ProductPair"]


class ProductPair(wiring.Component):
    """Two products of int8 operands: ``a0 * b0`` and ``a1 * b1``.

    Latency: 2 cycles, one for the operands and one for the product; throughput: a pair a cycle. The
    b operands stay as they are from one ``take_b`` to the next, the a operands are taken always.

    Parameters
    ----------
    mac16
        Use an SB_MAC16 in its dual 8 x 8 mode, which Yosys does not infer (iCE40UP).

    Members
    -------
    a0, a1, b0, b1 : In(signed(8))
    take_b : In(1)
    p0, p1 : Out(signed(16))
    """

    a0: Signal
    a1: Signal
    b0: Signal
    b1: Signal
    take_b: Signal
    p0: Signal
    p1: Signal

    def __init__(self, *, mac16: bool = False):
        self._mac16 = mac16
        operands: dict[str, Any] = {name: In(signed(8)) for name in ("a0", "a1", "b0", "b1")}
        super().__init__({**operands, "take_b": In(1), "p0": Out(signed(16)),
                          "p1": Out(signed(16))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if self._mac16:
            self._block(m)
            return m
        for a, b, p in ((self.a0, self.b0, self.p0), (self.a1, self.b1, self.p1)):
            held_a = Signal(signed(8), name=f"{a.name}_held", reset_less=True)
            held_b = Signal(signed(8), name=f"{b.name}_held", reset_less=True)
            m.d.sync += [held_a.eq(a), p.eq(held_a * held_b)]
            with m.If(self.take_b):
                m.d.sync += held_b.eq(b)
        return m

    def _block(self, m: Module) -> None:
        """SB_MAC16: see Lattice FPGA-TN-02007, 8 x 8 multipliers with all registers but the last.

        Operands are registered at the inputs (B of the block, the one with a hold of its own, has
        what stays), products in the pipeline registers of the two 8 x 8 multipliers.
        """
        products = Signal(32)
        zeros = {f"i_{name}": Const(0) for name in (
            "AHOLD", "IRSTTOP", "IRSTBOT", "ORSTTOP", "ORSTBOT", "OLOADTOP", "OLOADBOT",
            "ADDSUBTOP", "ADDSUBBOT", "OHOLDTOP", "OHOLDBOT", "CI", "ACCUMCI", "SIGNEXTIN",
            "CHOLD", "DHOLD")}
        m.submodules.block = Instance(
            "SB_MAC16", p_A_REG=1, p_B_REG=1, p_C_REG=0, p_D_REG=0,
            p_TOP_8x8_MULT_REG=1, p_BOT_8x8_MULT_REG=1, p_PIPELINE_16x16_MULT_REG1=0,
            p_PIPELINE_16x16_MULT_REG2=0, p_TOPOUTPUT_SELECT=2, p_BOTOUTPUT_SELECT=2,
            p_MODE_8x8=1, p_A_SIGNED=1, p_B_SIGNED=1,
            i_CLK=ClockSignal(), i_CE=Const(1), i_A=Cat(self.a0, self.a1),
            i_B=Cat(self.b0, self.b1), i_BHOLD=~self.take_b, i_C=Const(0, 16), i_D=Const(0, 16),
            **zeros, o_O=products)
        m.d.comb += [self.p0.eq(products[:16]), self.p1.eq(products[16:])]
