"""The on-chip rows of a DMA command, and reading them."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia_hw.dma.split import rows_layout
from celosia_hw.follow import written_layout
from celosia_hw.memory.agen import AddressGenerator
from celosia_hw.memory.ports import READ_LATENCY, ReadPort, ReadPortSignature, row_bits
from celosia_hw.stream import Queue, delayed, outstanding

__all__ = ["RowFetch", "RowWalk", "stored_layout"]

#: Rows that may be under way or wait: a read's latency, and a cycle each to queue and to credit.
_ROWS_AHEAD = 4


class RowWalk(wiring.Component):
    """Holds a command and walks its on-chip rows, groups innermost. A row a cycle, also between
    commands.

    Members
    -------
    i : In(stream)
        Commands.
    valid : Out(1)
        There is a row.
    command : Out
        What it is of.
    row : Out
        Its number.
    row_last, last : Out(1)
        It ends an external row, the command.
    step : In(1)
        Go on to the next one; only with ``valid``.
    """

    i: stream.Interface
    valid: Signal
    command: data.View
    row: Signal
    row_last: Signal
    last: Signal
    step: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        layout = rows_layout(config)
        super().__init__({
            "i": In(stream.Signature(layout)), "valid": Out(1), "command": Out(layout),
            "row": Out(row_bits(config)), "row_last": Out(1), "last": Out(1), "step": In(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.agen = agen = AddressGenerator(self._config)
        command = self.i.payload
        held = Signal.like(self.command, reset_less=True)
        m.d.comb += [
            self.i.ready.eq(~self.valid | (self.step & self.last)),
            agen.start.eq(self.i.valid & self.i.ready), agen.step.eq(self.step),
            agen.counts.n0.eq(command.groups), agen.counts.n1.eq(command.rows),
            agen.counts.n2.eq(1), agen.stream.base.eq(command.row),
            agen.stream.s0.eq(command.group_step), agen.stream.s1.eq(command.row_step),
            self.row.eq(agen.row), self.row_last.eq(agen.line), self.last.eq(agen.last),
            self.command.eq(held),
        ]
        with m.If(self.i.ready):
            m.d.sync += self.valid.eq(self.i.valid)
        with m.If(agen.start):
            m.d.sync += held.eq(command)
        return m


def stored_layout(config: TpuConfig) -> data.StructLayout:
    """A row that was read, as D lanes of 32 bits: of the unified buffer (``ub``) they are in the
    low bits, the others undefined. What it becomes: its format in external memory, the piece at
    which the external row ends if this is its last row, and whether the command ends.
    """
    rows = rows_layout(config)
    return data.StructLayout({
        "lanes": config.acc_row_bits, "ub": 1, "fmt": DmaFormat, "tail": rows["tail"].shape,
        "row_last": 1, "last": 1,
    })


class RowFetch(wiring.Component):
    """Reads the on-chip rows of commands into a queue. A row a cycle.

    Members
    -------
    i : In(stream)
        Commands.
    ub, acc : Out
        Read ports.
    o : Out(stream of stored_layout)
    following : In(1), written : In
        The rows of the accumulators that come are being written; as of `MatrixUnit`. Then a row is
        read every other cycle at most.
    reading : Out(1)
        A row is asked for.
    read : Out(1)
        It is granted in this cycle.
    """

    i: stream.Interface
    ub: ReadPort
    acc: ReadPort
    o: stream.Interface
    following: Signal
    written: data.View
    reading: Signal
    read: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = row_bits(config)
        super().__init__({
            "i": In(stream.Signature(rows_layout(config))),
            "ub": Out(ReadPortSignature(bits, config.ub_row_bits)),
            "acc": Out(ReadPortSignature(bits, config.acc_row_bits)),
            "o": Out(stream.Signature(stored_layout(config))),
            "following": In(1), "written": In(written_layout(config)),
            "reading": Out(1), "read": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.walk = walk = RowWalk(self._config)
        m.submodules.queue = queue = Queue(stored_layout(self._config), _ROWS_AHEAD)
        wiring.connect(m, wiring.flipped(self.i), walk.i)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        ahead = outstanding(m, self.read, queue.o.valid & queue.o.ready, _ROWS_AHEAD, name="ahead")
        in_acc = walk.command.mem == Mem.ACC
        # Whether the row is there is known a cycle after it has become this one.
        there = Signal(init=1)
        m.d.sync += there.eq(~self.following | (walk.valid & ~walk.step & (
            ~in_acc | (self.written.valid & (walk.row <= self.written.row)))))
        m.d.comb += [
            self.reading.eq(walk.valid & there & (ahead != _ROWS_AHEAD)),
            self.ub.valid.eq(self.reading & ~in_acc), self.acc.valid.eq(self.reading & in_acc),
            self.ub.addr.eq(walk.row), self.acc.addr.eq(walk.row),
            self.read.eq(self.reading & Mux(in_acc, self.acc.ready, self.ub.ready)),
            walk.step.eq(self.read),
        ]

        asked, row = Signal(stored_layout(self._config)), queue.i.payload
        m.d.comb += [
            asked.ub.eq(~in_acc), asked.fmt.eq(walk.command.fmt), asked.tail.eq(walk.command.tail),
            asked.row_last.eq(walk.row_last), asked.last.eq(walk.last),
        ]
        m.d.comb += queue.i.valid.eq(delayed(m, self.read, READ_LATENCY, name="arrives")[-1])
        for name in ("ub", "fmt", "tail", "row_last", "last"):
            m.d.comb += row[name].eq(
                delayed(m, asked[name], READ_LATENCY, name=name, reset_less=True)[-1])
        bits = self._config.lane_bits
        ub_lanes = Cat(  # the upper bits do not matter: those of the other memory are free
            Cat(self.ub.data.word_select(k, bits), self.acc.data[32 * k + bits:32 * k + 32])
            for k in range(self._config.dim))
        m.d.comb += row.lanes.eq(Mux(row.ub, ub_lanes, self.acc.data))
        return m
