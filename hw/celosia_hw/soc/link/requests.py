"""The store of requests: bytes enter one by one, frames leave only after their check."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.link import CRC_BYTES, WINDOW, LinkConfig
from celosia_hw.memory.ram import Ram
from celosia_hw.soc.link.framer import body_layout

__all__ = ["RequestStore"]

#: Frames that wait; a host that keeps to its window has half as many at most.
_FRAMES = 2 * WINDOW


class RequestStore(wiring.Component):
    """A ring of bytes in which a frame counts only once it is kept.

    A frame that finds no room is dropped as a whole. The CRC at its end is not handed on.
    One byte a cycle each way.

    Members
    -------
    push : In(1), byte : In(8)
        Add a byte to the frame that is coming.
    keep, drop : In(1)
        The frame that was coming stands, or is forgotten; not in a cycle with ``push``.
    lost : Out(1)
        High for one cycle: a frame was dropped, for whatever reason.
    o : Out(stream of body_layout)
        Frames that stand, in order.
    length : Out
        Bytes of the frame that ``o`` is in, from its first byte on until the next frame's.
    empty : Out(1)
        No frame, and no part of one, waits.
    """

    push: Signal
    byte: Signal
    keep: Signal
    drop: Signal
    lost: Signal
    o: stream.Interface
    length: Signal
    empty: Signal

    def __init__(self, link: LinkConfig):
        self._depth = link.buffer_bytes
        self._bits = exact_log2(link.buffer_bytes)
        super().__init__({
            "push": In(1), "byte": In(8), "keep": In(1), "drop": In(1), "lost": Out(1),
            "o": Out(stream.Signature(body_layout())), "length": Out(self._bits + 1),
            "empty": Out(1),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        m.submodules.ram = ram = Ram(8, self._depth)
        # Of frames that stand; in block RAM where there is no other.
        lengths: Any = SyncFIFOBuffered(width=self._bits + 1, depth=_FRAMES)
        m.submodules.lengths = lengths

        # Positions run twice around the ring, so that full and empty differ.
        begin, end, read = (Signal(self._bits + 1, name=name) for name in ("begin", "end", "read"))
        overflow, full, stands = Signal(), Signal(), Signal()
        m.d.comb += [
            full.eq((end - read)[:self._bits + 1] == self._depth),
            ram.write_addr.eq(end[:self._bits]), ram.write_data.eq(self.byte),
            ram.write_en.eq(self.push & ~full),
            stands.eq(self.keep & ~overflow & lengths.w_rdy),
            lengths.w_en.eq(stands), lengths.w_data.eq(end - begin - CRC_BYTES),
            self.lost.eq((self.keep | self.drop) & ~stands),
        ]
        with m.If(self.push):
            with m.If(full):
                m.d.sync += overflow.eq(1)
            with m.Else():
                m.d.sync += end.eq(end + 1)
        with m.If(self.keep | self.drop):
            m.d.sync += overflow.eq(0)
        with m.If(stands):
            m.d.sync += [begin.eq(end - CRC_BYTES), end.eq(end - CRC_BYTES)]
        with m.Elif(self.keep | self.drop):
            m.d.sync += end.eq(begin)

        left = Signal(self._bits + 1)  # bytes of the frame that have not been fetched
        fetch, move = Signal(), Signal()
        held, held_last = Signal(), Signal()  # the RAM offers a byte; it is the frame's last
        m.d.comb += [
            move.eq(held & (~self.o.valid | self.o.ready)),
            fetch.eq((left != 0) & (~held | move)),
            ram.read_en.eq(fetch), ram.read_addr.eq(read[:self._bits]),
            # The next frame begins when the last byte of this one is gone.
            lengths.r_en.eq((left == 0) & ~held & ~self.o.valid),
            self.empty.eq(lengths.r_en & (lengths.level == 0)),
        ]
        with m.If(fetch):
            m.d.sync += [left.eq(left - 1), read.eq(read + 1), held.eq(1), held_last.eq(left == 1)]
        with m.Elif(move):
            m.d.sync += held.eq(0)
        # Out of a register: a block RAM is slow.
        with m.If(move):
            m.d.sync += [self.o.valid.eq(1), self.o.payload.data.eq(ram.read_data),
                         self.o.payload.last.eq(held_last)]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.If(lengths.r_en & lengths.r_rdy):
            m.d.sync += [left.eq(lengths.r_data), self.length.eq(lengths.r_data)]
        return m
