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
        escaped = Signal()
        count = Signal(range(_SHORTEST + 1))  # bytes of this frame, up to the shortest
        flag, good = Signal(), Signal()
        crc: Any = CRC32_ISO_HDLC(8).create()
        m.submodules.crc = crc
        m.d.comb += [
            flag.eq(self.valid & (self.data == FLAG)),
            self.byte.eq(Mux(escaped, self.data ^ ESCAPE_XOR, self.data)),
            self.push.eq(self.valid & (self.data != FLAG) & (self.data != ESCAPE)),
            crc.data.eq(self.byte), crc.valid.eq(self.push), crc.start.eq(flag),
            good.eq(crc.match_detected & (count == _SHORTEST) & ~escaped),
            self.keep.eq(flag & good), self.drop.eq(flag & (count != 0) & ~good),
        ]
        with m.If(self.valid):
            m.d.sync += escaped.eq(self.data == ESCAPE)
        with m.If(flag):
            m.d.sync += count.eq(0)
        with m.Elif(self.push & (count != _SHORTEST)):
            m.d.sync += count.eq(count + 1)
        return m
