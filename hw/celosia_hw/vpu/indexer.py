"""Turns rows of indexes into rows of a table."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.vector import TABLE_LIMIT
from celosia_hw.memory.beats import RowKind, read_layout
from celosia_hw.memory.ports import row_bits
from celosia_hw.vpu.moves import tag_layout

__all__ = ["Indexer", "place_layout", "table_layout"]


def table_layout(config: TpuConfig) -> data.StructLayout:
    """A gather or a scatter: its table, ``rows`` from ``base`` on, and the indexes in each row.

    ``kind`` is that of a gather's table.
    """
    return data.StructLayout({
        "scatter": 1, "kind": RowKind, "base": row_bits(config),
        "rows": TABLE_LIMIT.bit_length(), "indexes": ceil_log2(config.dim) + 1,
    })


def place_layout(config: TpuConfig) -> data.StructLayout:
    """A row of a scatter's table; ``bad``: the index is out of range, and ``row`` means nothing."""
    return data.StructLayout({"row": row_bits(config), "bad": 1})


class Indexer(wiring.Component):
    """Makes a walk of one row of each index of a gather, and a place of each of a scatter.

    An index that is not below the table's rows gives zeros instead of the table's row, or a bad
    place. Throughput: an index a cycle, one cycle between two commands, two on a chip that is cut,
    where nothing that holds an index up reaches the next command in the same cycle. Latency: two
    cycles.

    Members
    -------
    i : In(stream of table_layout)
        Gathers and scatters, in order.
    index : In(stream of a word, and ``last``)
        Word ``lane`` of the foremost beat of a row of indexes, and whether that is its command's
        last. A word that is taken does not take the beat.
    lane : Out
    over : Out(1)
        With a word, the beat is taken too.
    walk : Out(stream of read_layout)
        Rows of tables.
    place : Out(stream of place_layout)
    gathering : Out(1)
        Walks of a gather are still to come: those of commands after it have to wait.
    detail : Out(32)
        The first index out of range since reset.
    """

    i: stream.Interface
    index: stream.Interface
    lane: Signal
    over: Signal
    walk: stream.Interface
    place: stream.Interface
    gathering: Signal
    detail: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(table_layout(config))),
            "index": In(stream.Signature(data.StructLayout({"word": 32, "last": 1}))),
            "lane": Out(exact_log2(config.lanes)), "over": Out(1),
            "walk": Out(stream.Signature(read_layout(config, tag_layout(config)))),
            "place": Out(stream.Signature(place_layout(config))),
            "gathering": Out(1), "detail": Out(32),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        table = Signal(table_layout(self._config), name="current", reset_less=True)
        busy, found = Signal(), Signal()
        valid, last = Signal(), Signal(reset_less=True)
        word = Signal(32, reset_less=True)
        bad, leaves, takes = Signal(), Signal(), Signal()
        lane = Signal(ceil_log2(self._config.dim))  # in the row
        row_over = lane == (table.indexes - 1)[:len(lane)]

        end = leaves & last
        m.d.comb += [
            self.i.ready.eq(~busy | (0 if self._config.cut else end)),
            self.gathering.eq(busy & ~table.scatter),
            self.lane.eq(lane), self.over.eq(row_over | (lane[:len(self.lane)].all() if
                                                         self._config.fold > 1 else 0)),
            # Behind the last index, the foremost row may be that of another command.
            self.index.ready.eq(busy & ((~valid) | (leaves & ~last))),
            takes.eq(self.index.valid & self.index.ready),
            bad.eq(word >= table.rows),
            self.walk.valid.eq(valid & ~table.scatter),
            self.place.valid.eq(valid & table.scatter),
            leaves.eq((self.walk.valid & self.walk.ready) | (self.place.valid & self.place.ready)),
            self.place.payload.row.eq(table.base + word), self.place.payload.bad.eq(bad),
        ]
        walk = self.walk.payload
        m.d.comb += [
            walk.kind.eq(Mux(bad, RowKind.ZERO, table.kind)),
            walk.stream.base.eq(table.base + word), walk.stream.linear.eq(1),
            walk.ones.eq(0b111), walk.beats.more.eq(self._config.fold - 1), walk.tag.bad.eq(bad),
        ]

        with m.If(end):
            m.d.sync += busy.eq(0)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [busy.eq(1), table.eq(self.i.payload)]
        with m.If(takes):
            m.d.sync += [valid.eq(1), word.eq(self.index.payload.word),
                         last.eq(row_over & self.index.payload.last),
                         lane.eq(Mux(row_over, 0, lane + 1))]
        with m.Elif(leaves):
            m.d.sync += valid.eq(0)
        with m.If(valid & bad & ~found):
            m.d.sync += [found.eq(1), self.detail.eq(word)]
        return m
