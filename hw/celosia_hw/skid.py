"""A buffer that cuts the path of ``ready`` through a stream."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["SkidBuffer"]


class SkidBuffer(wiring.Component):
    """Holds the element that was on its way when the consumer stopped.

    ``i.ready`` comes out of a flip-flop; ``o`` is ``i`` until the consumer stops. One element a
    cycle, no latency.

    Parameters
    ----------
    shape
        Shape of an element.

    Members
    -------
    i : In(stream)
    o : Out(stream)
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, shape):
        self._shape = shape
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        full = Signal()
        held = Signal(self._shape, reset_less=True)
        payload = Value.cast(self.o.payload)
        m.d.comb += [
            self.i.ready.eq(~full), self.o.valid.eq(self.i.valid | full),
            payload.eq(Mux(full, Value.cast(held), Value.cast(self.i.payload))),
        ]
        with m.If(self.o.ready):
            m.d.sync += full.eq(0)
        with m.Elif(self.i.valid & ~full):
            m.d.sync += [full.eq(1), held.eq(self.i.payload)]
        return m
