"""The on-chip rows of a DMA command, and reading them."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia_hw.dma.split import rows_layout
from celosia_hw.follow import written_layout
from celosia_hw.memory.agen import AddressGenerator
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, row_bits
from celosia_hw.memory.requests import ReadRequests
from celosia_hw.stream import Queue, outstanding

__all__ = ["RowFetch", "RowWalk", "stored_layout"]

#: Rows that may be under way or wait: a read's latency, and a cycle each to queue and to credit.
_ROWS_AHEAD = 4
#: The same where they are asked for out of a register; a power of two.
_ROWS_AHEAD_CUT = 8


class RowWalk(wiring.Component):
    """Holds a command and walks its on-chip rows, groups innermost. A row a cycle, also between
    commands; one that is cut has a cycle between them, for what stops a row is not to stop
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
            self.i.ready.eq(~self.valid | (0 if self._config.cut else self.step & self.last)),
            agen.start.eq(self.i.valid & self.i.ready), agen.step.eq(self.step),
            agen.counts.n0.eq(command.groups), agen.counts.n1.eq(command.rows),
            agen.counts.n2.eq(1), agen.stream.base.eq(command.row),
            agen.stream.s0.eq(command.group_step), agen.stream.s1.eq(command.row_step),
            self.row.eq(agen.row), self.row_last.eq(agen.line), self.last.eq(agen.last),
            self.command.eq(held),
        ]
        with m.If(self.i.ready):
            m.d.sync += self.valid.eq(self.i.valid)
        with m.Elif(self.step & self.last):
            m.d.sync += self.valid.eq(0)
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
    """Reads the on-chip rows of commands into a queue. A row a cycle, but for one between commands
    of one memory and of the other.

    On a chip that is cut a row is asked for a cycle later, out of a register: what refuses it does
    not reach the walk in the same cycle.

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
    read, refused : Out(1)
        A row was granted, refused in the cycle before.
    """

    i: stream.Interface
    ub: ReadPort
    acc: ReadPort
    o: stream.Interface
    following: Signal
    written: data.View
    read: Signal
    refused: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = row_bits(config)
        super().__init__({
            "i": In(stream.Signature(rows_layout(config))),
            "ub": Out(ReadPortSignature(bits, config.ub_row_bits)),
            "acc": Out(ReadPortSignature(bits, config.acc_row_bits)),
            "o": Out(stream.Signature(stored_layout(config))),
            "following": In(1), "written": In(written_layout(config)),
            "read": Out(1), "refused": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        cut = self._config.cut
        depth = _ROWS_AHEAD_CUT if cut else _ROWS_AHEAD
        layout = stored_layout(self._config)
        m.submodules.walk = walk = RowWalk(self._config)
        m.submodules.queue = queue = Queue(layout, depth)
        wiring.connect(m, wiring.flipped(self.i), walk.i)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        ahead = outstanding(m, walk.step, queue.o.valid & queue.o.ready, depth, name="ahead")
        in_acc = walk.command.mem == Mem.ACC
        # Whether the row is there is known a cycle after it has become this one.
        there = Signal(init=1)
        m.d.sync += there.eq(~self.following | (walk.valid & ~walk.step & (
            ~in_acc | (self.written.valid & (walk.row <= self.written.row)))))

        said = data.StructLayout({name: shape for name, shape in layout.members.items()
                                  if name not in ("lanes", "ub")})
        m.submodules.requests = requests = ReadRequests(
            row_bits(self._config), self._config.ub_row_bits, self._config.acc_row_bits, said)
        walked: Any = stream.Signature(requests.i.payload.shape()).create()
        tag = walked.payload.tag
        m.d.comb += [
            walked.valid.eq(walk.valid & there & (ahead != depth)),
            walk.step.eq(walked.valid & walked.ready),
            walked.payload.addr.eq(walk.row), walked.payload.ub.eq(~in_acc),
            walked.payload.acc.eq(in_acc), tag.fmt.eq(walk.command.fmt),
            tag.tail.eq(walk.command.tail), tag.row_last.eq(walk.row_last), tag.last.eq(walk.last),
        ]
        asked = walked
        if cut:
            m.submodules.waiting = waiting = Queue(walked.payload.shape(), 2)
            wiring.connect(m, walked, waiting.i)
            asked = waiting.o
        wiring.connect(m, asked, requests.i)
        for inner, port in ((requests.ub, self.ub), (requests.acc, self.acc)):
            wiring.connect(m, inner, wiring.flipped(port))
        m.d.comb += [self.refused.eq(requests.refused), self.read.eq(requests.granted)]

        row = queue.i.payload
        m.d.comb += [queue.i.valid.eq(requests.arrives), row.ub.eq(requests.from_ub),
                     *(row[name].eq(requests.tag[name]) for name in said.members)]
        bits = self._config.lane_bits
        ub_lanes = Cat(  # the upper bits do not matter: those of the other memory are free
            Cat(self.ub.data.word_select(k, bits), self.acc.data[32 * k + bits:32 * k + 32])
            for k in range(self._config.dim))
        m.d.comb += row.lanes.eq(Mux(row.ub, ub_lanes, self.acc.data))
        return m
