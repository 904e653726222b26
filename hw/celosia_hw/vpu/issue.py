"""Starts rows into the lanes."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.lane import tree_latency
from celosia.arch.vector import Dst, Post, Reduce, ReduceOp, VectorOp
from celosia_hw.commands import vector_layout
from celosia_hw.memory.agen import AddressGenerator
from celosia_hw.vpu.control import LaneSource, control_layout, row_layout
from celosia_hw.vpu.decode import decode
from celosia_hw.vpu.indexer import place_layout
from celosia_hw.vpu.route import OperandRoute
from celosia_hw.vpu.targets import target_layout

__all__ = ["Issue"]


def _issued_layout() -> data.StructLayout:
    """What is kept of the instruction that is issued.

    ``grouped``: a line of rows becomes one row. ``tree``, ``p``, ``q``: it uses the tree, and rows
    of P and Q. ``once``: the operand is a value, comes with the first row and is held.
    """
    return data.StructLayout({
        "op": VectorOp, "post": Post, "dst": Dst, "param": 32, "reduce": Reduce,
        "reduce_op": ReduceOp, "scatter": 1, "grouped": 1, "tree": 1, "p": 1, "q": 1, "once": 3,
    })


class Issue(wiring.Component):
    """Holds an instruction while its rows go into the lanes, a beat a cycle.

    First takes the single rows (one or two together, then a third), then a beat in each cycle in
    which both streams (of a scatter, the stream and the places) have one and ``room``. An
    instruction follows the one before it without a gap, on a chip that is cut a cycle later: what
    holds a row does not reach instructions in the same cycle. One that does not use the tree waits
    behind one that does, for ``tree_latency`` cycles and the beats of a row but one, so that
    results stay in order.

    Members
    -------
    i : In(stream of vector_layout)
    p_valid, q_valid : In(1)
        The readers offer a beat.
    p_bad : In(1)
        With ``p_valid``: its row stands for one that was gathered with a bad index.
    p_ready, q_ready : Out(1)
        It is taken.
    place : In(stream of place_layout)
        Where the rows of a scatter go.
    room : In(1)
        The result of one more beat has a place.
    indexes, holds, sources
        To the lanes.
    beat : Out
        The beat of its row that enters the lanes in this cycle.
    control : Out(control_layout)
        Of that beat, if ``control.valid``.
    target : Out(target_layout)
        Of the same.
    busy : Out(1)
        An instruction is held.
    """

    i: stream.Interface
    p_valid: Signal
    p_bad: Signal
    q_valid: Signal
    p_ready: Signal
    q_ready: Signal
    place: stream.Interface
    room: Signal
    indexes: list[Signal]
    holds: Signal
    sources: list[Signal]
    beat: Signal
    control: data.View
    target: data.View
    busy: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(vector_layout(config))),
            "p_valid": In(1), "p_bad": In(1), "q_valid": In(1), "p_ready": Out(1),
            "q_ready": Out(1), "place": In(stream.Signature(place_layout(config))), "room": In(1),
            "indexes": Out(32).array(3), "holds": Out(1), "sources": Out(LaneSource).array(3),
            "beat": Out(exact_log2(config.fold)),
            "control": Out(control_layout()), "target": Out(target_layout(config)),
            "busy": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        config = self._config
        m = Module()
        m.submodules.agen = agen = AddressGenerator(config)
        m.submodules.route = route = OperandRoute()
        command = self.i.payload
        m.d.comb += [
            route.op.eq(command.op), *(kind.eq(command[f"{name}_kind"])
                                       for kind, name in zip(route.kinds, "abc", strict=True))]
        now = Signal(_issued_layout(), reset_less=True)  # of this instruction
        hold = [Signal(LaneSource, name=f"hold_{name}") for name in "abc"]  # of this cycle's rows
        select = [Signal(LaneSource, name=f"select_{name}") for name in "abc"]
        first_q, third = Signal(), Signal(LaneSource)  # single rows that are still to come
        loading = Signal()
        first, lane = Signal(), Signal(len(self.target.lane))  # of the row in its group
        bad, was_bad = Signal(), Signal()
        behind_tree = tree_latency(config) + config.fold - 1
        draining, drained = Signal(range(behind_tree + 1)), Signal(init=1)  # drained: it is 0

        load, issue = Signal(), Signal()
        end = self.beat == config.fold - 1 if config.fold > 1 else Const(1)
        group_last, last = Signal(), Signal()
        m.d.comb += [
            load.eq(self.busy & loading & self.p_valid & (self.q_valid | ~first_q)),
            issue.eq(self.busy & ~loading & self.room & (self.p_valid | ~now.p)
                     & (self.q_valid | ~now.q) & (self.place.valid | ~now.scatter)
                     & (now.tree | drained)),
            self.p_ready.eq(load | (issue & now.p)),
            self.q_ready.eq((load & first_q) | (issue & now.q)),
            self.place.ready.eq(issue & now.scatter & end),
            group_last.eq(agen.line | ~now.grouped), last.eq(agen.last & end),
            agen.step.eq(issue & end),
            bad.eq(Mux(now.scatter, self.place.payload.bad, self.p_bad & now.p)),
            self.holds.eq(load),
            *(port.eq(Mux(loading, held, selected))
              for port, held, selected in zip(self.sources, hold, select, strict=True)),
        ]
        # The tree converts behind the lanes.
        row = Signal(row_layout())
        m.d.comb += self.control.eq(decode(m, config, row))
        m.d.comb += [
            row.valid.eq(issue), row.first.eq(first), row.dst.eq(Mux(now.tree, Dst.ACC, now.dst)),
            row.reduce.eq(now.reduce == Reduce.ROWS),
            *(row[name].eq(now[name]) for name in ("op", "post", "param", "reduce_op")),
            self.target.acc.eq(now.dst == Dst.ACC), self.target.last.eq(last),
            self.target.write.eq(group_last & ~(now.scatter & bad)),
            self.target.error.eq(was_bad | bad),
            self.target.row.eq(Cat(self.beat, Mux(now.scatter, self.place.payload.row, agen.row))),
            self.target.tree.eq(now.tree), self.target.collect.eq(now.reduce == Reduce.COLLECT),
            self.target.first.eq(first), self.target.lane.eq(lane), self.target.dst.eq(now.dst),
            self.target.reduce_op.eq(now.reduce_op),
        ]

        with m.If(load & end):
            m.d.sync += [*(source.eq(LaneSource.SELF) for source in hold[:2]), hold[2].eq(third),
                         first_q.eq(0), third.eq(LaneSource.SELF),
                         loading.eq(third != LaneSource.SELF)]
        with m.If(issue & now.tree):
            m.d.sync += [draining.eq(behind_tree), drained.eq(0)]
        with m.Elif(~drained):
            m.d.sync += [draining.eq(draining - 1), drained.eq(draining == 1)]
        if config.fold > 1:
            with m.If(load | issue):
                m.d.sync += self.beat.eq(self.beat + 1)
        with m.If(issue & end):
            m.d.sync += [first.eq(group_last), lane.eq(Mux(group_last, 0, lane + 1)),
                         was_bad.eq(was_bad | bad),
                         *(index.eq(index + 1) for index in self.indexes)]
            for source, value in zip(select, now.once, strict=True):
                with m.If(value):
                    m.d.sync += source.eq(LaneSource.SELF)
        with m.If(issue & last):
            m.d.sync += self.busy.eq(0)

        m.d.comb += [
            self.i.ready.eq(~self.busy | (0 if config.cut else issue & last)),
            agen.start.eq(self.i.valid & self.i.ready),
            agen.stream.eq(command.dst), agen.counts.eq(command.counts),
        ]
        grouped = (command.reduce == Reduce.ROWS) | (command.reduce == Reduce.COLLECT)
        m.d.comb += agen.still.eq(grouped)
        with m.If(agen.start):
            m.d.sync += [
                *(now[name].eq(command[name])
                  for name in ("op", "post", "param", "reduce", "reduce_op")),
                now.dst.eq(command.dst_kind), now.scatter.eq(command.op == VectorOp.SCATTER),
                now.grouped.eq(grouped), now.p.eq(route.flow_p), now.q.eq(route.flow_q),
                now.once.eq(route.once),
                now.tree.eq((command.reduce == Reduce.LANES) | (command.reduce == Reduce.COLLECT)),
                self.busy.eq(1), loading.eq(route.row_p), first_q.eq(route.row_q),
                third.eq(route.third), was_bad.eq(0), first.eq(1), lane.eq(0),
                *(held.eq(source) for held, source in zip(hold, route.rows, strict=True)),
                *(held.eq(source) for held, source in zip(select, route.flows, strict=True)),
                *(index.eq(command[f"{name}_value"])
                  for index, name in zip(self.indexes, "abc", strict=True)),
            ]
        return m
