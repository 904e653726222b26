"""Arithmetic and branch conditions of the scalar unit."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.isa import Opcode

__all__ = ["Alu"]


class Alu(wiring.Component):
    """32-bit operations of the ISA. Combinational, but for ``product``, which is a cycle late.

    Members
    -------
    opcode : In(6)
    a, b : In(32)
    result : Out(32)
        Result of mov, add, sub, and, or, xor, shl, shr, sar, slt, sltu.
    product : Out(32)
        a * b mod 2**32 of the cycle before.
    taken : Out(1)
        Condition of a branch; 1 for jump.
    """

    opcode: Signal
    a: Signal
    b: Signal
    result: Signal
    product: Signal
    taken: Signal

    def __init__(self):
        super().__init__({
            "opcode": In(6), "a": In(32), "b": In(32), "result": Out(32), "product": Out(32),
            "taken": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        a, b = self.a, self.b
        less, less_unsigned, equal = Signal(), Signal(), Signal()
        m.d.comb += [
            less.eq(a.as_signed() < b.as_signed()), less_unsigned.eq(a < b), equal.eq(a == b)]
        results = {
            Opcode.MOV: a, Opcode.ADD: a + b, Opcode.SUB: a - b, Opcode.AND: a & b,
            Opcode.OR: a | b, Opcode.XOR: a ^ b, Opcode.SHL: a << b[:5], Opcode.SHR: a >> b[:5],
            Opcode.SAR: a.as_signed() >> b[:5], Opcode.SLT: less, Opcode.SLTU: less_unsigned,
        }
        taken = {
            Opcode.JUMP: 1, Opcode.BEQ: equal, Opcode.BNE: ~equal, Opcode.BLT: less,
            Opcode.BGE: ~less, Opcode.BLTU: less_unsigned, Opcode.BGEU: ~less_unsigned,
        }
        with m.Switch(self.opcode):
            for opcode, value in results.items():
                with m.Case(int(opcode)):
                    m.d.comb += self.result.eq(value)
            for opcode, value in taken.items():
                with m.Case(int(opcode)):
                    m.d.comb += self.taken.eq(value)
        with m.If(self.opcode == Opcode.MUL):
            m.d.sync += self.product.eq(a * b)
        return m
