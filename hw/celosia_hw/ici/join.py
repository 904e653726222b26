"""Rows that arrive, joined with those that are there."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.vector import ReduceOp
from celosia_hw.memory.ports import (
    READ_LATENCY,
    ReadPort,
    ReadPortSignature,
    row_bits,
)
from celosia_hw.memory.requests import brought_layout
from celosia_hw.stream import delayed
from celosia_hw.vpu.joins import join

__all__ = ["RowJoiner", "arrived_layout"]


def arrived_layout(config: TpuConfig) -> data.StructLayout:
    """A row that arrives: where it goes, and how; ``last`` ends a message."""
    return data.StructLayout({"row": row_bits(config), "op": ReduceOp, "last": 1,
                              "lanes": config.acc_row_bits})


class RowJoiner(wiring.Component):
    """row = arrived op row, in the accumulators, one row after another, also where a row comes
    again.

    As many lanes a cycle as a word of the link has words of 32 bits; a row every 4 cycles at most.

    Members
    -------
    i : In(stream of arrived_layout)
    read : Out(ReadPortSignature)
        Of the accumulators.
    o : Out(stream of brought_layout)
        Rows to be written.
    pending, pending_row : In
        As of `WriteRequests`.
    empty : Out(1)
        Every row has been taken.
    """

    i: stream.Interface
    read: ReadPort
    o: stream.Interface
    pending: Signal
    pending_row: Signal
    empty: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        bits, width = row_bits(config), config.acc_row_bits
        super().__init__({
            "i": In(stream.Signature(arrived_layout(config))),
            "read": Out(ReadPortSignature(bits, width)),
            "o": Out(stream.Signature(brought_layout(self._config))),
            "pending": In(1), "pending_row": In(bits), "empty": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        layout, lanes = arrived_layout(config), self._config.link_bytes // 4
        bits, steps = 32 * lanes, config.dim // lanes
        # Three places: a row waits for the one that is there, is joined lane by lane, is written.
        coming, joined, leaving = (Signal(layout, name=name, reset_less=True)
                                   for name in ("coming", "joined", "leaving"))
        here, joins, leaves = Signal(), Signal(), Signal()
        asked, there, move, taken, ends, free = (Signal() for _ in range(6))
        old, left = (Signal(config.acc_row_bits, name=name, reset_less=True)
                     for name in ("old", "left"))
        step = Signal(range(steps))
        rows = ((joins, joined.row), (leaves, leaving.row), (self.pending, self.pending_row))
        same = Cat(there & (row == coming.row) for there, row in rows).any()
        m.d.comb += [
            free.eq(~leaves | self.o.ready), ends.eq(joins & (step == steps - 1) & free),
            move.eq(there & (~joins | ends)), self.i.ready.eq(~here | move),
            taken.eq(self.i.valid & self.i.ready),
            self.read.valid.eq(here & ~asked & ~same), self.read.addr.eq(coming.row),
            self.o.valid.eq(leaves), self.o.payload.address.eq(leaving.row),
            self.o.payload.lanes.eq(leaving.lanes), self.o.payload.last.eq(leaving.last),
            self.empty.eq(~here & ~joins & ~leaves),
        ]
        arrives = delayed(m, self.read.granted, READ_LATENCY - 1, name="arrives")[-1]
        with m.If(self.read.valid & self.read.ready):
            m.d.sync += asked.eq(1)
        with m.If(arrives):
            m.d.sync += [old.eq(self.read.data), there.eq(1)]
        with m.If(move):
            m.d.sync += [here.eq(0), asked.eq(0), there.eq(0)]
        with m.If(taken):
            m.d.sync += [coming.eq(self.i.payload), here.eq(1)]

        word = Cat(join(m, config, joined.op, joined.lanes.word_select(k, 32),
                        left.word_select(k, 32)) for k in range(lanes))
        shifted = Cat(joined.lanes[bits:], word)
        with m.If(joins & ((step != steps - 1) | free)):
            m.d.sync += [joined.lanes.eq(shifted), left.eq(left >> bits),
                         step.eq(Mux(step == steps - 1, 0, step + 1))]
        with m.If(ends):
            m.d.sync += [leaving.eq(joined), leaving.lanes.eq(shifted), joins.eq(0)]
        with m.If(move):
            m.d.sync += [joined.eq(coming), left.eq(old), joins.eq(1)]
        with m.If(free):
            m.d.sync += leaves.eq(ends)
        return m
