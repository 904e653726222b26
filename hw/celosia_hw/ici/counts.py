"""What the host can read of a port."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.registers import LINK_COUNTERS

__all__ = ["LinkCounts", "link_counts_layout"]

_BITS = 32


def link_counts_layout() -> data.ArrayLayout:
    """Counters in the order of LINK_COUNTERS."""
    return data.ArrayLayout(_BITS, len(LINK_COUNTERS))


class LinkCounts(wiring.Component):
    """Counts what happens at a port, since a reset, modulo 2**32.

    Members
    -------
    events : In
        A bit for each of LINK_COUNTERS: it happens in this cycle.
    counts : Out(link_counts_layout())
        Up to the cycle before the last one.
    """

    events: Signal
    counts: data.View

    def __init__(self):
        super().__init__({"events": In(len(LINK_COUNTERS)), "counts": Out(link_counts_layout())})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        happens = Signal.like(self.events)
        m.d.sync += happens.eq(self.events)
        counters = [Signal(_BITS, name=name) for name in LINK_COUNTERS]
        for tick, counter in zip(happens, counters, strict=True):
            with m.If(tick):
                m.d.sync += counter.eq(counter + 1)
        m.d.comb += self.counts.as_value().eq(Cat(counters))
        return m
