"""Which rows an instruction reads, in which order, through which port."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Src
from celosia_hw.commands import vector_layout
from celosia_hw.memory.reader import RowKind, read_layout

__all__ = ["OperandFetch", "is_row", "is_stream"]


def is_stream(kind: Value) -> Value:
    """The operand is a row for each row of the destination."""
    return (kind >= Src.ACC) & (kind <= Src.UB_BF16)


def is_row(kind: Value) -> Value:
    """The operand is one row, used for every row of the destination."""
    return (kind >= Src.ACC_ROW) & (kind <= Src.UB_BF16_ROW)


class OperandFetch(wiring.Component):
    """Splits an instruction's reads over two readers, P and Q.

    Single rows come first: the first on P, the second on Q, the third on P again. Then the
    streams: the first on P, the second on Q. Whoever takes the rows takes them in that order. A
    command takes a cycle for itself, one for its single rows and one for its streams or its third
    row, as soon as the readers are free.

    Members
    -------
    i : In(stream of vector_layout)
    p, q : Out(stream of read_layout)
    """

    i: stream.Interface
    p: stream.Interface
    q: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(vector_layout(config))),
            "p": Out(stream.Signature(read_layout(config))),
            "q": Out(stream.Signature(read_layout(config))),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        command = Signal.like(self.i.payload, reset_less=True)
        busy, streams = Signal(), Signal()  # streams: the single rows have been asked for
        rows = [is_row(command[f"{name}_kind"]) for name in "abc"]
        flows = [is_stream(command[f"{name}_kind"]) for name in "abc"]
        all_rows = rows[0] & rows[1] & rows[2]
        wants = Mux(streams, (flows[0] | flows[1] | flows[2]) | all_rows,
                    rows[0] | rows[1] | rows[2])
        wants_two = Mux(streams, _two(flows), _two(rows))
        first = Mux(streams, _first(flows, all_rows), _first(rows, 0))
        second = Mux(streams, _second(flows), _second(rows))

        sent = [Signal(name=f"sent_{name}") for name in "pq"]
        clear = []
        for port, want, which, done in ((self.p, wants, first, sent[0]),
                                        (self.q, wants_two, second, sent[1])):
            m.d.comb += port.valid.eq(busy & want & ~done)
            m.d.comb += port.payload.counts.eq(command.counts)
            with m.Switch(which):
                for index, name in enumerate("abc"):
                    with m.Case(index):
                        kind = command[f"{name}_kind"]
                        m.d.comb += [
                            port.payload.stream.eq(command[name]),
                            port.payload.kind.eq(_row_kind(kind)),
                        ]
                        with m.If(is_row(kind)):
                            m.d.comb += [field.eq(1) for field in (
                                port.payload.counts.n0, port.payload.counts.n1,
                                port.payload.counts.n2)]
            with m.If(port.valid & port.ready):
                m.d.sync += done.eq(1)
            clear.append(~port.valid | port.ready)
        over = clear[0] & clear[1]
        m.d.comb += self.i.ready.eq(~busy)  # and not when it ends: the readers decide that late
        with m.If(busy & over):
            m.d.sync += [busy.eq(~streams), streams.eq(1), *(done.eq(0) for done in sent)]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [busy.eq(1), command.eq(self.i.payload),
                         streams.eq(~_any_row(self.i.payload))]
        return m


def _any_row(command: data.View) -> Value:
    a, b, c = (is_row(command[f"{name}_kind"]) for name in "abc")
    return a | b | c


def _row_kind(kind: Value) -> Value:
    return Mux((kind == Src.UB_I8) | (kind == Src.UB_I8_ROW), RowKind.UB_I8,
               Mux((kind == Src.UB_BF16) | (kind == Src.UB_BF16_ROW), RowKind.UB_BF16,
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
