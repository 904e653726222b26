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
        There are blocks left.
    valid : Out(1)
        The next of them is there: all that follows; ``lane`` of the first block from the cycle
        after ``start`` on.
    address : Out
        Of the beat of the bus that has its first byte.
    lane : Out
        Place of its first byte in that beat.
    bytes : Out
        Its bytes.
    beats : Out
        Beats of the bus that it touches, less 1.
    next : In(1)
        Go to the next block, or to the end; only with ``valid``.
    """

    def __init__(self, config: TpuConfig):
        super().__init__({
            "busy": Out(1), "valid": Out(1), "address": Out(EXT_ADDRESS_BITS),
            "lane": Out(exact_log2(config.bus_bytes)),
            "bytes": Out(range(block_bytes(config) + 1)), "beats": Out(8), "next": In(1),
        })


class BlockWalker(wiring.Component):
    """Walks over the blocks that a span of bytes touches, for the reader and the writer.

    They are never at work at the same time, and share it.

    Members
    -------
    start : In(1)
        Take ``address`` and ``count`` (1 to MAX_PAYLOAD). The first block is there three cycles
        later, each other one two cycles after ``next``.
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
        bits = exact_log2(self._block)
        number = Signal(EXT_ADDRESS_BITS - bits)  # of the block
        offset = Signal(bits)  # of the first byte in it
        less = Signal(range(MAX_PAYLOAD))  # bytes of the span, less 1
        end = Signal(bits)  # of the span's last byte in its block
        more = Signal(range(MAX_PAYLOAD // self._block + 2))  # blocks after this one
        busy, summed, valid = Signal(), Signal(), Signal()
        size = Signal.like(self.o_read.bytes)
        beats = Signal.like(self.o_read.beats)
        last = Signal(bits)  # of this block's last byte
        m.d.comb += last.eq(Mux(more == 0, end, self._block - 1))
        for o in (self.o_read, self.o_write):
            m.d.comb += [
                o.busy.eq(busy), o.valid.eq(valid), o.bytes.eq(size), o.beats.eq(beats),
                o.lane.eq(offset[:self._beat_bits]),
                o.address.eq(Cat(Const(0, self._beat_bits), offset[self._beat_bits:], number)),
            ]
        with m.If(self.start):
            m.d.sync += [Cat(offset, number).eq(self.address), less.eq(self.count - 1),
                         busy.eq(1), summed.eq(0), valid.eq(0)]
        with m.Elif(~summed):
            m.d.sync += [Cat(end, more).eq(offset + less), summed.eq(1)]
        with m.Elif(~valid):
            m.d.sync += [
                size.eq(last - offset + 1), valid.eq(busy),
                beats.eq((last >> self._beat_bits) - (offset >> self._beat_bits)),
            ]
        with m.Elif(self.o_read.next | self.o_write.next):
            m.d.sync += [offset.eq(0), number.eq(number + 1), more.eq(more - 1),
                         busy.eq(more != 0), valid.eq(0)]
        return m
