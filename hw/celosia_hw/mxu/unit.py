"""The matrix unit."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.registers import Activity
from celosia_hw.commands import UnitPort, UnitSignature, matmul_layout, tell_activity
from celosia_hw.follow import coming_layout, written_layout
from celosia_hw.memory.ports import (
    READ_LATENCY,
    ReadPort,
    ReadPortSignature,
    WritePort,
    WritePortSignature,
    row_bits,
    same_bank,
)
from celosia_hw.mxu.array import SystolicArray
from celosia_hw.mxu.loader import WeightLoader, weights_layout
from celosia_hw.mxu.retire import Retire
from celosia_hw.mxu.streamer import RowStreamer, rows_layout
from celosia_hw.stream import Queue, delayed

__all__ = ["MatrixUnit"]


class MatrixUnit(wiring.Component):
    """Executes matmuls: rows of activations times a tile of weights, into the accumulators.

    The loader fetches the next tile while the streamer sends the rows of the present one; a run of
    commands of M rows each takes max(M, D) cycles a command, without a gap where M >= D. The
    first row of a command with ``wload`` starts D cycles after its tile's first read at the
    earliest, and follows loads row by row; a row is written
    READ_LATENCY + ``SystolicArray.latency`` + ``config.sum_cycles`` cycles after its read is
    granted.

    Members
    -------
    port : In(UnitSignature)
        Commands in; ``error`` is never raised.
    acts, weights : Out(ReadPort)
        Of the unified buffer. ``acts`` must always be ready; ``weights`` is refused where ``acts``
        asks for the same bank, and only there.
    acc_read, acc_write : Out
        Ports of the accumulators; must always be ready.
    coming : In
        Rows of the unified buffer that are not there yet, as of `LoadProgress`.
    written : Out
        The oldest command has written ``row``, or does in this cycle, if ``valid``.
    """

    port: UnitPort
    acts: ReadPort
    weights: ReadPort
    acc_read: ReadPort
    acc_write: WritePort
    coming: data.View
    written: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = row_bits(config)
        super().__init__({
            "port": In(UnitSignature(matmul_layout(config))),
            "acts": Out(ReadPortSignature(bits, config.ub_row_bits)),
            "weights": Out(ReadPortSignature(bits, config.ub_row_bits)),
            "acc_read": Out(ReadPortSignature(bits, config.acc_row_bits)),
            "acc_write": Out(WritePortSignature(bits, config.acc_row_bits)),
            "coming": In(coming_layout(config)),
            "written": Out(written_layout(config)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        if not config.small:
            m.submodules.tiles = tiles = Queue(weights_layout(config), 2)
            m.submodules.rows = rows = Queue(rows_layout(config), 2)
        m.submodules.loader = loader = WeightLoader(config)
        m.submodules.streamer = streamer = RowStreamer(config)
        m.submodules.array = array = SystolicArray(config)
        m.submodules.retire = retire = Retire(config)

        command = self.port.command
        tile, walk, waits = loader.command, streamer.command, streamer.active
        if config.small:
            # A command waits where it comes from until its rows are taken; its tile may be before.
            begun, loads = Signal(), Signal()
            m.d.comb += [
                loads.eq(command.payload.wload & ~begun), tile.valid.eq(command.valid & loads),
                walk.valid.eq(command.valid & (~loads | tile.ready)),
                command.ready.eq(walk.ready & (~loads | tile.ready)),
            ]
            with m.If(command.valid):
                m.d.sync += begun.eq(~walk.ready & (begun | tile.ready))
        else:
            tile, walk, waits = tiles.i, rows.i, streamer.active | rows.o.valid
            m.d.comb += [
                command.ready.eq(tile.ready & walk.ready),
                tile.valid.eq(command.valid & command.payload.wload & walk.ready),
                walk.valid.eq(command.valid & tile.ready),
            ]
        for each in (tile, walk):
            for field in each.payload.shape().members:
                m.d.comb += each.payload[field].eq(command.payload[field])
        if not config.small:
            wiring.connect(m, tiles.o, loader.command)
            wiring.connect(m, rows.o, streamer.command)
        wiring.connect(m, wiring.flipped(self.weights), loader.port)
        wiring.connect(m, wiring.flipped(self.acts), streamer.port)
        wiring.connect(m, wiring.flipped(self.acc_read), retire.read)
        wiring.connect(m, wiring.flipped(self.acc_write), retire.write)

        m.d.comb += [
            loader.coming.eq(self.coming), streamer.coming.eq(self.coming),
            loader.swap.eq(streamer.swap), streamer.loaded.eq(loader.loaded),
            array.i_acts.eq(self.acts.data),
            array.i_swap.eq(delayed(m, streamer.swap, 1 + READ_LATENCY, name="swap")[-1]),
            array.i_weights.eq(loader.o_row), array.i_weights_valid.eq(loader.o_valid),
            array.i_weights_row.eq(loader.o_index), array.i_transpose.eq(loader.o_transpose),
            retire.i_valid.eq(streamer.o_valid), retire.i.eq(streamer.o),
            retire.i_sums.eq(array.o_sums),
            self.port.done.eq(retire.done), self.port.error.eq(0),
        ]
        if config.int8 and config.bf16:
            m.d.comb += array.i_bf16.eq(
                delayed(m, streamer.o.bf16, READ_LATENCY, name="bf16")[-1])

        # Of a row that is written in this cycle: a read of it is granted in the next one at the
        # earliest.
        m.d.sync += self.written.valid.eq((self.written.valid | retire.coming) & ~retire.done)
        with m.If(retire.coming):
            m.d.sync += self.written.row.eq(retire.row)

        # Rows of activations come first: weights in the same bank wait.
        m.d.comb += loader.yields.eq(
            self.acts.valid & same_bank(config, self.acts.addr, self.weights.addr))
        tell_activity(m, self.port,
                      (streamer.o_valid, Activity.BUSY),
                      (streamer.following, Activity.WAIT_DEPS),
                      (waits | retire.busy, Activity.WAIT_UNIT))
        return m
