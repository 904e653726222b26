"""Which rows an instruction reads, in which order, through which port."""

from collections.abc import Iterable
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.vector import (
    BF16_SRCS,
    INDEXED_OPS,
    INT8_SRCS,
    LANE_ROW_SRCS,
    LANE_SRCS,
    ROW_SRCS,
    STREAM_SRCS,
    Src,
    VectorOp,
)
from celosia_hw.commands import vector_layout
from celosia_hw.memory.beats import RowKind, read_layout
from celosia_hw.stream import HalfBuffer
from celosia_hw.vpu.indexer import table_layout
from celosia_hw.vpu.moves import MoveTarget, tag_layout

__all__ = ["OperandFetch", "at_least_two", "is_indexed", "is_lane", "is_row", "is_stream"]


def _one_of(value: Value, members: Iterable[int]) -> Value:
    return Cat(value == member for member in sorted(members)).any()


def is_stream(kind: Value) -> Value:
    """The operand is a row for each row of the walk."""
    return _one_of(kind, STREAM_SRCS)


def is_row(kind: Value) -> Value:
    """The operand is one row, used for every row of the walk."""
    return _one_of(kind, ROW_SRCS)


def is_lane(kind: Value) -> Value:
    """One lane of the row is used for every lane."""
    return _one_of(kind, LANE_SRCS | LANE_ROW_SRCS)


def is_indexed(op: Value) -> Value:
    """The operation has a table, and rows of indexes as its operand b."""
    return _one_of(op, INDEXED_OPS)


def _fetched_layout(config: TpuConfig) -> data.StructLayout:
    """An instruction, and which of a, b, c are rows and which are streams."""
    return data.StructLayout({"command": vector_layout(config), "rows": 3, "flows": 3})


