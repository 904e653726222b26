"""From bytes to write bursts."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import AxiWriteSignature
from celosia_hw.soc.link.blocks import BlockSignature

__all__ = ["MemoryWriter"]


class MemoryWriter(wiring.Component):
    """Writes a span of bytes into external memory; every byte outside it stays.

    One burst is in flight at a time: its data are not before its address, and the next burst
    begins when memory has answered. About a byte a cycle, plus the latency of memory for
    each block.

    Members
    -------
    start : In(1)
        High for one cycle while nothing is in flight: write the span of ``blocks``.
    i : In(stream of 8 bits)
        The bytes.
    done : Out(1)
        High for one cycle: memory has answered every burst; ``response`` is the last of them that
        was no OKAY, or OKAY. It stays.
    blocks : In(BlockSignature)
        A walk that is started in the same cycle.
    axi : Out(AxiWriteSignature)
    """

    start: Signal
    i: stream.Interface
    done: Signal
    response: Signal
    blocks: Any
    axi: Any

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "start": In(1), "i": In(stream.Signature(8)), "done": Out(1), "response": Out(2),
            "blocks": In(BlockSignature(config)),
            "axi": Out(AxiWriteSignature(config.bus_bytes)),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        bus_bytes = self._config.bus_bytes
        blocks, aw, w, b = self.blocks, self.axi.aw, self.axi.w, self.axi.b
        lane = Signal(exact_log2(bus_bytes))
        left = Signal.like(blocks.bytes)
        m.d.sync += self.done.eq(0)
        with m.If(aw.ready):
            m.d.sync += aw.valid.eq(0)

        with m.FSM():
            with m.State("IDLE"):
                with m.If(self.start):
                    m.d.sync += self.response.eq(0)
                    m.next = "BURST"
            with m.State("BURST"):
                m.d.sync += [lane.eq(blocks.lane), left.eq(blocks.bytes),
                             w.payload.strb.eq(0), aw.valid.eq(blocks.valid),
                             aw.payload.addr.eq(blocks.address),
                             aw.payload.len.eq(blocks.beats)]
                with m.If(blocks.valid):
                    m.next = "BYTES"
                with m.Elif(~blocks.busy):
                    m.d.sync += self.done.eq(1)
                    m.next = "IDLE"
            with m.State("BYTES"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid):
                    m.d.sync += [
                        w.payload.data.word_select(lane, 8).eq(self.i.payload),
                        w.payload.strb.bit_select(lane, 1).eq(1),
                        w.payload.last.eq(left == 1), lane.eq(lane + 1), left.eq(left - 1),
                    ]
                    with m.If((lane == bus_bytes - 1) | (left == 1)):
                        m.d.sync += w.valid.eq(1)
                        m.next = "BEAT"
            with m.State("BEAT"):
                with m.If(w.ready):
                    m.d.sync += [w.valid.eq(0), w.payload.strb.eq(0)]
                    m.next = "BYTES"
                    with m.If(w.payload.last):
                        m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += b.ready.eq(1)
                with m.If(b.valid):
                    m.d.comb += blocks.next.eq(1)
                    with m.If(b.payload != 0):
                        m.d.sync += self.response.eq(b.payload)
                    m.next = "BURST"
        return m
