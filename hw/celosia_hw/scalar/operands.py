"""The register file, and the instruction whose operands are read out of it."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia_hw.commands import CAUSE_BITS
from celosia_hw.scalar.decode import Decoder
from celosia_hw.scalar.encoding import word_layout

__all__ = ["OperandRead"]


class OperandRead(wiring.Component):
    """Holds an instruction; puts the value of a register into each operand that names one, while
    the instruction is decoded as it was fetched.

    After ``start`` the registers are cleared, one a cycle, which takes NUM_REGISTERS cycles: they
    are written with ``data``, which must be 0 then.

    Members
    -------
    start : In(1)
        Of a run that is to come; the held instruction becomes 0.
    take : In(1), word : In(word_layout())
        Hold the next instruction; only when ``cleared``.
    read : In(1)
        Read the next operand that names a register, if there is one.
    held : Out(word_layout())
        The instruction; its operands are values once ``more`` has been low in a cycle of ``read``.
    more : Out(1)
        Operands are left for the cycles after this one.
    weights : In(1)
        The instruction loads a weight tile; from then on the run has one.
    illegal : Out
        A fault that the decoder finds, known with the operands.
    cleared : Out(1), clearing : Out
        Whether all registers are cleared; which one is, otherwise.
    write : In(1), rd : In, data : In(32)
        Write a register; only when ``cleared``.
    """

    start: Signal
    take: Signal
    word: data.View
    read: Signal
    held: data.View
    more: Signal
    weights: Signal
    illegal: Signal
    cleared: Signal
    clearing: Signal
    write: Signal
    rd: Signal
    data: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        index = ceil_log2(isa.NUM_REGISTERS)
        super().__init__({
            "start": In(1), "take": In(1), "word": In(word_layout()), "read": In(1),
            "held": Out(word_layout()), "more": Out(1), "weights": In(1),
            "illegal": Out(CAUSE_BITS), "cleared": Out(1), "clearing": Out(index),
            "write": In(1), "rd": In(index), "data": In(32),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.registers = registers = memory.Memory(
            shape=32, depth=isa.NUM_REGISTERS, init=[])
        get, put = registers.read_port(domain="comb"), registers.write_port()
        held = Signal(word_layout(), reset_less=True)
        m.submodules.decoder = decoder = Decoder(self._config)
        illegal, fresh = Signal.like(self.illegal, reset_less=True), Signal()
        weights = Signal()
        with m.If(self.start):
            m.d.sync += weights.eq(0)
        with m.Elif(self.weights):
            m.d.sync += weights.eq(1)
        m.d.comb += [decoder.word.eq(held), decoder.weights.eq(weights),
                     self.illegal.eq(illegal)]
        m.d.sync += fresh.eq(self.take)
        with m.If(fresh):
            m.d.sync += illegal.eq(decoder.fault)

        cleared = Signal(len(self.clearing) + 1, init=isa.NUM_REGISTERS)  # registers
        m.d.comb += [
            self.held.eq(held), self.cleared.eq(cleared[-1]), self.clearing.eq(cleared),
            put.en.eq(self.write | ~self.cleared),
            put.addr.eq(Mux(self.cleared, self.rd, self.clearing)), put.data.eq(self.data),
        ]
        with m.If(self.start):
            m.d.sync += cleared.eq(0)
        with m.Elif(~self.cleared):
            m.d.sync += cleared.eq(cleared + 1)

        # Operands that are left; the first of them.
        pending, first = Signal(isa.NUM_OPERANDS), Signal(isa.NUM_OPERANDS)
        left = Mux(self.take, self.word.regmask, pending & ~first)
        m.d.comb += self.more.eq((pending & ~first).any())
        with m.If(self.take | self.read):
            m.d.sync += [pending.eq(left), first.eq(Cat(
                left[i] & ~left[:i].any() for i in range(isa.NUM_OPERANDS)))]
        for i in range(isa.NUM_OPERANDS):
            with m.If(first[i]):
                m.d.comb += get.addr.eq(held.operands[i])
        with m.If(self.start):
            m.d.sync += held.as_value().eq(0)
        with m.Elif(self.take):
            m.d.sync += held.eq(self.word)
        with m.Elif(self.read):
            for i in range(isa.NUM_OPERANDS):
                with m.If(first[i]):
                    m.d.sync += held.operands[i].eq(get.data)
        return m
