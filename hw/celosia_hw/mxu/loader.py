"""Weight loader: reads the stored rows of a tile and feeds them to the array."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia_hw.follow import coming_layout, is_coming
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
    to use. A row is asked for out of a register, a cycle after its turn, and only when it is not
    ``coming``.

    Members
    -------
    command : In(stream)
        Tiles, in order.
    swap : In(1)
        The loaded tile is put to use, in the next cycle; only where ``loaded``.
    coming : In
        Rows that are not there yet, as of `LoadProgress`.
    loaded : Out(1)
        A whole tile is on its way to the array: ``swap`` may come.
    port : Out(ReadPort)
        Of the unified buffer.
    yields : In(1)
        The row that is asked for is refused, and asked for again.
    o_row, o_valid, o_index, o_transpose : Out
        A stored row for the array, READ_LATENCY cycles after it was granted.
    """

    command: stream.Interface
    swap: Signal
    coming: data.View
    loaded: Signal
    port: ReadPort
    yields: Signal
    o_row: Signal
    o_valid: Signal
    o_index: Signal
    o_transpose: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(weights_layout(config))),
            "swap": In(1), "loaded": Out(1),
            "coming": In(coming_layout(config)),
            "port": Out(ReadPortSignature(row_bits(config), config.ub_row_bits)), "yields": In(1),
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
        turn, zero, moves, step, last = (Signal() for _ in range(5))
        start, coming = Signal(), Signal()  # coming: the row whose turn it is
        # The row that is asked for, or has its turn as zeros.
        layout = data.StructLayout({"index": index.shape(), "transpose": 1, "zero": 1})
        asked, stage = Signal(), Signal(layout, reset_less=True)
        asks, granted = Signal(), Signal()
        row = Signal.like(self.port.addr, reset_less=True)
        m.d.comb += [
            turn.eq(active & (~loaded | self.swap)),
            zero.eq(index >= tile.wrows),
            self.port.valid.eq(asks), self.port.addr.eq(row),
            granted.eq(asked & ~(asks & self.yields)),
            moves.eq((zero | ~coming) & (~asked | granted)), step.eq(turn & moves),
            last.eq(index == dim - 1),
            # The last row has its turn before the tile is loaded: whatever ``swap`` is.
            self.command.ready.eq(~active | (last & ~loaded & moves)),
            self.loaded.eq(loaded & (~asked | granted)),
            start.eq(self.command.valid & self.command.ready),
        ]
        following: Value = tile.w_base + tile.w_step
        if self._config.cut:
            # The row after this one is known before, for whether it is coming is, too.
            ahead, then = Signal.like(row, reset_less=True), Signal.like(row)
            with m.If(start):
                m.d.sync += ahead.eq(self.command.payload.w_base + self.command.payload.w_step)
            with m.Elif(step):
                m.d.sync += ahead.eq(ahead + tile.w_step)
            following = ahead
            m.d.comb += then.eq(Mux(active & ~last, following, self.command.payload.w_base))
            m.d.sync += coming.eq(Mux(start | step, is_coming(self.coming, then),
                                      is_coming(self.coming, tile.w_base)))
        else:
            m.d.comb += coming.eq(is_coming(self.coming, tile.w_base))
        with m.If(step):
            m.d.sync += [asked.eq(1), asks.eq(~zero), row.eq(tile.w_base), stage.index.eq(index),
                         stage.transpose.eq(tile.transpose), stage.zero.eq(zero)]
        with m.Elif(granted):
            m.d.sync += [asked.eq(0), asks.eq(0)]
        with m.If(self.swap):
            m.d.sync += loaded.eq(0)
        with m.If(step):
            m.d.sync += [tile.w_base.eq(following), index.eq(index + 1)]
            with m.If(last):
                m.d.sync += [loaded.eq(1), active.eq(0)]
        with m.If(start):
            m.d.sync += [active.eq(1), tile.eq(self.command.payload)]

        valid = delayed(m, granted, READ_LATENCY, name="valid")[-1]
        stage = delayed(m, stage, READ_LATENCY, name="stage", reset_less=True)[-1]
        m.d.comb += [
            self.o_valid.eq(valid), self.o_index.eq(stage.index),
            self.o_transpose.eq(stage.transpose), self.o_row.eq(Mux(stage.zero, 0, self.port.data)),
        ]
        return m
