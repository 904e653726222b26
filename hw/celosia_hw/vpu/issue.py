"""Starts rows into the lanes."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Dst, Src
from celosia_hw.commands import vector_layout
from celosia_hw.memory.agen import AddressGenerator
from celosia_hw.memory.ports import row_bits
from celosia_hw.vpu.control import Source, control_layout, decode
from celosia_hw.vpu.fetch import is_row, is_stream

__all__ = ["Issue", "issue_layout", "issue_of", "target_layout"]

_DIRECT = ("op", "post", "dst_kind", "a_kind", "b_kind", "c_kind", "a_value", "b_value", "c_value",
           "param", "dst", "counts")


def issue_layout(config: TpuConfig) -> data.StructLayout:
    """The part of an instruction that is needed after its reads have been asked for."""
    fields = vector_layout(config).members
    return data.StructLayout({name: fields[name] for name in _DIRECT})


def issue_of(target: data.View, command: data.View):
    """Assignments of the part of ``command`` that :func:`issue_layout` keeps."""
    return [target[name].eq(command[name]) for name in _DIRECT]


def target_layout(config: TpuConfig) -> data.StructLayout:
    """Where the result of a row goes, and whether it is the last of its instruction."""
    return data.StructLayout({"acc": 1, "last": 1, "row": row_bits(config)})


class Issue(wiring.Component):
    """Holds an instruction while its rows go into the lanes, a row a cycle.

    First takes the single rows (one cycle where there are one or two, another for a third), then a
    row in each cycle in which both streams have one and ``room``. An instruction follows the one
    before it without a gap.

    Members
    -------
    i : In(stream of issue_layout)
    p_valid, q_valid : In(1)
        The readers offer a row.
    p_ready, q_ready : Out(1)
        It is taken.
    room : In(1)
        The result of one more row has a place.
    scalars, hold, select
        To the lanes.
    control : Out(control_layout)
        Of the row that enters the lanes in this cycle, if ``control.valid``.
    target : Out(target_layout)
        Of the same row.
    busy : Out(1)
        There is an instruction.
    """

    i: stream.Interface
    p_valid: Signal
    q_valid: Signal
    p_ready: Signal
    q_ready: Signal
    room: Signal
    scalars: list[Signal]
    hold: list[Signal]
    select: list[Signal]
    control: data.View
    target: data.View
    busy: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(issue_layout(config))),
            "p_valid": In(1), "q_valid": In(1), "p_ready": Out(1), "q_ready": Out(1),
            "room": In(1), "scalars": Out(32).array(3), "hold": Out(Source).array(3),
            "select": Out(Source).array(3), "control": Out(control_layout(config)),
            "target": Out(target_layout(config)), "busy": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        config = self._config
        m = Module()
        m.submodules.agen = agen = AddressGenerator(config)
        op, post, dst = Signal(6), Signal(4), Signal(3)
        param = Signal(32)
        hold = [Signal(Source, name=f"hold_{name}") for name in "abc"]  # of this cycle's rows
        select = [Signal(Source, name=f"select_{name}") for name in "abc"]
        first_q, third = Signal(), Signal()  # single rows that are still to come: second, third
        loading = Signal()

        load, issue = Signal(), Signal()
        uses_p = Cat(item == Source.P for item in select).any()
        uses_q = Cat(item == Source.Q for item in select).any()
        m.d.comb += [
            load.eq(self.busy & loading & self.p_valid & (self.q_valid | ~first_q)),
            issue.eq(self.busy & ~loading & self.room & (self.p_valid | ~uses_p)
                     & (self.q_valid | ~uses_q)),
            self.p_ready.eq(load | (issue & uses_p)),
            self.q_ready.eq((load & first_q) | (issue & uses_q)),
            agen.step.eq(issue),
            self.target.acc.eq(dst == Dst.ACC), self.target.last.eq(agen.last),
            self.target.row.eq(agen.row),
            *(port.eq(source) for port, source in zip(self.select, select, strict=True)),
        ]
        m.d.comb += self.control.eq(decode(m, config, issue, op, post, dst, param))

        with m.If(load):
            m.d.comb += [port.eq(source) for port, source in zip(self.hold, hold, strict=True)]
            m.d.sync += [*(source.eq(Source.SELF) for source in hold), first_q.eq(0), third.eq(0),
                         loading.eq(third)]
            with m.If(third):
                m.d.sync += hold[2].eq(Source.P)
        with m.If(issue & agen.last):
            m.d.sync += self.busy.eq(0)

        command = self.i.payload
        m.d.comb += [
            self.i.ready.eq(~self.busy | (issue & agen.last)),
            agen.start.eq(self.i.valid & self.i.ready),
            agen.stream.eq(command.dst), agen.counts.eq(command.counts),
            *(port.eq(command[f"{name}_value"])
              for port, name in zip(self.scalars, "abc", strict=True)),
        ]
        rows = [is_row(command[f"{name}_kind"]) for name in "abc"]
        flows = [is_stream(command[f"{name}_kind"]) for name in "abc"]
        with m.If(agen.start):
            m.d.sync += [
                self.busy.eq(1), op.eq(command.op), post.eq(command.post), dst.eq(command.dst_kind),
                param.eq(command.param), loading.eq(rows[0] | rows[1] | rows[2]),
                first_q.eq((rows[0] & rows[1]) | ((rows[0] | rows[1]) & rows[2])),
                third.eq(rows[0] & rows[1] & rows[2]),
                *(source.eq(value) for source, value in zip(hold, _ports(rows, 1), strict=True)),
                *(source.eq(value) for source, value in zip(select, _ports(flows, 0), strict=True)),
            ]
            for port, name in zip(self.hold, "abc", strict=True):
                with m.If(command[f"{name}_kind"] == Src.SCALAR):
                    m.d.comb += port.eq(Source.SCALAR)
        return m


def _ports(flags: list[Value], third: int) -> list[Value]:
    """Port of each flagged operand: P for the first, Q for the second.

    A third one, where ``third`` allows it, has to wait.
    """
    a, b, c = flags
    return [
        Mux(a, Source.P, Source.SELF),
        Mux(b, Mux(a, Source.Q, Source.P), Source.SELF),
        Mux(c, Mux(a & b, Source.SELF if third else Source.Q,
                   Mux(a | b, Source.Q, Source.P)), Source.SELF),
    ]
