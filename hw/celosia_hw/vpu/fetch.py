"""Which rows an instruction reads, in which order, through which port."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.vector import Src, VectorOp
from celosia_hw.commands import vector_layout
from celosia_hw.memory.reader import RowKind, read_layout
from celosia_hw.vpu.indexer import table_layout
from celosia_hw.vpu.moves import Move, tag_layout

__all__ = ["OperandFetch", "is_indexed", "is_lane", "is_row", "is_stream"]

# Kinds that read a memory are 1..3 (streams) and 4..6 (single rows), and the same with bit 3 set,
# of which one lane is used. 0 and 7 of either half read none.


def is_stream(kind: Value) -> Value:
    """The operand is a row for each row of the walk."""
    return (kind[:3] >= Src.ACC) & (kind[:3] <= Src.UB_BF16)


def is_row(kind: Value) -> Value:
    """The operand is one row, used for every row of the walk."""
    return (kind[:3] >= Src.ACC_ROW) & (kind[:3] <= Src.UB_BF16_ROW)


def is_lane(kind: Value) -> Value:
    """One lane of the row is used for every lane; meaningful where the operand reads a memory."""
    return kind[3]


def is_indexed(op: Value) -> Value:
    """The operation has a table, and rows of indexes as its operand b."""
    return (op == VectorOp.GATHER) | (op == VectorOp.SCATTER)


class OperandFetch(wiring.Component):
    """Splits an instruction's reads over two readers, P and Q.

    Single rows come first: the first on P, the second on Q, the third on P again. Then the
    streams: the first on P, the second on Q. Whoever takes the rows takes them in that order. A
    command takes a cycle for its single rows, from that in which it comes on, and one for its
    streams or its third row, as soon as the readers are free.

    A gather asks for its rows of indexes only, through Q, and leaves its table's rows to the
    indexer; a scatter asks for its data through P and for its rows of indexes through Q.

    Members
    -------
    i : In(stream of vector_layout)
    p, q : Out(stream of read_layout)
    table : Out(stream of table_layout)
        Of a gather or a scatter, to the indexer.
    """

    i: stream.Interface
    p: stream.Interface
    q: stream.Interface
    table: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(vector_layout(config))),
            "p": Out(stream.Signature(read_layout(config, tag_layout(config)))),
            "q": Out(stream.Signature(read_layout(config, tag_layout(config)))),
            "table": Out(stream.Signature(table_layout(config))),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        held = Signal.like(self.i.payload, reset_less=True)
        command = Signal.like(self.i.payload)
        holding, busy = Signal(), Signal()
        asked, streams = Signal(), Signal()  # the single rows have been asked for
        m.d.comb += [
            command.eq(Mux(holding, held, self.i.payload)), busy.eq(holding | self.i.valid),
            streams.eq(Mux(holding, asked, ~_any_row(self.i.payload))),
            self.i.ready.eq(~holding),  # and not when it ends: the readers decide that late
        ]
        rows = [is_row(command[f"{name}_kind"]) for name in "abc"]
        flows = [is_stream(command[f"{name}_kind"]) for name in "abc"]
        all_rows = rows[0] & rows[1] & rows[2]
        wants = Mux(streams, (flows[0] | flows[1] | flows[2]) | all_rows,
                    rows[0] | rows[1] | rows[2])
        wants_two = Mux(streams, _two(flows), _two(rows))
        first = Mux(streams, _first(flows, all_rows), _first(rows, 0))
        second = Mux(streams, _second(flows), _second(rows))

        gather = command.op == VectorOp.GATHER
        indexed = is_indexed(command.op)
        sent = [Signal(name=f"sent_{name}") for name in ("p", "q", "table")]
        clear = []
        for port, want, done in ((self.p, wants & ~gather, sent[0]), (self.q, wants_two, sent[1]),
                                 (self.table, indexed, sent[2])):
            m.d.comb += port.valid.eq(busy & want & ~done)
            with m.If(port.valid & port.ready):
                m.d.sync += done.eq(1)
            clear.append(~port.valid | port.ready)
        for port, which in ((self.p, first), (self.q, second)):
            with m.Switch(which):
                for index, name in enumerate("abc"):
                    with m.Case(index):
                        self._walk(m, port.payload, command, name)
        with m.If(indexed):
            m.d.comb += [self.q.payload.tag.move.eq(Move.INDEX), self.q.payload.counts.n0.eq(1)]
        with m.Switch(command.op):
            with m.Case(VectorOp.TRANSPOSE):
                m.d.comb += self.p.payload.tag.move.eq(Move.TRANSPOSE)
            with m.Case(VectorOp.ROTATE):
                m.d.comb += [self.p.payload.tag.move.eq(Move.ROTATE),
                             self.p.payload.tag.lane.eq(command.b_value)]
        table = self.table.payload
        m.d.comb += [
            table.scatter.eq(~gather), table.kind.eq(_row_kind(command.a_kind)),
            table.base.eq(Mux(gather, command.a.base, command.dst.base)),
            table.rows.eq(command.param), table.indexes.eq(command.counts.n0),
        ]
        over = clear[0] & clear[1] & clear[2]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [held.eq(self.i.payload), holding.eq(1), asked.eq(streams)]
        with m.If(busy & over):
            m.d.sync += [holding.eq(~streams), asked.eq(1), *(done.eq(0) for done in sent)]
        return m

    @staticmethod
    def _walk(m: Module, walk: data.View, command: data.View, name: str) -> None:
        """Ask for the rows of an operand."""
        kind = command[f"{name}_kind"]
        m.d.comb += [
            walk.counts.eq(command.counts), walk.stream.eq(command[name]),
            walk.kind.eq(_row_kind(kind)), walk.tag.lane.eq(command[f"{name}_lane"]),
        ]
        with m.If(is_row(kind)):
            m.d.comb += [walk.counts[n].eq(1) for n in ("n0", "n1", "n2")]


def _any_row(command: data.View) -> Value:
    a, b, c = (is_row(command[f"{name}_kind"]) for name in "abc")
    return a | b | c


def _row_kind(kind: Value) -> Value:
    """How the rows of an operand are read."""
    low = kind[:3]
    return Mux((low == Src.UB_I8) | (low == Src.UB_I8_ROW), RowKind.UB_I8,
               Mux((low == Src.UB_BF16) | (low == Src.UB_BF16_ROW), RowKind.UB_BF16,
                   RowKind.ACC))


def _two(flags: list[Value]) -> Value:
    a, b, c = flags
    return (a & b) | (a & c) | (b & c)


def _first(flags: list[Value], last: Value | int) -> Value:
    """Index of the first flag, or 2 where ``last``."""
    return Mux(last, 2, Mux(flags[0], 0, Mux(flags[1], 1, 2)))


def _second(flags: list[Value]) -> Value:
    """Index of the second flag."""
    return Mux(flags[0] & flags[1], 1, 2)