class OperandFetch(wiring.Component):
    """Splits an instruction's reads over two readers, P and Q.

    Single rows come first: the first on P, the second on Q, the third on P again. Then the
    streams: the first on P, the second on Q. Their consumers take them in that order. A
    command takes a cycle for its single rows, from that in which it comes on, and one for its
    streams or its third row, as soon as the readers are free; it is handed on in the cycle after,
    and held by its producer until then. On a chip that is cut it comes in by a buffer.

    A gather asks for its rows of indexes only, through Q, and leaves its table's rows to the
    indexer; a scatter asks for its data through P and for its rows of indexes through Q.

    Members
    -------
    i : In(stream of vector_layout)
    o : Out(stream of vector_layout)
        The same command, when all of its reads have been asked for; taken together.
    p, q : Out(stream of read_layout)
    table : Out(stream of table_layout)
        Of a gather or a scatter, to the indexer.
    """

    i: stream.Interface
    o: stream.Interface
    p: stream.Interface
    q: stream.Interface
    table: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(vector_layout(config))),
            "o": Out(stream.Signature(vector_layout(config))),
            "p": Out(stream.Signature(read_layout(config, tag_layout(config)))),
            "q": Out(stream.Signature(read_layout(config, tag_layout(config)))),
            "table": Out(stream.Signature(table_layout(config))),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        entered = Signal(_fetched_layout(self._config))
        kinds = [self.i.payload[f"{name}_kind"] for name in "abc"]
        m.d.comb += [
            entered.command.eq(self.i.payload), entered.rows.eq(Cat(map(is_row, kinds))),
            entered.flows.eq(Cat(map(is_stream, kinds))),
        ]
        i: Any = stream.Signature(entered.shape()).create()
        if self._config.cut:
            m.submodules.entrance = buffer = HalfBuffer(entered.shape())
            m.d.comb += [buffer.i.valid.eq(self.i.valid), buffer.i.payload.eq(entered),
                         self.i.ready.eq(buffer.i.ready)]
            wiring.connect(m, buffer.o, wiring.flipped(i))
        else:
            m.d.comb += [i.valid.eq(self.i.valid), i.payload.eq(entered), self.i.ready.eq(i.ready)]
        command = i.payload.command
        asked, over = Signal(), Signal()  # single rows have been asked for, and so has everything
        rows, flows = [*i.payload.rows], [*i.payload.flows]
        any_row, any_flow = rows[0] | rows[1] | rows[2], flows[0] | flows[1] | flows[2]
        all_rows = rows[0] & rows[1] & rows[2]
        streams = Signal()
        m.d.comb += [
            streams.eq(asked | ~any_row),
            self.o.payload.eq(command), self.o.valid.eq(over), i.ready.eq(over & self.o.ready),
        ]

        gather = command.op == VectorOp.GATHER
        indexed = is_indexed(command.op)
        wants = (Mux(streams, (any_flow & ~gather) | all_rows, any_row),
                 Mux(streams, at_least_two(flows), at_least_two(rows)), indexed)
        ports = self.p, self.q, self.table
        sent = [Signal(name=f"sent_{name}") for name in ("p", "q", "table")]
        clear = []
        for port, want, done in zip(ports, wants, sent, strict=True):
            m.d.comb += port.valid.eq(i.valid & ~over & want & ~done)
            with m.If(port.valid & port.ready):
                m.d.sync += done.eq(1)
            clear.append(~port.valid | port.ready)
        with m.If(i.valid & clear[0] & clear[1] & clear[2]):
            # Whether all readers take them is known late, so the command goes on in the next cycle.
            m.d.sync += [asked.eq(1), over.eq(streams), *(done.eq(0) for done in sent)]
        with m.If(i.valid & i.ready):
            m.d.sync += [asked.eq(0), over.eq(0)]

        flags = [Mux(streams, flow, row) for flow, row in zip(flows, rows, strict=True)]
        p, q, fold = self.p.payload, self.q.payload, self._config.fold
        self._walk(m, p, command, {"a": flags[0], "b": flags[1]}, "p", single=~streams | all_rows)
        self._walk(m, q, command, {"b": flags[0] & flags[1]}, "q", single=~streams)
        lane = len(p.tag.lane)
        with m.If(indexed):
            m.d.comb += [q.tag.move.eq(MoveTarget.INDEX), q.ones[0].eq(1),
                         q.beats.more.eq((command.counts.n0 - 1) >> lane)]
        with m.Switch(command.op):
            with m.Case(VectorOp.TRANSPOSE):
                m.d.comb += p.tag.move.eq(MoveTarget.TRANSPOSE)
            with m.Case(VectorOp.ROTATE):
                # The first beat comes again behind the last one: each has words of two.
                m.d.comb += [p.tag.lane.eq(command.b_value),
                             p.beats.first.eq(command.b_value >> lane), p.beats.more.eq(fold)]
                if fold > 1:
                    m.d.comb += [p.tag.move.eq(MoveTarget.ROTATE), p.beats.whole.eq(1)]
        table = self.table.payload
        m.d.comb += [
            table.scatter.eq(~gather), table.kind.eq(_row_kind(command.a_kind)),
            table.base.eq(Mux(gather, command.a.base, command.dst.base)),
            table.rows.eq(command.param), table.indexes.eq(command.counts.n0),
        ]
        return m

    def _walk(self, m: Module, walk: data.View, command: data.View, wanted: dict[str, Value],
              port: str, *, single: Value) -> None:
        """Ask for the rows of the first operand that is wanted, or of c."""

        def choose(field: str) -> Value:
            value = Value.cast(command[f"c{field}"])
            for name, want in reversed(wanted.items()):
                value = Mux(want, Value.cast(command[f"{name}{field}"]), value)
            return value

        kind = Signal(Src, name=f"{port}_kind")
        m.d.comb += [
            kind.eq(choose("_kind")), walk.kind.eq(_row_kind(kind)), walk.counts.eq(command.counts),
            walk.stream.as_value().eq(choose("")), walk.ones.eq(single.replicate(3)),
            Cat(walk.tag.lane, walk.beats.first).eq(Mux(is_lane(kind), choose("_lane"), 0)),
            walk.beats.same.eq(is_lane(kind)), walk.beats.whole.eq(is_lane(kind)),
            walk.beats.more.eq(self._config.fold - 1),
        ]


def _row_kind(kind: Value) -> Value:
    """How the rows of an operand are read."""
    return Mux(_one_of(kind, INT8_SRCS), RowKind.UB_I8,
               Mux(_one_of(kind, BF16_SRCS), RowKind.UB_BF16, RowKind.ACC))


def at_least_two(flags: list[Value]) -> Value:
    """At least two of three flags are set."""
    a, b, c = flags
    return (a & b) | (a & c) | (b & c)
