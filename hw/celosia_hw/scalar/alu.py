"""Arithmetic and branch conditions of the scalar unit."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.isa import OPCODE_BITS, Opcode

__all__ = ["Alu"]

#: Bits of a shift that the second cycle does; the first does the rest.
FINE = 3
#: Of the instructions that have a sum or a difference all but ``add`` have one of these bits.
_SUBTRACTS = (Opcode.SUB | Opcode.BEQ) & ~Opcode.ADD


class Alu(wiring.Component):
    """32-bit operations of the ISA.

    Members
    -------
    opcode : In
    a, b : In(32)
    result : Out(32)
        Result of mov, add, sub, and, or, xor. Combinational.
    pipelined : Out(32)
        a * b mod 2**32, the shift (shl, shr, sar) or the comparison (slt, sltu) of the cycle
        before.
    pass_valid : In(1), passed : In(32)
        Shift ``passed`` by nothing, instead of a shift.
    taken : Out(1)
        Condition of a branch in the cycle before.
    """

    opcode: Signal
    a: Signal
    b: Signal
    result: Signal
    pipelined: Signal
    pass_valid: Signal
    passed: Signal
    taken: Signal

    def __init__(self):
        super().__init__({
            "opcode": In(OPCODE_BITS), "a": In(32), "b": In(32), "result": Out(32),
            "pipelined": Out(32), "pass_valid": In(1), "passed": In(32), "taken": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        a, b, opcode = self.a, self.b, self.opcode
        subtract, total = Signal(), Signal(33)
        m.d.comb += [
            subtract.eq((opcode & _SUBTRACTS).any()),
            # One carry chain adds and subtracts: the carry goes in below bit 0.
            total.eq((Cat(subtract, a) + Cat(subtract, b ^ subtract.replicate(32)))[1:34]),
        ]
        less, less_unsigned, equal = Signal(), Signal(), Signal()
        m.d.comb += [less_unsigned.eq(~total[32]), equal.eq(a == b),
                     less.eq(Mux(a[31] ^ b[31], a[31], less_unsigned))]
        bits = Signal(32)
        with m.Switch(opcode):
            for code, value in {Opcode.AND: a & b, Opcode.OR: a | b, Opcode.XOR: a ^ b}.items():
                with m.Case(int(code)):
                    m.d.comb += bits.eq(value)
            with m.Default():
                m.d.comb += bits.eq(a)
        m.d.comb += self.result.eq(bits)
        with m.Switch(opcode):
            with m.Case(int(Opcode.ADD), int(Opcode.SUB)):
                m.d.comb += self.result.eq(total)
        holds = {
            Opcode.SLT: less, Opcode.SLTU: less_unsigned, Opcode.BEQ: equal, Opcode.BNE: ~equal,
            Opcode.BLT: less, Opcode.BGE: ~less, Opcode.BLTU: less_unsigned,
            Opcode.BGEU: ~less_unsigned,
        }
        with m.Switch(opcode):
            for code, value in holds.items():
                with m.Case(int(code)):
                    m.d.sync += self.taken.eq(value)

        # Partial products, from the registers of the multipliers.
        products = [Signal(32, name=f"product{i}", reset_less=True) for i in range(3)]
        m.d.sync += [
            products[0].eq(a[:16] * b[:16]), products[1].eq(a[:16] * b[16:]),
            products[2].eq(a[16:] * b[:16]),
        ]
        product = Cat(products[0][:16],
                      (products[0][16:] + products[1][:16] + products[2][:16])[:16])

        # A shift left is one right, of the bits in reverse: first by whole octets, then the rest.
        left, fill = Signal(), Signal()
        m.d.comb += [left.eq(opcode == Opcode.SHL), fill.eq((opcode == Opcode.SAR) & a[31])]
        coarse, fine = Signal(32, reset_less=True), Signal(FINE, reset_less=True)
        back, sign = Signal(reset_less=True), Signal(reset_less=True)
        wide = Cat(Mux(left, a[::-1], a), fill.replicate(32))
        with m.If(self.pass_valid):
            m.d.sync += [coarse.eq(self.passed), fine.eq(0), back.eq(0)]
        with m.Else():
            m.d.sync += [
                coarse.eq(wide.bit_select(Cat(Const(0, FINE), b[FINE:5]), 32)),
                fine.eq(b[:FINE]), back.eq(left), sign.eq(fill),
            ]
        shifted = Signal(32)
        m.d.comb += [
            shifted.eq(Cat(coarse, sign.replicate(1 << FINE)).bit_select(fine, 32)),
            self.pipelined.eq(Mux(back, shifted[::-1], shifted)),
        ]
        with m.Switch(opcode):
            with m.Case(int(Opcode.MUL)):
                m.d.comb += self.pipelined.eq(product)
            with m.Case(int(Opcode.SLT), int(Opcode.SLTU)):
                m.d.comb += self.pipelined.eq(self.taken)
        return m
