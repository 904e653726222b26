"""From bytes to a serial line."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.link import LinkConfig

__all__ = ["UartTransmitter"]


class UartTransmitter(wiring.Component):
    """Sends bytes: one start bit, 8 data bits (lowest first), one stop bit; no gap between bytes.

    Members
    -------
    i : In(stream of 8 bits)
    line : Out(1)
        High when idle; out of a flip-flop.
    """

    i: stream.Interface
    line: Signal

    def __init__(self, link: LinkConfig):
        self._link = link
        super().__init__({
            "i": In(stream.Signature(8)),
            "line": Out(1, init=1),  # type: ignore[call-arg]
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        period, unit = self._link.period, self._link.unit
        time = Signal(range(period + unit))
        bits = Signal(10, init=(1 << 10) - 1)  # the one on the line is the lowest
        left = Signal(range(11))
        edge = Signal()
        m.d.comb += [
            self.line.eq(bits[0]), edge.eq(time >= period - unit),
            self.i.ready.eq((left == 0) | ((left == 1) & edge)),
        ]
        with m.If(left != 0):
            m.d.sync += time.eq(time + unit)
            with m.If(edge):
                m.d.sync += [time.eq(time + unit - period), left.eq(left - 1),
                             bits.eq(Cat(bits[1:], 1))]
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += [bits.eq(Cat(0, self.i.payload, 1)), left.eq(10)]
            with m.If(left == 0):
                m.d.sync += time.eq(0)
        return m
