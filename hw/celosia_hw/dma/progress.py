"""How far loads have come, for the matrix unit, which follows them row by row."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.follow import FOLLOWED, coming_layout
from celosia_hw.memory.ports import row_bits
from celosia_hw.stream import Queue

__all__ = ["LoadProgress"]


class LoadProgress(wiring.Component):
    """Keeps what the oldest loads have not written yet.

    Parameters
    ----------
    depth
        Loads that may be under way.

    Members
    -------
    taken : In(1), follow : In(1), row, rows : In
        A load is taken: whether its rows rise, its first row and their number.
    done : In(1)
        The oldest load has written its last row, in a cycle before.
    wrote : In(1)
        The oldest load, without the one that is ``done``, writes a row.
    coming : Out(coming_layout)
        Of the oldest loads, two cycles after they were taken; a row is none of it in the cycle
        after it was written.
    """

    taken: Signal
    follow: Signal
    row: Signal
    rows: Signal
    wrote: Signal
    done: Signal
    coming: data.View

    def __init__(self, config: TpuConfig, depth: int):
        self._coming, self._depth = coming_layout(config), depth
        bits = row_bits(config)
        super().__init__({
            "taken": In(1), "follow": In(1), "row": In(bits), "rows": In(bits), "wrote": In(1),
            "done": In(1), "coming": Out(self._coming),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        layout = self._coming.elem_shape
        m.submodules.queue = queue = Queue(layout, self._depth)
        # Places of the oldest loads; an empty one takes what is behind it, a cycle later.
        spans: list[Any] = [Signal(layout, name=f"span{i}") for i in range(FOLLOWED)]
        held = Signal(FOLLOWED)
        new = queue.i.payload
        m.d.comb += [
            queue.i.valid.eq(self.taken), new.valid.eq(self.follow), new.low.eq(self.row),
            new.high.eq(self.row + self.rows - 1),
            *(self.coming[i].eq(span) for i, span in enumerate(spans)),
        ]
        with m.If(self.wrote & held[0]):
            m.d.sync += spans[0].low.eq(spans[0].low + 1)
        leaves = self.done
        behind = [*zip(held[1:], spans[1:], strict=True), (queue.o.valid, queue.o.payload)]
        for i, (span, (valid, source)) in enumerate(zip(spans, behind, strict=True)):
            free = Signal(name=f"free{i}")
            m.d.comb += free.eq(~held[i] | leaves)
            with m.If(free):
                m.d.sync += [held[i].eq(valid), span.eq(source),
                             span.valid.eq(valid & source.valid)]
            leaves = free
        with m.If(self.done):
            m.d.sync += spans[0].low.eq(spans[1].low + self.wrote)
        m.d.comb += queue.o.ready.eq(leaves)
        return m
