"""Weight loader: reads the stored rows of a tile and feeds them to the array."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia_hw.memory.ports import READ_LATENCY, ReadPort, ReadPortSignature, row_bits
from celosia_hw.stream import delayed

__all__ = ["WeightLoader", "weights_layout"]


def weights_layout(config: TpuConfig) -> data.StructLayout:
    """A tile to load: fields as in :func:`celosia_hw.commands.matmul_layout`."""
    bits = row_bits(config)
    return data.StructLayout({
        "transpose": 1, "w_base": bits, "w_step": bits, "wrows": ceil_log2(config.dim) + 1})


class WeightLoader(wiring.Component):
    """Sends D stored rows a tile, those beyond ``wrows`` as zeros that are not read.

    One row a cycle, tiles without a gap. The load of a tile starts when the tile before it is put
    to use.

    Members
    -------
    command : In(stream)
        Tiles, in order.
    swap : In(1)
        The loaded tile is put to use, in this cycle; only where ``loaded``.
    loaded : Out(1)
        A whole tile is on its way to the array: ``swap`` may come.
    port : Out(ReadPort)
        Of the unified buffer.
    o_row, o_valid, o_index, o_transpose : Out
        A stored row for the array, READ_LATENCY cycles after its turn.
    """

    command: stream.Interface
    swap: Signal
    loaded: Signal
    port: ReadPort
    o_row: Signal
    o_valid: Signal
    o_index: Signal
    o_transpose: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(weights_layout(config))),
            "swap": In(1), "loaded": Out(1),
            "port": Out(ReadPortSignature(row_bits(config), config.ub_row_bits)),
            "o_row": Out(config.ub_row_bits), "o_valid": Out(1),
            "o_index": Out(ceil_log2(config.dim)), "o_transpose": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        dim = self._config.dim
        active = Signal()
        tile = Signal(weights_layout(self._config), reset_less=True)
        index = Signal(ceil_log2(dim))
        loaded = Signal()
        turn, zero, step, last = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            turn.eq(active & (~loaded | self.swap)),
            zero.eq(index >= tile.wrows),
            self.port.valid.eq(turn & ~zero), self.port.addr.eq(tile.w_base),
            step.eq(turn & (zero | self.port.ready)),
            last.eq(index == dim - 1),
            self.command.ready.eq(~active | (step & last)),
            self.loaded.eq(loaded),
        ]
        with m.If(self.swap):
            m.d.sync += loaded.eq(0)
        with m.If(step):
            m.d.sync += [tile.w_base.eq(tile.w_base + tile.w_step), index.eq(index + 1)]
            with m.If(last):
                m.d.sync += [loaded.eq(1), active.eq(0)]
        with m.If(self.command.valid & self.command.ready):
            m.d.sync += [active.eq(1), tile.eq(self.command.payload)]

        layout = data.StructLayout({"index": index.shape(), "transpose": 1, "zero": 1})
        stage = Signal(layout)
        m.d.comb += [stage.index.eq(index), stage.transpose.eq(tile.transpose), stage.zero.eq(zero)]
        valid = delayed(m, step, READ_LATENCY, name="valid")[-1]
        stage = delayed(m, stage, READ_LATENCY, name="stage", reset_less=True)[-1]
        m.d.comb += [
            self.o_valid.eq(valid), self.o_index.eq(stage.index),
            self.o_transpose.eq(stage.transpose), self.o_row.eq(Mux(stage.zero, 0, self.port.data)),
        ]
        return m
