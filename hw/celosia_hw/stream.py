"""What streams are made of: queues, skid buffers, delays, counts of what is on its way."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig

__all__ = ["HalfBuffer", "Queue", "SkidBuffer", "delayed", "outstanding", "shallow"]


class Queue(wiring.Component):
    """First-in first-out queue of ``depth`` elements.

    An element accepted in one cycle is offered from the next one on. One element a cycle both
    ways; ``i.ready`` and ``o.valid`` come out of flip-flops, so a queue of two cuts every path
    between its sides. Of such a queue the elements do so, too: no memory is on the way. A queue of
    one takes an element in the cycle in which its own leaves: ``i.ready`` follows ``o.ready``.

    Parameters
    ----------
    shape
        Shape of an element.
    depth
        Elements it holds: a power of two.

    Members
    -------
    i : In(stream)
    o : Out(stream)
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, shape, depth: int):
        if depth < 1 or depth & (depth - 1):
            raise ValueError(f"depth must be a power of two, not {depth!r}")
        self._shape = shape
        self._depth = depth
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if self._depth == 1:
            self._of_one(m)
        elif self._depth == 2:
            self._of_two(m)
        else:
            self._of_more(m)
        return m

    def _of_one(self, m: Module) -> None:
        head = Signal(self._shape, name="head", reset_less=True)
        some = Signal()
        m.d.comb += [self.i.ready.eq(~some | self.o.ready), self.o.valid.eq(some),
                     self.o.payload.eq(head)]
        with m.If(self.i.ready):
            m.d.sync += [head.eq(self.i.payload), some.eq(self.i.valid)]

    def _of_two(self, m: Module) -> None:
        head, behind = (Signal(self._shape, name=name, reset_less=True)
                        for name in ("head", "behind"))
        some, full = Signal(), Signal()
        m.d.comb += [self.i.ready.eq(~full), self.o.valid.eq(some), self.o.payload.eq(head)]
        with m.If(~some | self.o.ready):
            m.d.sync += [Value.cast(head).eq(Mux(full, Value.cast(behind),
                                                 Value.cast(self.i.payload))),
                         some.eq(full | self.i.valid), full.eq(0)]
        with m.Elif(~full):
            m.d.sync += full.eq(self.i.valid)
        with m.If(~full):
            m.d.sync += behind.eq(self.i.payload)

    def _of_more(self, m: Module) -> None:
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


class HalfBuffer(wiring.Component):
    """Holds one element, in flip-flops: cuts every path between its sides.

    An element accepted in one cycle is offered from the next one on, and the next one is accepted
    in the cycle after that in which it was taken: an element every other cycle.

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
        m.d.comb += [self.i.ready.eq(~full), self.o.valid.eq(full), self.o.payload.eq(held)]
        with m.If(~full):
            m.d.sync += [full.eq(self.i.valid), held.eq(self.i.payload)]
        with m.Elif(self.o.ready):
            m.d.sync += full.eq(0)
        return m


class SkidBuffer(wiring.Component):
    """Holds the element that was on its way when the consumer stopped.

    ``i.ready`` comes out of a flip-flop; ``o`` is ``i`` until the consumer stops. One element a
    cycle, no latency.

    Parameters
    ----------
    shape
        Shape of an element.
    holds
        Without, ``o`` is ``i``, and nothing is held.

    Members
    -------
    i : In(stream)
    o : Out(stream)
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, shape, *, holds: bool = True):
        self._shape, self._holds = shape, holds
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if not self._holds:
            wiring.connect(m, wiring.flipped(self.i), wiring.flipped(self.o))
            return m
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


def shallow(config: TpuConfig) -> int:
    """Depth of a queue that is there to cut paths: 2, or 1 of a chip that is ``small``."""
    return 1 if config.small else 2


def delayed(m: Module, value: Any, cycles: int, *, name: str, reset_less: bool = False,
            enables: Sequence[Any] | None = None) -> list[Any]:
    """Return ``value`` as it is, as it was a cycle ago, and so on up to ``cycles`` ago.

    Parameters
    ----------
    name
        Of the registers, with their number behind it.
    reset_less
        They are not reset.
    enables
        For each register, whether it takes a value in this cycle; without, all always do.
    """
    found = [value]
    for k in range(1, cycles + 1):
        register = Signal.like(value, name=f"{name}{k}", reset_less=reset_less)
        with m.If(1 if enables is None else enables[k - 1]):
            m.d.sync += register.eq(found[-1])
        found.append(register)
    return found


def outstanding(m: Module, starts: Any, ends: Any, limit: int, *, name: str) -> Signal:
    """Return how many have started and not ended, of at most ``limit``; both may be numbers."""
    count = Signal(range(limit + 1), name=name)
    m.d.sync += count.eq(count + starts - ends)
    return count
