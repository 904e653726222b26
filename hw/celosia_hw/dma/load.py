"""The load engine: external memory to on-chip memory."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import BEATS_AHEAD, TpuConfig
from celosia.arch.registers import Activity
from celosia_hw.bus.axi import LOAD_ID, OKAY, AxiRead, AxiReadSignature
from celosia_hw.commands import UnitPort, UnitSignature, dma_layout, tell_activity
from celosia_hw.dma.align import LoadAligner, loaded_layout, unit_layout
from celosia_hw.dma.progress import LoadProgress
from celosia_hw.dma.split import BOUNDARY_BEATS, CommandSplit, align_layout, rows_layout
from celosia_hw.dma.unpack import Unpacker
from celosia_hw.dma.walker import BurstWalker
from celosia_hw.follow import coming_layout, rises
from celosia_hw.memory.ports import WritePort, WritePortSignature, row_bits
from celosia_hw.stream import Queue, SkidBuffer, outstanding, shallow

__all__ = ["LoadEngine"]

#: Commands whose bursts may run ahead of the data.
_COMMANDS_AHEAD = 16
#: Beats asked for at most: of three bursts that are made or offered before the stall is heard; of
#: four where the walk is cut.
_MOST_BEATS = BEATS_AHEAD - 1 + 4 * BOUNDARY_BEATS
#: Commands in the engine at most: those of a queue, and fewer than as many in the parts beside it.
_MOST_COMMANDS = 2 * _COMMANDS_AHEAD


class LoadEngine(wiring.Component):
    """Executes LOAD.

    Bursts are asked for ahead of the data, across commands. Sustained throughput: one on-chip row
    or one beat a cycle, whichever binds; see :class:`~celosia_hw.dma.align.LoadAligner` for the
    cycles that unaligned rows lose. From command to AR: 4 cycles; from the last beat to ``done``:
    5 cycles, or 6 where the last unit needs no beat of its own.

    A beat with an error response is stored like any other; the command reports it with ``done``.

    Members
    -------
    port : In(UnitSignature)
    axi : Out(AxiReadSignature)
    ub, acc : Out(WritePortSignature)
    coming : Out
        As of :class:`~celosia_hw.dma.progress.LoadProgress`.
    """

    port: UnitPort
    axi: AxiRead
    ub: WritePort
    acc: WritePort
    coming: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = row_bits(config)
        super().__init__({
            "port": In(UnitSignature(dma_layout(config))),
            "axi": Out(AxiReadSignature(config.bus_bytes)),
            "ub": Out(WritePortSignature(bits, config.ub_row_bits)),
            "acc": Out(WritePortSignature(bits, config.acc_row_bits)),
            "coming": Out(coming_layout(config)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        m.submodules.split = split = CommandSplit(config)
        m.submodules.walker = walker = BurstWalker(config, LOAD_ID)
        # Of each burst that is made or on its way, whether it ends its row, its command. It has a
        # beat at least, so there is room for all of them.
        m.submodules.ends = ends = Queue(data.StructLayout({"row_last": 1, "last": 1}),
                                         2 * BEATS_AHEAD)
        m.submodules.align_commands = align_commands = Queue(
            align_layout(config), _COMMANDS_AHEAD)
        m.submodules.rows_commands = rows_commands = Queue(rows_layout(config), _COMMANDS_AHEAD)
        m.submodules.beats = beats = Queue(loaded_layout(config), shallow(config))
        m.submodules.aligner = aligner = LoadAligner(config)
        m.submodules.units = units = SkidBuffer(
            unit_layout(config), holds=not config.small)
        m.submodules.unpacker = unpacker = Unpacker(config)
        wiring.connect(m, wiring.flipped(self.port.command), split.i)
        split.fork(m, (walker.i, split.walk), (align_commands.i, split.align),
                   (rows_commands.i, split.rows))
        wiring.connect(m, walker.o, wiring.flipped(self.axi.ar))
        wiring.connect(m, beats.o, aligner.i)
        wiring.connect(m, align_commands.o, aligner.command)
        wiring.connect(m, aligner.o, units.i)
        wiring.connect(m, units.o, unpacker.i)
        wiring.connect(m, rows_commands.o, unpacker.command)
        wiring.connect(m, unpacker.ub, wiring.flipped(self.ub))
        wiring.connect(m, unpacker.acc, wiring.flipped(self.acc))

        ar, r, beat = self.axi.ar, self.axi.r, beats.i.payload
        asked, received = ar.valid & ar.ready, r.valid & r.ready
        m.d.comb += [
            ends.i.valid.eq(walker.made), ends.i.payload.row_last.eq(walker.row_last),
            ends.i.payload.last.eq(walker.last), ends.o.ready.eq(received & r.payload.last),
            beats.i.valid.eq(r.valid), r.ready.eq(beats.i.ready),
            beat.data.eq(r.payload.data), beat.error.eq(r.payload.resp != OKAY),
            beat.row_last.eq(r.payload.last & ends.o.payload.row_last),
            beat.last.eq(r.payload.last & ends.o.payload.last),
        ]
        ahead = outstanding(m, Mux(asked, ar.payload.len + 1, 0), received, _MOST_BEATS,
                            name="ahead")
        m.d.sync += walker.stall.eq(ahead >= BEATS_AHEAD)
        m.d.comb += [
            self.port.done.eq(unpacker.done), self.port.error.eq(unpacker.error),
        ]

        taken, command = Signal(), self.port.command.payload
        m.submodules.progress = progress = LoadProgress(config, config.window)
        m.d.comb += [
            taken.eq(self.port.command.valid & self.port.command.ready),
            progress.taken.eq(taken), progress.follow.eq(rises(config, command)),
            progress.row.eq(command.row), progress.rows.eq(command.rows),
            progress.wrote.eq(unpacker.wrote), progress.done.eq(unpacker.done),
            self.coming.eq(progress.coming),
        ]
        commands = outstanding(m, taken, self.port.done, _MOST_COMMANDS, name="commands")
        tell_activity(m, self.port,
                      (commands == 0, Activity.IDLE),
                      (unpacker.wrote | received, Activity.BUSY),
                      (unpacker.writing, Activity.WAIT_MEMORY),
                      ((ahead != 0) | ar.valid, Activity.WAIT_BUS),
                      (commands != 0, Activity.WAIT_UNIT))
        return m
