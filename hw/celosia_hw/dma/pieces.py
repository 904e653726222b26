"""The pieces of a job, one after another: where each lies in its row and in its unit."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.isa import Mem
from celosia_hw.dma.jobs import formats, lanes_layout, pieces_ratio

__all__ = ["PieceCounter"]


class PieceCounter(wiring.Component):
    """Holds a job and counts its pieces; the next one is taken with the last piece of this one.

    Members
    -------
    jobs : In(stream)
    step : In(1)
        Go on to the next piece; only while ``active``.
    active : Out(1)
        There is a job.
    fmt : Out, ub : Out(1)
        Its format in external memory; whether its rows are in the unified buffer.
    place : Out
        Of the piece in the unit or in the on-chip row, whichever has several.
    unit_done, row_done : Out(1)
        It is the last piece of its unit, of its on-chip row.
    row_ends : Out(1)
        It is the last piece of the external row.
    """

    jobs: stream.Interface
    step: Signal
    active: Signal
    fmt: Signal
    ub: Signal
    place: Signal
    unit_done: Signal
    row_done: Signal
    row_ends: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        layout = lanes_layout(config)
        places = max(max(pieces_ratio(config, fmt)) for fmt in formats(config))
        super().__init__({
            "jobs": In(stream.Signature(layout)), "step": In(1), "active": Out(1),
            "fmt": Out(layout["fmt"].shape), "ub": Out(1), "place": Out(range(max(places, 2))),
            "unit_done": Out(1), "row_done": Out(1), "row_ends": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        job = self.jobs.payload
        fmt = Signal.like(self.fmt, reset_less=True)
        rows = Signal(COUNT_BITS, reset_less=True)
        pieces = Signal(COUNT_BITS, reset_less=True)  # left of this row, 0 at the last
        pieces_of_row = Signal(COUNT_BITS, reset_less=True)
        m.d.comb += [
            self.fmt.eq(fmt), self.row_ends.eq(pieces == 0),
            self.jobs.ready.eq(~self.active | (self.step & self.row_ends & (rows == 0))),
        ]
        with m.Switch(fmt):
            for each in formats(self._config):
                per_unit, per_row = pieces_ratio(self._config, each)
                last = self.row_ends | (self.place == max(per_unit, per_row) - 1)
                with m.Case(each):
                    m.d.comb += [self.unit_done.eq(last if per_unit > 1 else 1),
                                 self.row_done.eq(last if per_row > 1 else 1)]
        with m.If(self.step):
            m.d.sync += [
                self.place.eq(Mux(self.unit_done & self.row_done, 0, self.place + 1)),
                pieces.eq(Mux(self.row_ends, pieces_of_row, pieces - 1)),
            ]
            with m.If(self.row_ends):
                m.d.sync += rows.eq(rows - 1)
        with m.If(self.jobs.ready):
            m.d.sync += self.active.eq(self.jobs.valid)
        with m.If(self.jobs.ready & self.jobs.valid):
            m.d.sync += [fmt.eq(job.fmt), self.ub.eq(job.mem == Mem.UB), rows.eq(job.rows),
                         pieces.eq(job.pieces), pieces_of_row.eq(job.pieces)]
        return m
