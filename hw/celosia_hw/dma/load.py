"""The load engine: external memory to on-chip memory."""

from amaranth.hdl import Cat, Module, Mux, Signal
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
from celosia_hw.memory.ports import (
    WritePort,
    WritePortSignature,
    asked_row,
    row_bits,
    same_bank,
)
from celosia_hw.memory.requests import ub_lanes
from celosia_hw.stream import Queue, SkidBuffer, outstanding, shallow

__all__ = ["LoadEngine", "before_layout"]

#: Commands whose bursts may run ahead of the data.
_COMMANDS_AHEAD = 16
#: Beats asked for at most: of three bursts that are made or offered before the stall is heard.
_MOST_BEATS = BEATS_AHEAD - 1 + 3 * BOUNDARY_BEATS
#: Commands in the engine at most: those of a queue, and fewer than as many in the parts beside it.
_MOST_COMMANDS = 2 * _COMMANDS_AHEAD


def before_layout(config: TpuConfig) -> data.StructLayout:
    """What the ports ask for that come before those of the load engine, of each memory: the vector
    unit's of the unified buffer, the matrix unit's and the vector unit's of the accumulators.
    """
    asked = asked_row(config)
    return data.StructLayout({"ub": data.ArrayLayout(asked, 1), "acc": data.ArrayLayout(asked, 2)})


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
        Beats with another ID than LOAD_ID are not looked at.
    abort : In(1)
        Nor is any.
    ub, acc : Out(WritePortSignature)
        A row is asked for until it is granted.
    before : In(before_layout)
    coming : Out
        As of :class:`~celosia_hw.dma.progress.LoadProgress`.
    """

    port: UnitPort
    axi: AxiRead
    abort: Signal
    ub: WritePort
    acc: WritePort
    before: data.View
    coming: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = row_bits(config)
        super().__init__({
            "port": In(UnitSignature(dma_layout(config))),
            "axi": Out(AxiReadSignature(config.bus_bytes)), "abort": In(1),
            "ub": Out(WritePortSignature(bits, config.ub_row_bits)),
            "acc": Out(WritePortSignature(bits, config.acc_row_bits)),
            "before": In(before_layout(config)), "coming": Out(coming_layout(config)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        m.submodules.split = split = CommandSplit(config)
        m.submodules.walker = walker = BurstWalker(config, LOAD_ID)
        # Of each burst that is on its way, whether it ends its row, its command. It has a beat at
        # least, so there is room for all of them.
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
        # What refuses a row is not to reach the pieces in the same cycle.
        m.submodules.rows = rows = Queue(unpacker.o.payload.shape(), shallow(config))
        wiring.connect(m, wiring.flipped(self.port.command), split.i)
        split.fork(m, (walker.i, split.walk), (align_commands.i, split.align),
                   (rows_commands.i, split.rows))
        wiring.connect(m, walker.o, wiring.flipped(self.axi.ar))
        wiring.connect(m, beats.o, aligner.i)
        wiring.connect(m, align_commands.o, aligner.command)
        wiring.connect(m, aligner.o, units.i)
        wiring.connect(m, units.o, unpacker.i)
        wiring.connect(m, rows_commands.o, unpacker.command)
        wiring.connect(m, unpacker.o, rows.i)

        ar, r, beat = self.axi.ar, self.axi.r, beats.i.payload
        mine = r.valid & (r.payload.id == LOAD_ID) & ~self.abort
        asked, received = ar.valid & ar.ready, mine & r.ready
        m.d.comb += [
            ends.i.valid.eq(asked), ends.i.payload.row_last.eq(walker.row_last),
            ends.i.payload.last.eq(walker.last), ends.o.ready.eq(received & r.payload.last),
            beats.i.valid.eq(mine), r.ready.eq(beats.i.ready),
            beat.data.eq(r.payload.data), beat.error.eq(r.payload.resp != OKAY),
            beat.row_last.eq(r.payload.last & ends.o.payload.row_last),
            beat.last.eq(r.payload.last & ends.o.payload.last),
        ]
        ahead = outstanding(m, Mux(asked, ar.payload.len + 1, 0), received, _MOST_BEATS,
                            name="ahead")
        m.d.sync += walker.stall.eq(ahead >= BEATS_AHEAD)
        row, wrote = rows.o.payload, Signal()
        meets_ub, meets_acc = (
            Cat(other.valid & same_bank(config, other.row, row.address) for other in others).any()
            for others in (self.before.ub, self.before.acc))
        m.d.comb += [
            wrote.eq(rows.o.valid & ~Mux(row.ub, meets_ub, meets_acc)), rows.o.ready.eq(wrote),
            self.ub.valid.eq(rows.o.valid & row.ub), self.acc.valid.eq(rows.o.valid & ~row.ub),
            self.ub.addr.eq(row.address), self.acc.addr.eq(row.address),
            self.ub.data.eq(ub_lanes(config, row.lanes)), self.acc.data.eq(row.lanes),
        ]
        ended = wrote & row.last
        m.d.sync += [self.port.done.eq(ended), self.port.error.eq(ended & row.error)]

        taken, command = Signal(), self.port.command.payload
        m.submodules.progress = progress = LoadProgress(config, config.window)
        m.d.comb += [
            taken.eq(self.port.command.valid & self.port.command.ready),
            progress.taken.eq(taken), progress.follow.eq(rises(config, command)),
            progress.row.eq(command.row), progress.rows.eq(command.rows),
            progress.wrote.eq(wrote), progress.done.eq(self.port.done),
            self.coming.eq(progress.coming),
        ]
        commands = outstanding(m, taken, self.port.done, _MOST_COMMANDS, name="commands")
        tell_activity(m, self.port,
                      (commands == 0, Activity.IDLE),
                      (wrote | received, Activity.BUSY),
                      (rows.o.valid, Activity.WAIT_MEMORY),
                      ((ahead != 0) | ar.valid, Activity.WAIT_BUS),
                      (commands != 0, Activity.WAIT_UNIT))
        return m
