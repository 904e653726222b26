"""The spans of rows that an instruction touches, and whether it may."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Mem
from celosia_hw.commands import CAUSE_BITS
from celosia_hw.scalar.conflicts import span_layout
from celosia_hw.scalar.encoding import reaches
from celosia_hw.scalar.streams import STREAMS
from celosia_hw.scalar.sums import ADDRESS_BITS, summed_layout

__all__ = ["SpanTable"]


class SpanTable(wiring.Component):
    """Collects the spans of streams as their sums arrive, the destination first.

    Members
    -------
    clear : In(1)
        Another instruction comes.
    valid : In(1), i : In(summed_layout()), last : In(32), over : In(1)
        A stream, and its last address; it is larger.
    spans : Out(ArrayLayout(span_layout, STREAMS))
    fault : Out
        The first stream that leaves its memory: ``ACC_RANGE`` or ``UB_RANGE``, else ``NONE``.
    leaves : Out(1)
        Such a stream has arrived, now or before.
    faulty : Out(1)
        A stream leaves its memory, or a source overlaps the destination in a way that it may not;
        out of a flip-flop.
    """

    clear: Signal
    valid: Signal
    i: data.View
    last: Signal
    over: Signal
    spans: data.View
    fault: Signal
    leaves: Signal
    faulty: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "clear": In(1), "valid": In(1), "i": In(summed_layout(config)),
            "last": In(ADDRESS_BITS), "over": In(1),
            "spans": Out(data.ArrayLayout(span_layout(config), STREAMS)),
            "fault": Out(CAUSE_BITS), "leaves": Out(1), "faulty": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config, stream, last = self._config, self.i, self.last
        spans = [Signal(span_layout(config), name=f"span{i}", reset_less=True)
                 for i in range(STREAMS)]
        target = spans[0]
        fault = Signal.like(self.fault, reset_less=True)
        outside = ~stream.external & (self.over | Mux(
            stream.mem == Mem.ACC, reaches(last, config.acc_rows), reaches(last, config.ub_rows)))
        m.d.comb += [self.leaves.eq((self.valid & outside) | (fault != Fault.NONE)),
                     self.fault.eq(fault),
                     *(self.spans[i].eq(span) for i, span in enumerate(spans))]
        with m.If(self.valid):
            for i, span in enumerate(spans):
                with m.If(stream.index == i):
                    m.d.sync += [span.used.eq(~stream.external), span.mem.eq(stream.mem),
                                 span.low.eq(stream.base), span.high.eq(last)]
            with m.If(outside):
                m.d.sync += self.faulty.eq(1)
            with m.If(outside & (fault == Fault.NONE)):
                m.d.sync += fault.eq(Mux(stream.mem == Mem.ACC, Fault.ACC_RANGE, Fault.UB_RANGE))
            with m.If(stream.stream & (stream.mem == target.mem) & (stream.base <= target.high)
                      & (target.low <= last[:len(target.low)])
                      & ~(stream.same_step & (stream.base == target.low))):
                m.d.sync += self.faulty.eq(1)
        with m.If(self.clear):
            m.d.sync += [fault.eq(Fault.NONE), self.faulty.eq(0),
                         *(span.used.eq(0) for span in spans)]
        return m
