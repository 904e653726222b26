"""The bodies of replies."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.link import (
    IDENTITY,
    LINK_MAGIC,
    MAX_PAYLOAD,
    PAGE_BYTES,
    PROTOCOL_VERSION,
    REPLY,
    WORD_BYTES,
    LinkConfig,
    RequestKind,
    size,
)
from celosia_hw.soc.link.framer import body_layout

__all__ = ["ReplyWriter"]


def _bytes(value: Any) -> Array:
    """Return the bytes of a value, the lowest first."""
    return Array(value[i:i + 8] for i in range(0, len(value), 8))


class ReplyWriter(wiring.Component):
    """Writes the body of one reply at a time.

    Members
    -------
    start : In(1)
        High for one cycle while not ``busy``. ``sequence`` .. ``session`` stay from then on until
        it is not busy any more; ``status`` is looked at when the last byte is offered.
    sequence, kind : In(8)
    refused : In(1)
        There is no payload, whatever the kind.
    count : In
        Bytes of the payload of READ_MEMORY.
    word : In(32)
        Payload of READ_REGISTER and POLL.
    session : In(32)
        For the payload of HELLO.
    status : In(8)
    i : In(stream of 8 bits)
        Payload of READ_MEMORY.
    busy : Out(1)
    o : Out(stream of body_layout)
    """

    start: Signal
    sequence: Signal
    kind: Signal
    refused: Signal
    count: Signal
    word: Signal
    session: Signal
    status: Signal
    i: stream.Interface
    busy: Signal
    o: stream.Interface

    def __init__(self, config: TpuConfig, link: LinkConfig):
        self._identity = {
            "magic": LINK_MAGIC, "version": PROTOCOL_VERSION, "bus_bytes": config.bus_bytes,
            "buffer_bytes": link.buffer_bytes, "memory_pages": link.memory_bytes // PAGE_BYTES,
            "fingerprint": config.fingerprint,
        }
        super().__init__({
            "start": In(1), "sequence": In(8), "kind": In(8), "refused": In(1),
            "count": In(range(MAX_PAYLOAD + 1)), "word": In(32), "session": In(32),
            "status": In(8), "i": In(stream.Signature(8)), "busy": Out(1),
            "o": Out(stream.Signature(body_layout())),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        assert size(IDENTITY) <= 1 << 5
        identity = Cat(self.session if field.name == "session"
                       else Const(self._identity[field.name], 8 * field.bytes)
                       for field in IDENTITY)
        data, valid = self.o.payload.data, self.o.valid
        taken = Signal()
        place = Signal(range(MAX_PAYLOAD))  # in the payload
        length = Signal(range(MAX_PAYLOAD + 1))
        end, none = Signal.like(place), Signal()  # of the payload; when it is begun
        m.d.sync += [end.eq(length - 1), none.eq(self.refused | (length == 0))]
        m.d.comb += [taken.eq(valid & self.o.ready), self.busy.eq(1)]
        with m.Switch(self.kind):
            with m.Case(RequestKind.HELLO):
                m.d.comb += length.eq(size(IDENTITY))
            with m.Case(RequestKind.POLL, RequestKind.READ_REGISTER):
                m.d.comb += length.eq(WORD_BYTES)
            with m.Case(RequestKind.READ_MEMORY):
                m.d.comb += length.eq(self.count)

        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.start):
                    m.next = "SEQUENCE"
            with m.State("SEQUENCE"):
                m.d.comb += [valid.eq(1), data.eq(self.sequence)]
                with m.If(taken):
                    m.next = "KIND"
            with m.State("KIND"):
                m.d.comb += [valid.eq(1), data.eq(self.kind | REPLY)]
                m.d.sync += place.eq(0)
                with m.If(taken):
                    m.next = "PAYLOAD"
                    with m.If(none):
                        m.next = "STATUS"
            with m.State("PAYLOAD"):
                with m.If(self.kind == RequestKind.READ_MEMORY):
                    m.d.comb += [valid.eq(self.i.valid), data.eq(self.i.payload),
                                 self.i.ready.eq(self.o.ready)]
                with m.Elif(self.kind == RequestKind.HELLO):
                    m.d.comb += [valid.eq(1), data.eq(_bytes(identity)[place[:5]])]
                with m.Else():
                    m.d.comb += [valid.eq(1), data.eq(_bytes(self.word)[place[:2]])]
                with m.If(taken):
                    m.d.sync += place.eq(place + 1)
                    with m.If(place == end):
                        m.next = "STATUS"
            with m.State("STATUS"):
                m.d.comb += [valid.eq(1), data.eq(self.status), self.o.payload.last.eq(1)]
                with m.If(taken):
                    m.next = "IDLE"
        return m
