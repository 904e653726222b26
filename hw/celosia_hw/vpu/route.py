"""How the operands of an instruction come into the lanes."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.vector import Src, VectorOp
from celosia_hw.vpu.control import LaneSource
from celosia_hw.vpu.fetch import at_least_two, is_indexed, is_lane, is_row, is_stream

__all__ = ["OperandRoute"]


class OperandRoute(wiring.Component):
    """Gives each operand the reader that `OperandFetch` reads it through. Combinational.

    Members
    -------
    op : In(VectorOp), kinds : In(Src), three of them
        The operation; the kinds of operands a, b, c.
    rows : Out(LaneSource), three of them
        Where an operand that is one of the first two single rows comes from.
    third : Out(LaneSource)
        Where operand c comes from if it is a third single row, behind the first.
    row_p, row_q : Out(1)
        A single row comes from P; from Q, too.
    flows : Out(LaneSource), three of them
        Where an operand that is a row for each row of the walk comes from, or a value.
    once : Out(3)
        The operand is a value for the first row, which is then held.
    flow_p, flow_q : Out(1)
        Such a row comes from P; from Q, too.
    """

    op: Signal
    kinds: list[Signal]
    rows: list[Signal]
    third: Signal
    row_p: Signal
    row_q: Signal
    flows: list[Signal]
    once: Signal
    flow_p: Signal
    flow_q: Signal

    def __init__(self):
        sources = Out(LaneSource).array(3)
        super().__init__({
            "op": In(VectorOp), "kinds": In(Src).array(3), "rows": sources,
            "third": Out(LaneSource), "row_p": Out(1), "row_q": Out(1), "flows": sources,
            "once": Out(3), "flow_p": Out(1), "flow_q": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        rows = [is_row(kind) for kind in self.kinds]
        flows = [is_stream(kind) for kind in self.kinds]
        flows[1] &= ~is_indexed(self.op)  # operand b of these never comes to the lanes
        row_ports, flow_ports = _ports(rows, self.kinds), _ports(flows, self.kinds)
        three = rows[0] & rows[1] & rows[2]
        m.d.comb += [
            self.row_p.eq(rows[0] | rows[1] | rows[2]), self.row_q.eq(at_least_two(rows)),
            self.flow_p.eq(flows[0] | flows[1] | flows[2]), self.flow_q.eq(at_least_two(flows)),
            self.rows[0].eq(row_ports[0]), self.rows[1].eq(row_ports[1]),
            self.rows[2].eq(Mux(three, LaneSource.SELF, row_ports[2])),
            self.third.eq(Mux(three, Mux(is_lane(self.kinds[2]), LaneSource.P_LANE, LaneSource.P),
                              LaneSource.SELF)),
        ]
        for kind, once, flow, port in zip(self.kinds, self.once, self.flows, flow_ports,
                                          strict=True):
            scalar, index = kind == Src.SCALAR, kind == Src.LANE_INDEX
            m.d.comb += [
                once.eq(scalar | index),
                flow.eq(Mux(index, LaneSource.INDEX,
                            Mux(scalar | (kind == Src.ROW_INDEX), LaneSource.VALUE, port))),
            ]
        return m


def _ports(flags: list[Value], kinds: list[Signal]) -> list[Value]:
    """Where each flagged operand comes from: P for the first, Q for the second (or third)."""
    a, b, c = flags
    seconds = [0, a, a | b]
    return [Mux(flag, Mux(second, Mux(is_lane(kind), LaneSource.Q_LANE, LaneSource.Q),
                          Mux(is_lane(kind), LaneSource.P_LANE, LaneSource.P)), LaneSource.SELF)
            for flag, second, kind in zip((a, b, c), seconds, kinds, strict=True)]
