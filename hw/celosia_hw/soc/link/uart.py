"""A serial line: one start bit, 8 data bits (lowest first), one stop bit."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from celosia.arch.link import LinkConfig

__all__ = ["UartReceiver", "UartTransmitter"]


class UartReceiver(wiring.Component):
    """Bytes of an asynchronous line.

    A spike of one cycle is not seen; bits are sampled in their middle. A start bit that is gone by
    its middle is none; a byte without a stop bit is dropped, and the line must be high before the
    next one. The sender's bits may be 3 % too long or short where a bit has 8 cycles or more, 1.5 %
    below.

    Members
    -------
    line : In(1)
        High when idle; of any clock.
    valid : Out(1)
        High for one cycle: ``data`` is a byte.
    data : Out(8)
        A shift register: with ``shift``, a bit of the next byte enters it, and bit ``number`` of
        the byte before, ``data[0]``, leaves.
    shift : Out(1), number : Out(3)
    """

    line: Signal
    valid: Signal
    data: Signal
    shift: Signal
    number: Signal

    def __init__(self, link: LinkConfig):
        self._link = link
        super().__init__({
            "line": In(1, init=1),  # type: ignore[call-arg]
            "valid": Out(1), "data": Out(8), "shift": Out(1), "number": Out(3),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        period, unit = self._link.period, self._link.unit
        now, before, line = Signal(init=1), Signal(2, init=0b11), Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.line, now, init=1)
        m.d.sync += before.eq(Cat(now, before[0]))
        m.d.comb += line.eq((now & before.any()) | before.all())  # as most of three cycles have it
        # Until the next sample, in fractions of a cycle, so that no error adds up; below 0: now.
        time, sample, bits = Signal(range(-unit, period)), Signal(), Signal(4)
        m.d.comb += [sample.eq(time < 0), self.number.eq(bits - 1)]
        m.d.sync += self.valid.eq(0)
        with m.FSM():
            with m.State("IDLE"):
                # The edge was, on average, half a cycle before it was seen.
                m.d.sync += [time.eq(period - period // 2 - unit - unit // 2 - 1), bits.eq(0)]
                with m.If(~line):
                    m.next = "BITS"
            with m.State("BITS"):
                m.d.sync += time.eq(time + Mux(sample, period - unit, -unit))
                with m.If(sample):
                    m.d.sync += bits.eq(bits + 1)
                    with m.If(bits == 0):
                        with m.If(line):
                            m.next = "IDLE"
                    with m.Elif(bits < 9):
                        m.d.comb += self.shift.eq(1)
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


class UartTransmitter(wiring.Component):
    """Sends bytes, with no gap between them.

    Members
    -------
    i : In(stream of 8 bits)
        Taken at the end of a bit's time only.
    line : Out(1)
        High when idle; out of a flip-flop.
    shift : Out(1), bit : Out(1), number : Out(3)
        Bit ``number`` of the byte, ``bit``, is on the line from the next cycle on.
    """

    i: stream.Interface
    line: Signal
    shift: Signal
    bit: Signal
    number: Signal

    def __init__(self, link: LinkConfig):
        self._link = link
        super().__init__({
            "i": In(stream.Signature(8)),
            "line": Out(1, init=1),  # type: ignore[call-arg]
            "shift": Out(1), "bit": Out(1), "number": Out(3),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        period, unit = self._link.period, self._link.unit
        time = Signal(range(-unit, period))  # until a bit ends, in fractions of a cycle
        bits = Signal(9, init=(1 << 9) - 1)  # the one on the line is the lowest
        left, edge = Signal(4), Signal()  # bits to come, the stop bit too; a bit ends
        m.d.sync += time.eq(time + Mux(edge, period - unit, -unit))
        m.d.comb += [
            edge.eq(time < 0), self.line.eq(bits[0]), self.i.ready.eq(edge & (left == 0)),
            self.shift.eq(edge & (left > 1)), self.bit.eq(bits[1]), self.number.eq(9 - left),
        ]
        with m.If(edge):
            with m.If(left != 0):
                m.d.sync += [left.eq(left - 1), bits.eq(Cat(bits[1:], 1))]
            with m.Elif(self.i.valid):
                m.d.sync += [left.eq(9), bits.eq(Cat(0, self.i.payload))]
        return m
