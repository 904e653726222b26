"""The order of a unit's instructions in the window of the scoreboard."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

__all__ = ["UnitOrder"]


class UnitOrder(wiring.Component):
    """The slots of a unit's instructions, in order, in a ring as long as the window.

    Parameters
    ----------
    window
        Slots of the scoreboard.
    count
        How many of the oldest are told.

    Members
    -------
    enter : In(1), slot : In
        An instruction of the unit enters that slot.
    done : In(1)
        The oldest one has finished.
    number : In, numbered : Out
        The slot of the instruction of that number, modulo the window, since reset. Combinational.
    oldest : Out
        Slots of the oldest ones, out of registers. A place that no instruction of the unit is in
        holds an old slot.
    first : Out(window)
        The bit of the first of these, out of registers: much hangs on that it has finished.
    """

    enter: Signal
    slot: Signal
    done: Signal
    number: Signal
    numbered: Signal
    oldest: list[Signal]
    first: Signal

    def __init__(self, window: int, count: int = 1):
        self._window = window
        bits = ceil_log2(window)
        super().__init__({
            "enter": In(1), "slot": In(bits), "done": In(1), "number": In(bits),
            "numbered": Out(bits), "oldest": Out(bits).array(count), "first": Out(window)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.ring = ring = memory.Memory(
            shape=self.slot.shape(), depth=self._window, init=[])
        put, then = ring.write_port(), ring.read_port(domain="comb")
        entered, first = Signal.like(self.number), Signal.like(self.number)
        m.d.comb += [put.addr.eq(entered), put.data.eq(self.slot), put.en.eq(self.enter),
                     then.addr.eq(self.number), self.numbered.eq(then.data)]
        for k, slot in enumerate(self.oldest):
            get = ring.read_port(domain="comb")
            m.d.comb += get.addr.eq(Mux(self.done, first + k + 1, first + k))
            becomes = Mux(put.en & (put.addr == get.addr), put.data, get.data)
            m.d.sync += slot.eq(becomes)
            if k == 0:
                m.d.sync += self.first.eq(1 << becomes)
        with m.If(self.enter):
            m.d.sync += entered.eq(entered + 1)
        with m.If(self.done):
            m.d.sync += first.eq(first + 1)
        return m
