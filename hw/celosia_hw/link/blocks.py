"""A span of memory cut into bursts."""

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.link import MAX_PAYLOAD
from celosia_hw.bus.axi import EXT_ADDRESS_BITS

__all__ = ["BlockSignature", "BlockWalker", "block_bytes"]


def block_bytes(config: TpuConfig) -> int:
    """Bytes of the longest burst; a burst stays inside a multiple of it, and so inside 4 KiB."""
    return max(64, config.bus_bytes)


class BlockSignature(wiring.Signature):
    """A block, from the walker's side.

    Members
    -------
    busy : Out(1)
        There is a block.
    address : Out
        Of the beat of the bus that has its first byte.
    lane : Out
        Place of its first byte in that beat.
    bytes : Out
        Its bytes.
    beats : Out
        Beats of the bus that it touches, less 1.
    next : In(1)
        Go to the next block, or to the end.
    """

    def __init__(self, config: TpuConfig):
        super().__init__({
            "busy": Out(1), "address": Out(EXT_ADDRESS_BITS),
            "lane": Out(exact_log2(config.bus_bytes)),
            "bytes": Out(range(block_bytes(config) + 1)), "beats": Out(8), "next": In(1),
        })


class BlockWalker(wiring.Component):
    """Walks over the blocks that a span of bytes touches, for the reader and the writer.

    They are never at work at the same time, and share it.

    Members
    -------
    start : In(1)
        Take ``address`` and ``count`` (1 to MAX_PAYLOAD); the first block is there in the next
        cycle.
    o_read, o_write : Out(BlockSignature)
        The same block.
    """

    start: Signal
    address: Signal
    count: Signal
    o_read: Any
    o_write: Any

    def __init__(self, config: TpuConfig):
        self._block = block_bytes(config)
        self._beat_bits = exact_log2(config.bus_bytes)
        super().__init__({
            "start": In(1), "address": In(EXT_ADDRESS_BITS), "count": In(range(MAX_PAYLOAD + 1)),
            "o_read": Out(BlockSignature(config)), "o_write": Out(BlockSignature(config)),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        first = Signal(EXT_ADDRESS_BITS)
        left = Signal(range(MAX_PAYLOAD + 1))
        bits = exact_log2(self._block)
        offset = first[:bits]
        room = Signal(range(self._block + 1))  # to the end of the block
        size = Signal.like(room)
        last = Signal(bits)
        m.d.comb += [
            room.eq(self._block - offset), size.eq(Mux(left < room, left, room)),
            last.eq(offset + size - 1),
        ]
        for o in (self.o_read, self.o_write):
            m.d.comb += [
                o.busy.eq(left != 0), o.bytes.eq(size),
                o.lane.eq(first[:self._beat_bits]),
                o.address.eq(Cat(Const(0, self._beat_bits), first[self._beat_bits:])),
                o.beats.eq((last >> self._beat_bits) - (offset >> self._beat_bits)),
            ]
        with m.If(self.start):
            m.d.sync += [first.eq(self.address), left.eq(self.count)]
        with m.Elif(self.o_read.next | self.o_write.next):
            m.d.sync += [offset.eq(0), first[bits:].eq(first[bits:] + 1), left.eq(left - size)]
        return m
