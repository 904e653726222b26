"""A short first-in first-out queue of streams."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

__all__ = ["Queue"]


class Queue(wiring.Component):
    """First-in first-out queue of ``depth`` elements.

    An element accepted in one cycle is offered from the next one on. One element a cycle both
    ways; ``i.ready`` and ``o.valid`` come out of flip-flops, so a queue of two cuts every path
    between its sides.

    Parameters
    ----------
    shape
        Shape of an element.
    depth
        Elements it holds: a power of two, at least 2.

    Members
    -------
    i : In(stream)
    o : Out(stream)
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, shape, depth: int):
        if depth < 2 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two, at least 2, not {depth!r}")
        self._shape = shape
        self._depth = depth
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.memory = memory = Memory(shape=self._shape, depth=self._depth, init=[])
        write = memory.write_port()
        read = memory.read_port(domain="comb")
        put, get = Signal(range(self._depth)), Signal(range(self._depth))
        full, some = Signal(), Signal()
        more, fewer = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(~full), self.o.valid.eq(some),
            more.eq(self.i.valid & ~full), fewer.eq(some & self.o.ready),
            write.addr.eq(put), write.data.eq(self.i.payload), write.en.eq(more),
            read.addr.eq(get), self.o.payload.eq(read.data),
        ]
        with m.If(more):
            m.d.sync += put.eq(put + 1)
        with m.If(fewer):
            m.d.sync += get.eq(get + 1)
        with m.If(more & ~fewer):
            m.d.sync += [some.eq(1), full.eq((put + 1)[:len(put)] == get)]
        with m.Elif(fewer & ~more):
            m.d.sync += [full.eq(0), some.eq((get + 1)[:len(get)] != put)]
        return m
