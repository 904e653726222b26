"""From the line to requests whose CRC is right."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import link as protocol
from celosia_hw.memory.ram import Ram
from celosia_hw.soc.link.framer import CRC_INIT, CRC_RESIDUE, crc_shifted
from celosia_hw.soc.link.uart import UartReceiver

__all__ = ["FIRST", "PLACE_BITS", "SLOT_BYTES", "RequestStore"]

#: Each frame has a slot of its own, longer than the longest request.
SLOT_BYTES = 1024
PLACE_BITS = exact_log2(SLOT_BYTES)
#: Place of a header; so the place behind a frame is, modulo the slot, the length of its payload.
FIRST = SLOT_BYTES - protocol.size(protocol.REQUEST_HEADER) - protocol.CRC_BYTES


class RequestStore(wiring.Component):
    """Finds frames, takes the stuffing out, checks their CRC and keeps WINDOW of them.

    A frame that is garbled, has no whole header, finds no slot, or has 768 bytes of payload or
    more is dropped. Nothing between two FLAGs is no frame.

    Members
    -------
    line : In(1)
    lost : Out(1)
        High for one cycle: a frame was dropped.
    waits : Out(1), payload : Out
        A frame is kept; the length of the payload of the oldest.
    byte : Out(8), place : Out, advance : In(1)
        From the cycle after ``waits``: a byte of it and its place, at first the header's first; go
        on to the next byte.
    next : In(1)
        Forget the frame; only with ``waits``.
    """

    line: Signal
    lost: Signal
    waits: Signal
    payload: Signal
    byte: Signal
    place: Signal
    advance: Signal
    next: Signal

    def __init__(self, link: protocol.LinkConfig):
        self._link = link
        super().__init__({
            "line": In(1, init=1),  # type: ignore[call-arg]
            "lost": Out(1), "waits": Out(1), "payload": Out(PLACE_BITS), "byte": Out(8),
            "place": Out(PLACE_BITS, init=FIRST),  # type: ignore[call-arg]
            "advance": In(1), "next": In(1),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        m.submodules.receiver = receiver = UartReceiver(self._link)
        m.submodules.ram = ram = Ram(8, protocol.WINDOW * SLOT_BYTES)
        m.submodules.lengths = lengths = Memory(shape=PLACE_BITS, depth=protocol.WINDOW, init=[])
        length, known = lengths.write_port(), lengths.read_port(domain="comb")
        # Slots run twice around, so that full and empty differ.
        slot, oldest = Signal(range(2 * protocol.WINDOW)), Signal(range(2 * protocol.WINDOW))
        end, in_frame, whole = Signal(PLACE_BITS, init=FIRST), Signal(), Signal()
        missed, room, good = Signal(), Signal(), Signal()
        flag, escape = Signal(), Signal()
        escaped = Signal()  # an protocol.ESCAPE came before
        # The byte in the receiver is of the frame; and was stuffed.
        counts, stuffed, crc = Signal(), Signal(), Signal(32, init=CRC_INIT)
        m.d.comb += [
            receiver.line.eq(self.line), flag.eq(receiver.data == protocol.FLAG),
            escape.eq(receiver.data == protocol.ESCAPE),
            room.eq(((slot ^ oldest) != protocol.WINDOW) & ~(whole & end[-2:].all())),
            good.eq((crc == CRC_RESIDUE) & whole & room & ~missed & ~escaped),
            ram.write_addr.eq(Cat(end, slot[:-1])),
            ram.write_data.eq(receiver.data ^ Mux(escaped, protocol.ESCAPE_XOR, 0)),
            ram.write_en.eq(receiver.valid & ~flag & ~escape & room),
            length.addr.eq(slot), length.data.eq(end), length.en.eq(room),
            known.addr.eq(oldest), self.payload.eq(known.data), self.waits.eq(slot != oldest),
            ram.read_addr.eq(Cat((self.place + self.advance)[:PLACE_BITS], oldest[:-1])),
            ram.read_en.eq(1), self.byte.eq(ram.read_data),
        ]
        # The bits of a byte count while the next one comes, for then it is known what the byte is.
        with m.If(receiver.shift & counts):
            flip = stuffed & (receiver.number == protocol.ESCAPE_XOR.bit_length() - 1)
            m.d.sync += crc.eq(crc_shifted(crc, crc[0] ^ receiver.data[0] ^ flip))
        m.d.sync += self.lost.eq(receiver.valid & flag & in_frame & ~good)
        with m.If(receiver.valid):
            m.d.sync += [escaped.eq(escape), stuffed.eq(escaped), counts.eq(~flag & ~escape)]
            with m.If(flag):
                m.d.sync += [end.eq(FIRST), in_frame.eq(0), whole.eq(0), missed.eq(0),
                             crc.eq(CRC_INIT), slot.eq(slot + good)]
            with m.Else():
                m.d.sync += [in_frame.eq(1), missed.eq(missed | ~room)]
            with m.If(ram.write_en):
                m.d.sync += [end.eq(end + 1), whole.eq(whole | end.all())]
        m.d.sync += self.place.eq(self.place + self.advance)
        with m.If(self.next):
            m.d.sync += [oldest.eq(oldest + 1), self.place.eq(FIRST)]
        return m
