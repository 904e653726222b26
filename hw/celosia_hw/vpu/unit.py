"""The vector unit: rows of D lanes of 32 bits, a row a cycle or a part of one."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.lane import in_flight, lane_latency
from celosia.arch.registers import Activity
from celosia_hw.commands import UnitPort, UnitSignature, vector_layout
from celosia_hw.grid import Grid
from celosia_hw.memory.ports import (
    ReadPort,
    ReadPortSignature,
    WritePort,
    WritePortSignature,
    asked_row,
    beat_bits,
)
from celosia_hw.memory.reader import RowReader
from celosia_hw.memory.writer import RowWriter
from celosia_hw.stream import Queue, delayed, outstanding
from celosia_hw.vpu.fetch import OperandFetch
from celosia_hw.vpu.indexer import Indexer, place_layout
from celosia_hw.vpu.issue import Issue
from celosia_hw.vpu.lane import Lane
from celosia_hw.vpu.mover import Mover, moved_layout
from celosia_hw.vpu.moves import MoveTarget, pick, tag_layout
from celosia_hw.vpu.results import Results
from celosia_hw.vpu.tree import LaneTree

__all__ = ["VectorUnit"]


class VectorUnit(wiring.Component):
    r"""Executes ``vector`` instructions.

    ::

        command -> fetch -> P reader -> mover -> lanes -> (tree) -> writer -> unified buffer,
                    | |  \-> Q reader ---------^                              accumulators
                    |  \-> indexer (-> P reader, -> issue)
                     \-> issue ----------------^ (control and target go along with the row)

    A row goes through in ``config.fold`` beats of ``config.lanes`` words, in order; what is said of
    rows here is for one beat, and of their beats where there are more. Then the command, the rows
    read and those written are registered on their way, which takes ``boundary_latency(config)``
    cycles more. ``activity`` is that of the cycle before.

    Throughput: a row a cycle while the ports grant; an instruction follows the one before without a
    gap but a cycle for its single rows (two where there are three), one where a reader goes from a
    memory to the other (`RowReader`), ``tree_latency(config)`` cycles
    from one that joins lanes to one that does not, and D + 1 where transposed rows begin. A folded
    row that is rotated takes a cycle more. Reads run
    ahead of the lanes, into the next instruction too, so instructions that are in the unit together
    must not conflict; the scoreboard sees to it. Rows enter the lanes only while the writer has
    room for all that are in them: nothing in the lanes ever stops. The first row is written
    ``lane_latency(config)`` + 3 cycles after the command was offered, 1 later with single rows and
    2 with three, ``tree_latency(config)`` later where lanes are joined, D + 1 where rows are
    transposed, 4 where they are gathered. A command is taken when its reads have been asked for
    and the one before has started its last row.

    The first stream of a, b, c reads through P, the second through Q. Of a gather, the indexes come
    through Q and the table's rows through P.

    Members
    -------
    port : In(UnitSignature(vector_layout))
        ``error``: an index of a gather or scatter was out of range; ``detail`` is the first such
        index since reset, so that of the first command with an error.
    ub_p, ub_q, acc_p, acc_q : Out(ReadPortSignature)
    ub_write, acc_write : Out(WritePortSignature)
        As of `RowWriter`.
    first : In(asked_row)
        Of the port of the accumulators that comes before ``acc_write``.
    """

    port: UnitPort
    ub_p: ReadPort
    ub_q: ReadPort
    acc_p: ReadPort
    acc_q: ReadPort
    ub_write: WritePort
    acc_write: WritePort
    first: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = beat_bits(config)
        ub_bits, acc_bits = config.ub_row_bits // config.fold, config.acc_row_bits // config.fold
        ub, acc = ReadPortSignature(bits, ub_bits), ReadPortSignature(bits, acc_bits)
        super().__init__({
            "port": In(UnitSignature(vector_layout(config))),
            "ub_p": Out(ub), "ub_q": Out(ub), "acc_p": Out(acc), "acc_q": Out(acc),
            "ub_write": Out(WritePortSignature(bits, ub_bits)),
            "acc_write": Out(WritePortSignature(bits, acc_bits)),
            "first": In(asked_row(config)),
        })

    def elaborate(self, platform):  # noqa: D102
        config = self._config
        port: Any = self.port
        latency = lane_latency(config)
        depth = in_flight(config)
        m = Module()
        m.submodules.fetch = fetch = OperandFetch(config)
        m.submodules.indexer = indexer = Indexer(config)
        m.submodules.mover = mover = Mover(config)
        m.submodules.issue = issue = Issue(config)
        m.submodules.p = p = RowReader(config, tag_layout(config))
        m.submodules.q = q = RowReader(config, tag_layout(config))
        m.submodules.tree = tree = LaneTree(config)
        m.submodules.results = results = Results(config)
        m.submodules.writer = writer = RowWriter(config, depth)
        moved, placed = self._behind(m, mover, indexer)
        for source, to in (
                (flipped(self.port).command, fetch.i), (fetch.o, issue.i), (fetch.q, q.i),
                (fetch.table, indexer.i), (placed, issue.place), (p.o, mover.i),
                (p.ub, flipped(self.ub_p)), (p.acc, flipped(self.acc_p)),
                (q.ub, flipped(self.ub_q)), (q.acc, flipped(self.acc_q)),
                (writer.ub, flipped(self.ub_write)), (writer.acc, flipped(self.acc_write))):
            connect(m, source, to)

        # Rows: a gather's table through P, rows of indexes to the indexer, all others to the lanes.
        m.d.comb += p.i.payload.eq(Mux(indexer.gathering, indexer.walk.payload.as_value(),
                                          fetch.p.payload.as_value()))
        indexes = q.o.payload.tag.move == MoveTarget.INDEX
        q_lane = Mux(indexes, indexer.lane, q.o.payload.tag.lane)
        q_word = pick(m, q.o.payload.words.as_value(), q_lane, "q_lane")
        m.d.comb += [
            p.i.valid.eq(Mux(indexer.gathering, indexer.walk.valid, fetch.p.valid)),
            indexer.walk.ready.eq(p.i.ready),
            fetch.p.ready.eq(p.i.ready & ~indexer.gathering),
            issue.p_valid.eq(moved.valid), issue.p_bad.eq(moved.payload.bad),
            moved.ready.eq(issue.p_ready),
            issue.q_valid.eq(q.o.valid & ~indexes), indexer.index.valid.eq(q.o.valid & indexes),
            indexer.index.payload.word.eq(q_word), indexer.index.payload.last.eq(q.o.payload.last),
            q.o.ready.eq(Mux(indexes, indexer.index.ready & indexer.over, issue.q_ready)),
        ]

        issued = issue.control.valid
        leave = writer.freed + results.dropped
        rows, full = outstanding(m, issued, leave, depth, name="rows"), Signal()
        m.d.sync += full.eq(~leave.any() & ((rows == depth) | (issued & (rows == depth - 1))))
        controls = delayed(m, issue.control, latency, name="control")
        if config.small:
            targets = self._targets(m, issue.target, controls[-2].valid)
        else:
            targets = delayed(m, issue.target, latency, name="target", reset_less=True,
                              enables=[control.valid for control in controls])

        m.submodules.lanes = lanes = Grid(
            lambda: Lane(config), module="vpu_lane", cols=config.lanes,
            shared=("active", "p_lane", "q_lane", "indexes", "holds", "sources", "control"),
            active="active")
        ports = lanes.members
        m.d.comb += [
            ports["active"].eq(Cat(issue.holds, (each.valid for each in controls[:-1])).any()),
            ports["p"].eq(moved.payload.words.as_value()),
            ports["q"].eq(q.o.payload.words.as_value()),
            ports["p_lane"].eq(moved.payload.words[0]),  # the row is turned to it
            ports["q_lane"].eq(q_word),
            *(ports["number"].word_select(lane, 8).eq(
                Cat(Const(lane, exact_log2(config.lanes)), issue.beat))
              for lane in range(config.lanes)),
            ports["holds"].eq(issue.holds),
            *(ports[f"{name}__{index}"].eq(value) for name, values in (
                ("indexes", issue.indexes), ("sources", issue.sources),
                ("control", controls[:-1])) for index, value in enumerate(values)),
            tree.i_valid.eq(controls[-1].valid & targets[-1].tree), tree.i_target.eq(targets[-1]),
            tree.i_words.as_value().eq(ports["result"]),
            results.lanes_coming.eq(controls[-2].valid & ~targets[-2].tree),
            results.lanes_target.eq(targets[-2]), results.tree_coming.eq(tree.coming),
            results.tree_target.eq(tree.target), writer.i.valid.eq(results.valid),
            results.words.as_value().eq(
                Mux(tree.o_valid, tree.o_words.as_value(), ports["result"])),
            writer.i.payload.eq(results.o), issue.room.eq(~full),
        ]

        command = port.command
        commands = outstanding(m, command.valid & command.ready, writer.done, depth + 7,
                               name="commands")
        m.d.comb += [writer.first.eq(self.first), port.done.eq(writer.done),
                     port.error.eq(writer.error),
                     port.detail.eq(Mux(writer.error, indexer.detail, 0))]
        stalled = Signal()  # the command has been offered for a cycle
        m.d.sync += stalled.eq(command.valid & ~command.ready)
        activity = Signal(Activity)
        with m.If(issued):
            m.d.comb += activity.eq(Activity.BUSY)
        with m.Elif(p.refused | q.refused | writer.refused):
            m.d.comb += activity.eq(Activity.WAIT_MEMORY)
        with m.Elif((command.valid & stalled) | (commands != 0)):
            m.d.comb += activity.eq(Activity.WAIT_UNIT)
        m.d.sync += port.activity.eq(activity)
        return m

    def _targets(self, m: Module, target: Any, valid: Signal) -> list[Any]:
        """Return what ``target`` was a cycle before a beat that is ``valid`` leaves the lanes, and
        as it leaves: the way there is through a ring in a memory.
        """
        latency = lane_latency(self._config)
        depth = 1 << (latency - 2).bit_length()
        m.submodules.targets = ring = Memory(shape=target.shape(), depth=depth, init=[])
        write, read = ring.write_port(), ring.read_port()
        position = Signal(range(depth))  # wraps by itself
        m.d.sync += position.eq(position + 1)
        m.d.comb += [write.addr.eq(position), write.data.eq(target), write.en.eq(1),
                     read.addr.eq(position - (latency - 2)), read.en.eq(1)]
        last = Signal.like(target, name="target", reset_less=True)
        with m.If(valid):
            m.d.sync += last.eq(read.data)
        return [read.data, last]

    def _behind(self, m: Module, mover: Mover, indexer: Indexer) -> tuple[Any, Any]:
        """Return beats and places for the lanes. On a chip that is cut nothing that stops the
        lanes reaches readers and indexer in the same cycle.
        """
        if not self._config.cut:
            return mover.o, indexer.place
        m.submodules.moved = moved = Queue(moved_layout(self._config), 2)
        m.submodules.placed = placed = Queue(place_layout(self._config), 2)
        connect(m, mover.o, moved.i)
        connect(m, indexer.place, placed.i)
        return moved.o, placed.o
