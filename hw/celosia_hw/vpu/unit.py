"""The vector unit: one operation on D lanes of 32 bits, a row a cycle."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.arch.config import TpuConfig
from celosia_hw.commands import Activity, UnitSignature, vector_layout
from celosia_hw.grid import Grid
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, WritePort, WritePortSignature
from celosia_hw.memory.ports import row_bits as address_bits
from celosia_hw.memory.reader import RowReader
from celosia_hw.memory.writer import RowWriter
from celosia_hw.vpu.control import control_layout, lane_latency
from celosia_hw.vpu.fetch import OperandFetch
from celosia_hw.vpu.issue import Issue, issue_layout, issue_of, target_layout
from celosia_hw.vpu.lane import Lane

__all__ = ["VectorUnit"]


class VectorUnit(wiring.Component):
    r"""Executes ``vector`` instructions.

    ::

        command -> fetch -> P, Q readers -> lanes -> writer -> unified buffer, accumulators
              \-> queue -> issue ---------^ (control and target go along with the row)

    Throughput: a row a cycle while the ports grant; an instruction follows the one before without a
    gap but a cycle for its single rows (two where there are three). Reads run ahead of the lanes,
    into the next instruction too, so instructions that are in the unit together must not conflict;
    the scoreboard sees to it. Rows enter the lanes only while the writer has room for all that are
    in them: nothing in the lanes ever stops. The first row is written ``lane_latency(config)`` + 6
    cycles after the command was taken, 1 later with single rows and 2 with three.

    The first stream of a, b, c reads through P, the second through Q.

    Members
    -------
    port : In(UnitSignature(vector_layout))
        ``error`` is never set.
    ub_p, ub_q, acc_p, acc_q : Out(ReadPortSignature)
    ub_write, acc_write : Out(WritePortSignature)
    """

    port: wiring.PureInterface
    ub_p: ReadPort
    ub_q: ReadPort
    acc_p: ReadPort
    acc_q: ReadPort
    ub_write: WritePort
    acc_write: WritePort

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = address_bits(config)
        ub = ReadPortSignature(bits, config.ub_row_bits)
        acc = ReadPortSignature(bits, config.acc_row_bits)
        super().__init__({
            "port": In(UnitSignature(vector_layout(config))),
            "ub_p": Out(ub), "ub_q": Out(ub), "acc_p": Out(acc), "acc_q": Out(acc),
            "ub_write": Out(WritePortSignature(bits, config.ub_row_bits)),
            "acc_write": Out(WritePortSignature(bits, config.acc_row_bits)),
        })

    def elaborate(self, platform):  # noqa: D102
        config = self._config
        port: Any = self.port
        latency = lane_latency(config)
        depth = latency + 6  # latency, a cycle to queue and one to credit, and refused writes
        m = Module()
        m.submodules.fetch = fetch = OperandFetch(config)
        m.submodules.queue = queue = SyncFIFO(width=issue_layout(config).size, depth=2)
        m.submodules.issue = issue = Issue(config)
        m.submodules.p = p = RowReader(config)
        m.submodules.q = q = RowReader(config)
        m.submodules.writer = writer = RowWriter(config, depth)
        connect(m, fetch.p, p.i)
        connect(m, fetch.q, q.i)
        connect(m, p.ub, flipped(self.ub_p))
        connect(m, p.acc, flipped(self.acc_p))
        connect(m, q.ub, flipped(self.ub_q))
        connect(m, q.acc, flipped(self.acc_q))
        connect(m, writer.ub, flipped(self.ub_write))
        connect(m, writer.acc, flipped(self.acc_write))

        # An instruction goes to fetch and to the queue at once.
        command = port.command
        m.d.comb += [
            command.ready.eq(fetch.i.ready & queue.w_rdy),
            fetch.i.valid.eq(command.valid & queue.w_rdy),
            fetch.i.payload.eq(command.payload),
            queue.w_en.eq(command.valid & fetch.i.ready),
            *issue_of(data.View(issue_layout(config), queue.w_data), command.payload),
            issue.i.valid.eq(queue.r_rdy),
            issue.i.payload.as_value().eq(queue.r_data),
            queue.r_en.eq(issue.i.ready),
            issue.p_valid.eq(p.o.valid), p.o.ready.eq(issue.p_ready),
            issue.q_valid.eq(q.o.valid), q.o.ready.eq(issue.q_ready),
        ]

        room = Signal(range(depth + 1), init=depth)
        issued = issue.control.valid
        m.d.comb += issue.room.eq(room != 0)
        with m.If(issued & ~writer.written):
            m.d.sync += room.eq(room - 1)
        with m.Elif(~issued & writer.written):
            m.d.sync += room.eq(room + 1)

        controls, target = [issue.control], issue.target
        for stage in range(1, latency + 1):
            control = Signal(control_layout(config), name=f"control{stage}")
            following = Signal(target_layout(config), name=f"target{stage}", reset_less=True)
            m.d.sync += control.eq(controls[-1])
            with m.If(controls[-1].valid):
                m.d.sync += following.eq(target)
            controls.append(control)
            target = following

        row = writer.i.payload
        m.d.comb += [
            writer.i.valid.eq(controls[-1].valid), row.acc.eq(target.acc),
            row.last.eq(target.last), row.row.eq(target.row),
        ]
        m.submodules.lanes = lanes = Grid(
            lambda: Lane(config), module="vpu_lane", cols=config.dim,
            shared=("active", "scalars", "hold", "select", "control"), active="active")
        ports = lanes.members
        m.d.comb += [
            ports["active"].eq(Cat(issue.hold, (control.valid for control in controls[:-1])).any()),
            ports["p"].eq(p.o.payload.as_value()), ports["q"].eq(q.o.payload.as_value()),
            *(ports[f"{name}__{index}"].eq(value) for name, values in (
                ("scalars", issue.scalars), ("hold", issue.hold), ("select", issue.select),
                ("control", controls[:-1])) for index, value in enumerate(values)),
            row.words.as_value().eq(ports["result"]),
        ]

        inside = Signal(range(depth + 8))  # instructions taken and not done
        taken = command.valid & command.ready
        m.d.comb += port.done.eq(writer.done)
        with m.If(taken & ~writer.done):
            m.d.sync += inside.eq(inside + 1)
        with m.Elif(~taken & writer.done):
            m.d.sync += inside.eq(inside - 1)
        with m.If(issued):
            m.d.comb += port.activity.eq(Activity.BUSY)
        with m.Elif(p.refused | q.refused | writer.refused):
            m.d.comb += port.activity.eq(Activity.WAIT_MEMORY)
        with m.Elif(inside != 0):
            m.d.comb += port.activity.eq(Activity.WAIT_UNIT)
        return m
