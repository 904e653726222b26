"""From bodies of frames to the line."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.link import CRC_BYTES, ESCAPE, ESCAPE_XOR, FLAG, LinkConfig
from celosia_hw.soc.link.uart import UartTransmitter

__all__ = ["CRC_INIT", "CRC_RESIDUE", "Framer", "body_layout", "crc_shifted"]

#: CRC-32/ISO-HDLC: the register before the first bit, and after the last of a frame and its CRC.
CRC_INIT, CRC_RESIDUE = 0xFFFFFFFF, 0xDEBB20E3
_POLYNOMIAL = 0xEDB88320


def crc_shifted(crc: Any, feedback: Any) -> Any:
    """Return the register after a bit; ``feedback`` is its lowest bit XOR the message's."""
    return (crc >> 1) ^ Mux(feedback, _POLYNOMIAL, 0)


def body_layout() -> data.StructLayout:
    """A byte of a frame's body; ``last`` ends the frame."""
    return data.StructLayout({"data": 8, "last": 1})


class Framer(wiring.Component):
    """Sends bodies with FLAGs, CRC and stuffing, without pauses while there is input.

    The CRC takes a bit when the transmitter puts it on the line.

    Members
    -------
    i : In(stream of body_layout)
        Ends at a register for one byte; ``i.ready`` begins at a flip-flop.
    line : Out(1)
    """

    i: stream.Interface
    line: Signal

    def __init__(self, link: LinkConfig):
        self._link = link
        super().__init__({"i": In(stream.Signature(body_layout())),
                          "line": Out(1, init=1)})  # type: ignore[call-arg]

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        m.submodules.transmitter = transmitter = UartTransmitter(self._link)
        held, full, crc = Signal(body_layout()), Signal(), Signal(32)
        phase = Signal(range(CRC_BYTES + 3))  # FLAG, body, CRC, FLAG
        ends, body = (phase == 0) | (phase == CRC_BYTES + 2), phase == 1
        byte, special, goes = Signal(8), Signal(), Signal()
        escaped = Signal()  # an ESCAPE was sent for this byte
        # The byte on the line is of the body or the CRC; of the body; and was stuffed.
        counts, feeds, stuffed = Signal(), Signal(), Signal()
        m.d.comb += [
            self.line.eq(transmitter.line), self.i.ready.eq(~full),
            byte.eq(Mux(body, held.data, ~crc[:8])),
            special.eq(((byte == FLAG) | (byte == ESCAPE)) & ~escaped & ~ends),
            transmitter.i.valid.eq(full | (phase > 1)), transmitter.i.payload.eq(
                Mux(ends, FLAG, Mux(special, ESCAPE, byte ^ Mux(escaped, ESCAPE_XOR, 0)))),
            goes.eq(transmitter.i.valid & transmitter.i.ready),
        ]
        with m.If(transmitter.shift & counts):
            flip = stuffed & (transmitter.number == ESCAPE_XOR.bit_length() - 1)
            m.d.sync += crc.eq(crc_shifted(crc, feeds & (crc[0] ^ transmitter.bit ^ flip)))
        with m.If(~full):
            m.d.sync += [full.eq(self.i.valid), held.eq(self.i.payload)]
        with m.Elif(goes & body & ~special):
            m.d.sync += full.eq(0)
        with m.If(goes):
            m.d.sync += [escaped.eq(special), stuffed.eq(escaped), feeds.eq(body),
                         counts.eq(~ends & ~special)]
            with m.If(~special & (~body | held.last)):
                m.d.sync += phase.eq(Mux(phase == CRC_BYTES + 2, 0, phase + 1))
            with m.If(phase == 0):
                m.d.sync += crc.eq(CRC_INIT)
        return m
