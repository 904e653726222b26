"""The store engine: on-chip memory to external memory."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.registers import Activity
from celosia_hw.bus.axi import OKAY, AxiWrite, AxiWriteSignature
from celosia_hw.commands import UnitPort, UnitSignature, dma_layout, tell_activity
from celosia_hw.dma.align import StoreAligner
from celosia_hw.dma.pack import Packer
from celosia_hw.dma.rows import RowFetch
from celosia_hw.dma.split import CommandSplit, align_layout, rows_layout
from celosia_hw.dma.walker import BurstWalker
from celosia_hw.follow import written_layout
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, row_bits
from celosia_hw.stream import Queue, outstanding

__all__ = ["StoreEngine"]

#: Commands that may be in one part of the engine and not yet in the next.
_COMMANDS_AHEAD = 8
#: Bursts asked for and not yet answered at which no further burst is made.
_BURSTS_AHEAD = 128
#: Commands that may wait for their responses.
_COMMANDS_UNANSWERED = 16
#: Bits of a burst's number; numbers in flight are told apart modulo this many.
_NUMBER_BITS = 8


class StoreEngine(wiring.Component):
    """Executes STORE.

    Sustained throughput: one on-chip row or one beat a cycle, whichever binds. The data of a burst
    are offered only after its address was accepted. ``done`` comes two cycles after the last
    response; the next commands are worked on while responses are outstanding. From command to the
    first beat: 9 cycles.

    A burst answered with an error makes the command report an error with ``done``; the rest of it
    is written all the same.

    Members
    -------
    port : In(UnitSignature)
    axi : Out(AxiWriteSignature)
    abort : In(1)
        Responses are not looked at.
    ub, acc : Out(ReadPortSignature)
    following, written : In
        As of :class:`~celosia_hw.dma.rows.RowFetch`.
    """

    port: UnitPort
    axi: AxiWrite
    abort: Signal
    ub: ReadPort
    acc: ReadPort
    following: Signal
    written: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = row_bits(config)
        super().__init__({
            "port": In(UnitSignature(dma_layout(config))),
            "axi": Out(AxiWriteSignature(config.bus_bytes)), "abort": In(1),
            "ub": Out(ReadPortSignature(bits, config.ub_row_bits)),
            "acc": Out(ReadPortSignature(bits, config.acc_row_bits)),
            "following": In(1), "written": In(written_layout(config)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        m.submodules.split = split = CommandSplit(config)
        m.submodules.walker = walker = BurstWalker(config)
        m.submodules.rows_commands = rows_commands = Queue(rows_layout(config), _COMMANDS_AHEAD)
        m.submodules.align_commands = align_commands = Queue(
            align_layout(config), _COMMANDS_AHEAD)
        m.submodules.fetch = fetch = RowFetch(config)
        m.submodules.packer = packer = Packer(config)
        m.submodules.aligner = aligner = StoreAligner(config)
        unanswered = max(_COMMANDS_UNANSWERED, config.window)
        m.submodules.ends = ends = Queue(_NUMBER_BITS, unanswered)
        wiring.connect(m, wiring.flipped(self.port.command), split.i)
        split.fork(m, (walker.i, split.walk), (rows_commands.i, split.rows),
                   (align_commands.i, split.align))
        m.d.comb += [fetch.following.eq(self.following), fetch.written.eq(self.written)]
        wiring.connect(m, walker.o, wiring.flipped(self.axi.aw))
        wiring.connect(m, rows_commands.o, fetch.i)
        wiring.connect(m, align_commands.o, aligner.command)
        wiring.connect(m, fetch.ub, wiring.flipped(self.ub))
        wiring.connect(m, fetch.acc, wiring.flipped(self.acc))
        wiring.connect(m, fetch.o, packer.i)
        wiring.connect(m, packer.o, aligner.i)

        # Bursts are numbered; `ends` holds the number of the first burst after each command
        # that waits for answers. The scoreboard has no more than the window under way.
        asked = Signal(_NUMBER_BITS)
        sent = Signal(_NUMBER_BITS)
        answered = Signal(_NUMBER_BITS)
        error = Signal()
        beat, answer, send, finished = Signal(), Signal(), Signal(), Signal()
        w, beats = self.axi.w, aligner.o
        m.d.sync += walker.stall.eq((asked - answered)[:_NUMBER_BITS] >= _BURSTS_AHEAD)
        accepted = self.axi.aw.valid & self.axi.aw.ready
        ends_burst = beat & w.payload.last
        unsent, may = Signal(_NUMBER_BITS), Signal()  # bursts asked for and not sent; some are
        with m.If(accepted & ~ends_burst):
            m.d.sync += [unsent.eq(unsent + 1), may.eq(1)]
        with m.Elif(ends_burst & ~accepted):
            m.d.sync += [unsent.eq(unsent - 1), may.eq(unsent != 1)]
        m.d.comb += [
            send.eq(may & ends.i.ready),
            w.valid.eq(beats.valid & send), beats.ready.eq(w.ready & send),
            w.payload.eq(beats.payload.beat),
            beat.eq(w.valid & w.ready),
            ends.i.valid.eq(beat & beats.payload.last),
            ends.i.payload.eq(sent + 1),
            self.axi.b.ready.eq(1), answer.eq(self.axi.b.valid & ~self.abort),
            finished.eq(ends.o.valid & (ends.o.payload == answered)),
            ends.o.ready.eq(finished),
        ]
        m.d.sync += [self.port.done.eq(finished), self.port.error.eq(finished & error)]
        with m.If(accepted):
            m.d.sync += asked.eq(asked + 1)
        with m.If(ends_burst):
            m.d.sync += sent.eq(sent + 1)
        with m.If(answer):
            m.d.sync += answered.eq(answered + 1)
        with m.If(answer & (self.axi.b.payload != OKAY)):
            m.d.sync += error.eq(1)
        with m.Elif(finished):
            m.d.sync += error.eq(0)

        commands = outstanding(m, self.port.command.valid & self.port.command.ready,
                               self.port.done, 2 * _COMMANDS_AHEAD + unanswered,
                               name="commands")
        tell_activity(m, self.port,
                      (commands == 0, Activity.IDLE),
                      (fetch.read | beat, Activity.BUSY),
                      (fetch.refused, Activity.WAIT_MEMORY),
                      (self.axi.aw.valid | beats.valid | (asked != answered), Activity.WAIT_BUS),
                      (commands != 0, Activity.WAIT_UNIT))
        return m
