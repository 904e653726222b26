"""From the bytes of the wire to checked frames."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.crc.catalog import CRC32_ISO_HDLC
from amaranth.lib.wiring import In, Out

from celosia.arch.link import CRC_BYTES, ESCAPE, ESCAPE_XOR, FLAG, REQUEST_HEADER, size

__all__ = ["Deframer"]

_SHORTEST = size(REQUEST_HEADER) + CRC_BYTES


class Deframer(wiring.Component):
    """Finds frames in a stream of bytes, takes the stuffing out and checks their CRC.

    Every byte of a frame is handed on while it comes (``push``), the CRC too; the FLAG that ends
    the frame says whether it stands (``keep``) or never was (``drop``). A frame that is shorter
    than a header and its CRC is dropped; nothing between two FLAGs is no frame.

    Members
    -------
    valid : In(1)
        ``data`` is a byte of the wire.
    data : In(8)
    push : Out(1), byte : Out(8)
        The next byte of a frame.
    keep, drop : Out(1)
        The frame has ended.
    """

    valid: Signal
    data: Signal
    push: Signal
    byte: Signal
    keep: Signal
    drop: Signal

    def __init__(self):
        super().__init__({
            "valid": In(1), "data": In(8),
            "push": Out(1), "byte": Out(8), "keep": Out(1), "drop": Out(1),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        # What the byte is, and the byte without stuffing, come out of registers.
        came, is_flag, is_escape, escaped = Signal(), Signal(), Signal(), Signal()
        byte = Signal(8)
        count = Signal(range(_SHORTEST + 1))  # bytes of this frame, up to the shortest
        flag, good = Signal(), Signal()
        crc: Any = CRC32_ISO_HDLC(8).create()
        m.submodules.crc = crc
        m.d.sync += came.eq(self.valid)
        with m.If(self.valid):
            m.d.sync += [
                is_flag.eq(self.data == FLAG), is_escape.eq(self.data == ESCAPE),
                escaped.eq(is_escape), byte.eq(Mux(is_escape, self.data ^ ESCAPE_XOR, self.data)),
            ]
        m.d.comb += [
            flag.eq(came & is_flag), self.byte.eq(byte),
            self.push.eq(came & ~is_flag & ~is_escape),
            crc.data.eq(byte), crc.valid.eq(self.push), crc.start.eq(flag),
            good.eq(crc.match_detected & (count == _SHORTEST) & ~escaped),
            self.keep.eq(flag & good), self.drop.eq(flag & (count != 0) & ~good),
        ]
        with m.If(flag):
            m.d.sync += count.eq(0)
        with m.Elif(self.push & (count != _SHORTEST)):
            m.d.sync += count.eq(count + 1)
        return m
