"""A queue of two, between the command port and the parts of the MXU."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Queue"]


class Queue(wiring.Component):
    """Holds up to two items. Latency one cycle, throughput one a cycle; empty after a reset."""

    i: stream.Interface
    o: stream.Interface

    def __init__(self, shape):
        self._shape = shape
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        first = Signal(self._shape, reset_less=True)
        second = Signal(self._shape, reset_less=True)
        has_first, has_second = Signal(), Signal()
        push, room = Signal(), Signal()  # room: the first place is free in the next cycle
        m.d.comb += [
            self.i.ready.eq(~has_second), push.eq(self.i.valid & ~has_second),
            self.o.valid.eq(has_first), self.o.payload.eq(first),
            room.eq(~has_first | self.o.ready),
        ]
        with m.If(room):
            m.d.sync += [has_first.eq(has_second | push), has_second.eq(0)]
            with m.If(has_second):
                m.d.sync += first.eq(second)
            with m.Elif(push):
                m.d.sync += first.eq(self.i.payload)
        with m.Elif(push):
            m.d.sync += [has_second.eq(1), second.eq(self.i.payload)]
        return m
