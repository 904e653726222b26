"""Where a piece lies in its unit and in its on-chip row."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat
from celosia_hw.dma.split import formats, pieces_ratio, rows_layout

__all__ = ["PieceCounter"]


class PieceCounter(wiring.Component):
    """Counts the pieces of a unit or of an on-chip row, whichever has several.

    Members
    -------
    fmt : In, tail : In, row_last : In(1)
        Format in external memory; the piece at which an external row ends in its last on-chip row,
        and whether this is that row.
    step : In(1)
        Go on to the next piece.
    index : Out
        The number of the piece.
    unit_done, row_done : Out(1)
        It is the last piece of its unit, of its on-chip row.
    """

    fmt: Signal
    tail: Signal
    row_last: Signal
    step: Signal
    index: Signal
    unit_done: Signal
    row_done: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        most = max(max(pieces_ratio(config, fmt)) for fmt in formats(config))
        super().__init__({
            "fmt": In(DmaFormat), "tail": In(rows_layout(config)["tail"].shape),
            "row_last": In(1), "step": In(1), "index": Out(range(max(most, 2))),
            "unit_done": Out(1), "row_done": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.d.comb += [self.unit_done.eq(1), self.row_done.eq(1)]
        with m.Switch(self.fmt):
            for fmt in formats(self._config):
                per_unit, per_row = pieces_ratio(self._config, fmt)
                with m.Case(fmt):
                    if per_unit > 1:
                        m.d.comb += self.unit_done.eq(
                            (self.index == per_unit - 1) | self.row_last)
                    if per_row > 1:
                        m.d.comb += self.row_done.eq(
                            (self.index == per_row - 1)
                            | (self.row_last & (self.index == self.tail)))
        with m.If(self.step):
            m.d.sync += self.index.eq(Mux(self.unit_done & self.row_done, 0, self.index + 1))
        return m
