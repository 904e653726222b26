"""The loop stack: counted loops without overhead."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia_hw.scalar.encoding import BLOCK, PC_BITS

__all__ = ["LoopStack"]


class LoopStack(wiring.Component):
    """Up to LOOP_DEPTH nested loops of (start, end, iterations left).

    ``at_end`` tells whether ``pc``, the next instruction, was the end of the innermost loop in the
    cycle before, ``again`` and ``start`` what this loop was then; ``step`` either repeats
    (``again``: the next instruction is ``start``) or pops the loop, and the new innermost loop is
    to be looked at with the same ``pc``. All three come out of registers.

    Members
    -------
    clear : In(1)
        Forget all loops.
    push : In(1), new_end, new_count : In(32)
        Enter a loop that starts at ``pc``, of one instruction at least; never when ``full``.
        ``new_end`` and ``pc`` were the same in the cycle before.
    pc : In(32)
    at_end, again : Out(1), start : Out(32)
    step : In(1)
    full : Out(1)
    keep_valid : Out(1), keep : Out(32)
        Start of the outermost loop whose body fits into the instruction buffer.
    """

    clear: Signal
    push: Signal
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
            "clear": In(1), "push": In(1), "new_end": In(PC_BITS), "new_count": In(32),
            "pc": In(PC_BITS), "at_end": Out(1), "again": Out(1), "start": Out(PC_BITS),
            "step": In(1), "full": Out(1), "keep_valid": Out(1), "keep": Out(PC_BITS),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        # Where a loop lies, and how often it still runs: two memories, for only the count changes.
        place = data.StructLayout({"start": PC_BITS, "end": PC_BITS})
        m.submodules.places = places = memory.Memory(shape=place, depth=isa.LOOP_DEPTH, init=[])
        m.submodules.counts = counts = memory.Memory(shape=32, depth=isa.LOOP_DEPTH, init=[])
        put, top = places.write_port(), places.read_port(domain="comb")
        count, left = counts.write_port(), counts.read_port(domain="comb")
        depth = Signal(range(isa.LOOP_DEPTH + 1))
        inner = (depth - 1)[:len(top.addr)]
        m.d.comb += [
            self.full.eq(depth == isa.LOOP_DEPTH),
            top.addr.eq(inner), left.addr.eq(inner),
            put.addr.eq(depth), put.en.eq(self.push),
            put.data.start.eq(self.pc), put.data.end.eq(self.new_end),
            count.addr.eq(Mux(self.push, depth, inner)),
            count.data.eq(Mux(self.push, self.new_count, left.data - 1)),
            count.en.eq(self.push | (self.step & self.again)),
        ]
        # No loop that is entered ends where it starts.
        m.d.sync += [self.at_end.eq((depth != 0) & (self.pc == top.data.end) & ~self.push),
                     self.start.eq(top.data.start), self.again.eq(left.data != 1)]
        with m.If(self.clear):
            m.d.sync += depth.eq(0)
        with m.Elif(self.push):
            m.d.sync += depth.eq(depth + 1)
        with m.Elif(self.step & ~self.again):
            m.d.sync += depth.eq(depth - 1)

        # The outermost loop that fits stays the same until it is popped. A body of the ring's
        # length less a block fits wherever it starts in its block.
        length = Signal(PC_BITS + 1)
        level = Signal.like(depth, reset_less=True)  # depth within that loop
        m.d.sync += length.eq(self.new_end - self.pc)
        with m.If(self.clear):
            m.d.sync += self.keep_valid.eq(0)
        with m.Elif(self.push & ~self.keep_valid & (length[:PC_BITS] <= self._config.ibuf - BLOCK)
                    & ~length[-1]):
            m.d.sync += [self.keep_valid.eq(1), self.keep.eq(self.pc), level.eq(depth + 1)]
        with m.Elif(depth < level):
            m.d.sync += self.keep_valid.eq(0)
        return m
