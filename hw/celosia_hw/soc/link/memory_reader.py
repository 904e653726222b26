"""From read bursts to bytes."""

from typing import Any

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.link import MAX_PAYLOAD
from celosia_hw.bus.axi import AxiReadSignature
from celosia_hw.soc.link.blocks import BlockSignature, block_bytes

__all__ = ["MemoryReader"]


class MemoryReader(wiring.Component):
    """Reads a span of bytes out of external memory, as fast as they are taken.

    A burst is asked for only when there is room for the whole of it, so that the bus never waits
    for the wire; the room is for two, so that the wire seldom waits for the bus.

    Members
    -------
    start : In(1)
        High for one cycle while nothing is in flight: read the span of ``blocks``, which is
        ``count`` bytes.
    o : Out(stream of 8 bits)
        The bytes.
    response : Out(2)
        The last response of this span that was no OKAY, or OKAY; final once the last byte is
        offered.
    blocks : In(BlockSignature)
        A walk that is started in the same cycle.
    axi : Out(AxiReadSignature)
    """

    start: Signal
    count: Signal
    o: stream.Interface
    response: Signal
    blocks: Any
    axi: Any

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "start": In(1), "count": In(range(MAX_PAYLOAD + 1)),
            "o": Out(stream.Signature(8)), "response": Out(2),
            "blocks": In(BlockSignature(config)),
            "axi": Out(AxiReadSignature(config.bus_bytes)),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        bus_bytes = self._config.bus_bytes
        block_beats = block_bytes(self._config) // bus_bytes
        # The queue takes a cycle to move a beat to its exit, so two places are not enough for two.
        depth = max(4, 2 * block_beats)
        m.submodules.beats = beats = SyncFIFOBuffered(width=8 * bus_bytes, depth=depth)
        blocks, ar, r = self.blocks, self.axi.ar, self.axi.r
        asked = Signal(range(2 * block_beats + 1))  # beats that are in the queue or will be
        ask, gone = Signal(), Signal()
        room = Signal()  # for a block; the walker takes longer to the next one than this lags
        begun = Signal()  # the place of the first byte is there
        lane = Signal(exact_log2(bus_bytes))
        lanes = Array(beats.r_data[8 * i:8 * (i + 1)] for i in range(bus_bytes))
        left = Signal(range(MAX_PAYLOAD + 1))  # bytes that have not been taken
        some, final = Signal(), Signal()  # there are any; there is one
        m.d.comb += [
            ask.eq(blocks.valid & some & room & (~ar.valid | ar.ready)),
            blocks.next.eq(ask),
            r.ready.eq(1), beats.w_data.eq(r.payload.data), beats.w_en.eq(r.valid),
        ]
        m.d.sync += [begun.eq(self.start), room.eq(asked <= block_beats)]
        m.d.sync += asked.eq(asked + Mux(ask, blocks.beats + 1, 0) - gone)
        with m.If(ask):
            m.d.sync += [ar.valid.eq(1), ar.payload.addr.eq(blocks.address),
                         ar.payload.len.eq(blocks.beats)]
        with m.Elif(ar.ready):
            m.d.sync += ar.valid.eq(0)
        with m.If(self.start):
            m.d.sync += self.response.eq(0)
        with m.Elif(r.valid & (r.payload.resp != 0)):
            m.d.sync += self.response.eq(r.payload.resp)

        m.d.comb += [
            self.o.valid.eq(beats.r_rdy & some),
            self.o.payload.eq(lanes[lane]),
            gone.eq(self.o.valid & self.o.ready & ((lane == bus_bytes - 1) | final)),
            beats.r_en.eq(gone),
        ]
        with m.If(self.start):
            m.d.sync += [left.eq(self.count), some.eq(1), final.eq(self.count == 1)]
        with m.Elif(begun):
            m.d.sync += lane.eq(blocks.lane)
        with m.Elif(self.o.valid & self.o.ready):
            m.d.sync += [lane.eq(lane + 1), left.eq(left - 1), some.eq(~final),
                         final.eq(left == 2)]
        return m
