"""The loop stack: counted loops without overhead."""

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia_hw.scalar.encoding import BLOCK, PC_BITS

__all__ = ["LoopStack"]


class LoopStack(wiring.Component):
    """Up to LOOP_DEPTH nested loops of (start, end, iterations left).

    ``at_end`` compares ``pc``, the next instruction, with the end of the innermost loop; then
    ``step`` either repeats (``again``: the next instruction is ``start``) or pops the loop, and the
    new innermost loop is to be looked at with the same ``pc``.

    Members
    -------
    clear : In(1)
        Forget all loops.
    push : In(1), new_start, new_end, new_count : In(32)
        Enter a loop; ignored when ``full``.
    pc : In(32)
    at_end, again : Out(1), start : Out(32)
    step : In(1)
    full : Out(1)
    keep_valid : Out(1), keep : Out(32)
        Start of the outermost loop whose body fits into the instruction buffer.
    """

    clear: Signal
    push: Signal
    new_start: Signal
    new_end: Signal
    new_count: Signal
    pc: Signal
    at_end: Signal
    again: Signal
    start: Signal
    step: Signal
    full: Signal
    keep_valid: Signal
    keep: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "clear": In(1), "push": In(1), "new_start": In(PC_BITS), "new_end": In(PC_BITS),
            "new_count": In(32), "pc": In(PC_BITS), "at_end": Out(1), "again": Out(1),
            "start": Out(PC_BITS), "step": In(1), "full": Out(1), "keep_valid": Out(1),
            "keep": Out(PC_BITS),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        layout = data.StructLayout({
            "start": PC_BITS, "end": PC_BITS, "count": 32, "fits": 1})
        entries = Array(Signal(layout, name=f"loop{i}", reset_less=True)
                        for i in range(isa.LOOP_DEPTH))
        depth = Signal(range(isa.LOOP_DEPTH + 1))
        top = Signal(layout)
        m.d.comb += [
            top.eq(entries[depth - 1]),
            self.full.eq(depth == isa.LOOP_DEPTH),
            self.at_end.eq((depth != 0) & (self.pc == top.end)),
            self.again.eq(top.count != 1),
            self.start.eq(top.start),
        ]
        # A body of the ring's length less a block fits wherever it starts in its block.
        length = Signal(PC_BITS)
        m.d.comb += length.eq(self.new_end - self.new_start)
        fits = (length <= self._config.ibuf - BLOCK) & (self.new_end > self.new_start)
        with m.If(self.clear):
            m.d.sync += depth.eq(0)
        with m.Elif(self.push & ~self.full):
            m.d.sync += [
                entries[depth].start.eq(self.new_start), entries[depth].end.eq(self.new_end),
                entries[depth].count.eq(self.new_count), entries[depth].fits.eq(fits),
                depth.eq(depth + 1),
            ]
        with m.Elif(self.step):
            with m.If(self.again):
                m.d.sync += entries[depth - 1].count.eq(top.count - 1)
            with m.Else():
                m.d.sync += depth.eq(depth - 1)
        for i in reversed(range(isa.LOOP_DEPTH)):
            with m.If((depth > i) & entries[i].fits):
                m.d.comb += [self.keep_valid.eq(1), self.keep.eq(entries[i].start)]
        return m
