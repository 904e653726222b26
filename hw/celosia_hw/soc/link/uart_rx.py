"""From a serial line to bytes."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from celosia.arch.link import LinkConfig

__all__ = ["UartReceiver"]


class UartReceiver(wiring.Component):
    """Bytes of an asynchronous line: one start bit, 8 data bits (lowest first), one stop bit.

    The line passes a synchroniser and a majority of its last three cycles, so that a spike of
    one cycle is not seen; bits are sampled in their middle. A start bit that is gone by its middle
    is no start bit; a byte whose stop bit is missing is dropped, and the line must be high before
    the next one. The sender's bits may be 3 % too long or short where a bit has 8 cycles or more,
    1.5 % below.

    Members
    -------
    line : In(1)
        High when idle; of any clock.
    valid : Out(1)
        High for one cycle: ``data`` is a byte. It must be taken in this cycle.
    data : Out(8)
    """

    line: Signal
    valid: Signal
    data: Signal

    def __init__(self, link: LinkConfig):
        self._link = link
        super().__init__({
            "line": In(1, init=1),  # type: ignore[call-arg]
            "valid": Out(1), "data": Out(8),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        period, unit = self._link.period, self._link.unit
        now, before = Signal(init=1), Signal(2, init=0b11)
        line = Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.line, now, init=1)
        m.d.sync += before.eq(Cat(now, before[0]))
        m.d.comb += line.eq((now & before.any()) | before.all())

        # Time since the last sample, in fractions of a cycle, so that no error adds up.
        time = Signal(range(period + unit))
        sample = Signal()
        bits = Signal(4)
        m.d.comb += sample.eq(time >= period - unit)
        m.d.sync += self.valid.eq(0)

        with m.FSM():
            with m.State("IDLE"):
                # The edge was, on average, half a cycle before it was seen.
                m.d.sync += [time.eq(period // 2 + unit // 2), bits.eq(0)]
                with m.If(~line):
                    m.next = "BITS"
            with m.State("BITS"):
                m.d.sync += time.eq(time + unit)
                with m.If(sample):
                    m.d.sync += [time.eq(time + unit - period), bits.eq(bits + 1)]
                    with m.If(bits == 0):
                        with m.If(line):
                            m.next = "IDLE"
                    with m.Elif(bits < 9):
                        m.d.sync += self.data.eq(Cat(self.data[1:], line))
                    with m.Else():
                        m.d.sync += self.valid.eq(line)
                        m.next = "IDLE"
                        with m.If(~line):
                            m.next = "BREAK"
            with m.State("BREAK"):
                with m.If(line):
                    m.next = "IDLE"
        return m
