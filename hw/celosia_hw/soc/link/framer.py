"""From bodies of frames to the bytes of the wire."""

from typing import Any

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.crc.catalog import CRC32_ISO_HDLC
from amaranth.lib.wiring import In, Out

from celosia.arch.link import CRC_BYTES, ESCAPE, ESCAPE_XOR, FLAG

__all__ = ["Framer", "body_layout"]


def body_layout() -> data.StructLayout:
    """A byte of a frame's body; ``last`` ends the frame."""
    return data.StructLayout({"data": 8, "last": 1})


class Framer(wiring.Component):
    """Adds FLAGs, the CRC and the stuffing to bodies.

    A byte a cycle on the wire side, without pauses inside a frame while there is input.

    Members
    -------
    i : In(stream of body_layout)
    o : Out(stream of 8 bits)
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self):
        super().__init__({"i": In(stream.Signature(body_layout())),
                          "o": Out(stream.Signature(8))})

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        crc: Any = CRC32_ISO_HDLC(8).create()
        m.submodules.crc = crc
        taken, escaped, special = Signal(), Signal(), Signal()
        byte = Signal(8)
        rest = Signal(range(CRC_BYTES))
        crc_bytes = [crc.crc[8 * i:8 * (i + 1)] for i in range(CRC_BYTES)]
        m.d.comb += [
            taken.eq(self.o.valid & self.o.ready),
            special.eq(((byte == FLAG) | (byte == ESCAPE)) & ~escaped),
            crc.data.eq(self.i.payload.data), crc.valid.eq(self.i.valid & self.i.ready),
        ]

        def stuff() -> Any:
            """Offer ``byte``; return whether it has been sent whole."""
            with m.If(special):
                m.d.comb += self.o.payload.eq(ESCAPE)
            with m.Elif(escaped):
                m.d.comb += self.o.payload.eq(byte ^ ESCAPE_XOR)
            with m.Else():
                m.d.comb += self.o.payload.eq(byte)
            with m.If(taken):
                m.d.sync += escaped.eq(special)
            return taken & ~special

        with m.FSM():
            with m.State("OPEN"):
                m.d.comb += [self.o.valid.eq(self.i.valid), self.o.payload.eq(FLAG),
                             crc.start.eq(1)]
                m.d.sync += rest.eq(0)
                with m.If(taken):
                    m.next = "BODY"
            with m.State("BODY"):
                m.d.comb += [byte.eq(self.i.payload.data), self.o.valid.eq(self.i.valid)]
                sent = stuff()
                m.d.comb += self.i.ready.eq(sent)
                with m.If(sent & self.i.payload.last):
                    m.next = "CRC"
            with m.State("CRC"):
                m.d.comb += [byte.eq(Array(crc_bytes)[rest]), self.o.valid.eq(1)]
                with m.If(stuff()):
                    m.d.sync += rest.eq(rest + 1)
                    with m.If(rest == CRC_BYTES - 1):
                        m.next = "CLOSE"
            with m.State("CLOSE"):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(FLAG)]
                with m.If(taken):
                    m.next = "OPEN"
        return m
