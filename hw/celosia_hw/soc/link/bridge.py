"""What serves requests: each once, in order, however often it comes."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.link import (
    MAX_PAYLOAD,
    REQUEST_HEADER,
    WINDOW,
    WORD_BYTES,
    LinkConfig,
    ReplyStatus,
    RequestKind,
    size,
)
from celosia_hw.bus.axi import AxiLiteSignature, AxiReadSignature, AxiWriteSignature
from celosia_hw.soc.link.blocks import BlockWalker
from celosia_hw.soc.link.framer import body_layout
from celosia_hw.soc.link.memory_reader import MemoryReader
from celosia_hw.soc.link.memory_writer import MemoryWriter
from celosia_hw.soc.link.register_access import RegisterAccess
from celosia_hw.soc.link.replies import ReplyWriter

__all__ = ["LinkBridge"]

_HEADER_BYTES = size(REQUEST_HEADER)


class LinkBridge(wiring.Component):
    """Serves checked requests, one at a time, and writes replies.

    A request is served if its sequence number is the expected one; then the next is expected. A
    request of the last WINDOW ones came twice because its reply was lost: a write is answered
    as it was the first time and not done again, a read is done again. Any other shows that
    something is missing, and is passed over; the first of them, or a frame that was lost,
    makes a reply AGAIN, which names the expected number. There is no further AGAIN until an
    expected request has come, so that a window of requests behind a lost one makes one of them.

    HELLO with a number that is not that of the session begins a new one; nothing but HELLO is
    served before the first.

    Members
    -------
    i : In(stream of body_layout)
        Requests, of at least a header each.
    length : In
        Bytes of the request that ``i`` is in.
    lost : In(1), empty : In(1)
        As of :class:`celosia_hw.soc.link.requests.RequestStore`.
    o : Out(stream of body_layout)
        Replies.
    irq : In(1)
        The chip's interrupt.
    axil : Out(AxiLiteSignature)
        The chip's registers.
    read : Out(AxiReadSignature), write : Out(AxiWriteSignature)
        External memory.
    """

    i: stream.Interface
    length: Signal
    lost: Signal
    empty: Signal
    o: stream.Interface
    irq: Signal
    axil: Any
    read: Any
    write: Any

    def __init__(self, config: TpuConfig, link: LinkConfig):
        self._config, self._link = config, link
        super().__init__({
            "i": In(stream.Signature(body_layout())), "length": In(range(link.buffer_bytes + 1)),
            "lost": In(1), "empty": In(1), "o": Out(stream.Signature(body_layout())),
            "irq": In(1), "axil": Out(AxiLiteSignature()),
            "read": Out(AxiReadSignature(config.bus_bytes)),
            "write": Out(AxiWriteSignature(config.bus_bytes)),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        m.submodules.registers = registers = RegisterAccess()
        m.submodules.walker = walker = BlockWalker(self._config)
        m.submodules.reader = reader = MemoryReader(self._config)
        m.submodules.writer = writer = MemoryWriter(self._config)
        m.submodules.replies = replies = ReplyWriter(self._config, self._link)
        wiring.connect(m, walker.o_read, reader.blocks)
        wiring.connect(m, walker.o_write, writer.blocks)
        wiring.connect(m, registers.axil, wiring.flipped(self.axil))
        wiring.connect(m, reader.axi, wiring.flipped(self.read))
        wiring.connect(m, writer.axi, wiring.flipped(self.write))
        wiring.connect(m, replies.o, wiring.flipped(self.o))

        header = Signal(8 * _HEADER_BYTES)
        fields: dict[str, Signal] = {}
        place = 0
        for field in REQUEST_HEADER:
            fields[field.name] = Signal(8 * field.bytes, name=field.name)
            m.d.comb += fields[field.name].eq(header[place:place + 8 * field.bytes])
            place += 8 * field.bytes
        kind, count, sequence = fields["kind"], fields["count"], fields["sequence"]
        slot = sequence[:exact_log2(WINDOW)]
        writes, sound = Signal(), Signal()
        payload, memory = Signal.like(self.length), Signal()
        m.d.sync += payload.eq(self.length - _HEADER_BYTES)
        m.d.comb += [
            writes.eq((kind == RequestKind.WRITE_REGISTER) | (kind == RequestKind.WRITE_MEMORY)),
            memory.eq((count != 0) & (count <= MAX_PAYLOAD)),
        ]
        m.d.sync += sound.eq(0)
        with m.Switch(kind):
            with m.Case(RequestKind.POLL):
                m.d.sync += sound.eq((count == 0) & (payload == 0))
            with m.Case(RequestKind.READ_REGISTER):
                m.d.sync += sound.eq((count == WORD_BYTES) & (payload == 0))
            with m.Case(RequestKind.WRITE_REGISTER):
                m.d.sync += sound.eq((count == WORD_BYTES) & (payload == count))
            with m.Case(RequestKind.READ_MEMORY):
                m.d.sync += sound.eq(memory & (payload == 0))
            with m.Case(RequestKind.WRITE_MEMORY):
                m.d.sync += sound.eq(memory & (payload == count))

        session, is_open = Signal(32), Signal()
        expected, age = Signal(8), Signal(8)
        #: Responses of the last writes, by the low bits of their sequence numbers.
        answers = Array(Signal(2, name=f"answer_{i}") for i in range(WINDOW))
        again, muted = Signal(), Signal()
        taken = Signal(range(_HEADER_BYTES))  # bytes of the header
        more = Signal()  # the request has bytes that were not taken
        silent, refused = Signal(), Signal()  # no reply; a reply that refuses
        word, cycles = Signal(8 * WORD_BYTES), Signal(8 * WORD_BYTES)
        response = Signal(2)
        m.d.sync += [cycles.eq(cycles + 1), age.eq(expected - sequence)]
        m.d.comb += [
            registers.address.eq(fields["address"]), registers.write_data.eq(word),
            walker.address.eq(fields["address"]), walker.count.eq(count),
            walker.start.eq(reader.start | writer.start),
            reader.count.eq(count),
            writer.i.payload.eq(self.i.payload.data),
            replies.refused.eq(refused), replies.count.eq(count), replies.word.eq(word),
            replies.session.eq(session),
            replies.i.payload.eq(reader.o.payload), replies.i.valid.eq(reader.o.valid),
            reader.o.ready.eq(replies.i.ready),
            replies.status.eq(
                Mux(replies.kind == RequestKind.READ_MEMORY, reader.response, response)
                | Mux(refused, ReplyStatus.REFUSED, 0) | Mux(is_open, 0, ReplyStatus.NO_SESSION)
                | Mux(self.irq, ReplyStatus.INTERRUPT, 0)),
        ]
        with m.If(self.lost & ~muted):
            m.d.sync += again.eq(1)

        def ask_again() -> None:
            m.d.sync += [replies.kind.eq(RequestKind.AGAIN), replies.sequence.eq(expected),
                         again.eq(0), muted.eq(1)]

        with m.FSM():
            with m.State("HEADER"):
                m.d.comb += self.i.ready.eq(1)
                m.d.sync += [silent.eq(0), refused.eq(0), response.eq(0)]
                with m.If(self.i.valid):
                    m.d.sync += [header.eq(Cat(header[8:], self.i.payload.data)),
                                 taken.eq(taken + 1), more.eq(~self.i.payload.last)]
                    with m.If(taken == _HEADER_BYTES - 1):
                        m.next = "CHECK"
                with m.Elif(again & self.empty):
                    ask_again()
                    m.next = "REPLY"
            with m.State("CHECK"):  # ``age`` and ``sound`` are a cycle late
                m.next = "DECIDE"
            with m.State("DECIDE"):
                m.d.sync += [replies.kind.eq(kind), replies.sequence.eq(sequence)]
                m.next = "DRAIN"
                with m.If(kind == RequestKind.HELLO):
                    with m.If(~is_open | (session != fields["address"])):
                        m.d.sync += [session.eq(fields["address"]), is_open.eq(1), expected.eq(0),
                                     again.eq(0), muted.eq(0)]
                with m.Elif(~is_open | (age > WINDOW)):
                    m.d.sync += silent.eq(is_open & muted)
                    ask_again()
                with m.Else():
                    with m.If(age == 0):
                        m.d.sync += [expected.eq(expected + 1), muted.eq(0)]
                    with m.If(~sound):
                        m.d.sync += refused.eq(1)
                    with m.Elif((age != 0) & writes):
                        m.d.sync += response.eq(answers[slot])
                    with m.Else():
                        m.next = "SERVE"
            with m.State("SERVE"):
                m.d.sync += taken.eq(0)
                with m.Switch(kind):
                    with m.Case(RequestKind.READ_REGISTER):
                        m.d.comb += registers.read.eq(1)
                        m.next = "REGISTER"
                    with m.Case(RequestKind.WRITE_REGISTER):
                        m.next = "WORD"
                    with m.Case(RequestKind.READ_MEMORY):
                        m.d.comb += reader.start.eq(1)
                        m.next = "REPLY"
                    with m.Case(RequestKind.WRITE_MEMORY):
                        m.d.comb += writer.start.eq(1)
                        m.next = "MEMORY"
                    with m.Default():
                        m.d.sync += word.eq(cycles)
                        m.next = "REPLY"
            with m.State("WORD"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid):
                    m.d.sync += word.eq(Cat(word[8:], self.i.payload.data))
                    with m.If(self.i.payload.last):
                        m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += registers.write.eq(1)
                m.next = "REGISTER"
            with m.State("REGISTER"):
                with m.If(registers.done):
                    m.d.sync += response.eq(registers.response)
                    with m.If(writes):
                        m.d.sync += answers[slot].eq(registers.response)
                    with m.Else():
                        m.d.sync += word.eq(registers.read_data)
                    m.next = "REPLY"
            with m.State("MEMORY"):
                m.d.comb += [writer.i.valid.eq(self.i.valid), self.i.ready.eq(writer.i.ready)]
                with m.If(writer.done):
                    m.d.sync += [response.eq(writer.response),
                                 answers[slot].eq(writer.response)]
                    m.next = "REPLY"
            with m.State("DRAIN"):
                m.d.comb += self.i.ready.eq(more)
                m.d.sync += taken.eq(0)
                with m.If(self.i.valid & more):
                    m.d.sync += more.eq(~self.i.payload.last)
                with m.Elif(~more):
                    m.next = "REPLY"
                    with m.If(silent):
                        m.next = "HEADER"
            with m.State("REPLY"):
                m.d.comb += replies.start.eq(1)
                m.next = "REPLYING"
            with m.State("REPLYING"):
                with m.If(~replies.busy):
                    m.next = "HEADER"
        return m
