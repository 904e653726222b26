"""The host link, from the pins of a UART to the buses of a chip."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.link import (
    MAX_PAYLOAD,
    REQUEST_HEADER,
    WINDOW,
    WORD_BYTES,
    LinkConfig,
    RequestKind,
    identity,
    size,
)
from celosia_hw.bus.axi import AxiLiteSignature, AxiReadSignature, AxiWriteSignature
from celosia_hw.soc.link.framer import Framer
from celosia_hw.soc.link.requests import FIRST, RequestStore

__all__ = ["HostLink"]


class _Request:
    """The request that is served, and its session; what follows from them is added to ``m``.

    The header is a ring of eight bytes, which moves on by one in a cycle with ``turn``: a byte on
    the wire takes 40 cycles or more, so it goes round once for each byte of a payload, and one
    byte's adder counts for all of them. ``step`` tells which of its bytes is the lowest, ``low``.
    In a cycle with ``load`` the store's byte comes in. In a round with ``walk`` the count goes down
    by one, and the address of memory up by one.

    ``sequence`` to ``final`` (the next byte of the payload is the last) hold while ``step`` is 0,
    ``writes`` to ``age`` (behind the expected number) from a cycle after a new header on.
    """

    def __init__(self, m: Module, link: LinkConfig):
        m.submodules.requests = self.store = RequestStore(link)
        ring, carry, total = Signal(8 * size(REQUEST_HEADER)), Signal(), Signal(9)
        self.turn, self.load, self.walk, self.step = Signal(), Signal(), Signal(), Signal(3)
        self.low = self.sequence = ring[:8]
        kind, count, self.address = ring[8:16], ring[16:32], ring[32:]
        self.kind, self.count = kind, count
        self.writes, self.registers, self.sound = Signal(), Signal(), Signal()
        self.session, self.is_open, self.expected = Signal(32), Signal(), Signal(8)
        self.again, self.muted, self.age = Signal(), Signal(), Signal(8)
        self.response, self.keep = Signal(2), Signal()
        self.reply = Signal(data.StructLayout({
            "stored": 1, "asks": 1, "hello": 1, "refused": 1, "reads": 1, "started": 1}))
        self.final = (count[:2] == 1) & (self.registers | (count[2:] == 0))
        writes = (kind == RequestKind.WRITE_REGISTER) | (kind == RequestKind.WRITE_MEMORY)
        register = (kind == RequestKind.READ_REGISTER) | (kind == RequestKind.WRITE_REGISTER)
        memory = (kind == RequestKind.READ_MEMORY) | (kind == RequestKind.WRITE_MEMORY)
        meant = ((kind == RequestKind.POLL) & (count == 0) | register & (count == WORD_BYTES)
                 | memory & (count != 0) & (count <= MAX_PAYLOAD))
        with m.If(self.step == 0):
            m.d.sync += [
                self.writes.eq(writes), self.registers.eq(~memory),
                self.sound.eq(meant & (self.store.payload == Mux(writes, count, 0))),
                self.age.eq(self.expected - self.sequence),
            ]
        m.d.comb += total.eq(ring[:8] + (self.walk & (self.step[1:] == 1)).replicate(8) + carry)
        with m.If(self.store.lost & ~self.muted):
            m.d.sync += self.again.eq(1)
        with m.If(self.turn):
            start = self.walk & ~self.registers  # of the address
            m.d.sync += [
                ring.eq(Cat(ring[8:], Mux(self.load, self.store.byte, total[:8]))),
                carry.eq(Mux(self.step == 3, start, total[8] & (self.step != 7))),
                self.step.eq(self.step + 1),
            ]
        # By the low bits of the sequence number.
        m.submodules.answers = answers = Memory(shape=2, depth=WINDOW, init=[])
        write, read = answers.write_port(), answers.read_port(domain="comb")
        self.kept = read.data
        m.d.comb += [write.addr.eq(self.sequence), read.addr.eq(self.sequence),
                     write.data.eq(self.response), write.en.eq(self.keep)]


class HostLink(wiring.Component):
    """Gives a host at the other end of a serial wire the registers, the external memory and the
    interrupt of a chip; the protocol is `celosia.arch.link`, its rules are in docs/link.md.

    The memory ports are a manager of their own, with one beat in flight. No path leads through.

    Members
    -------
    rx : In(1), tx : Out(1), irq : In(1)
        The wire, high when idle; the chip's interrupt.
    axil : Out(AxiLiteSignature)
    read : Out(AxiReadSignature), write : Out(AxiWriteSignature)
    """

    rx: Signal
    tx: Signal
    irq: Signal
    axil: Any
    read: Any
    write: Any

    def __init__(self, config: TpuConfig, link: LinkConfig):
        self._link, self._bus_bytes = link, config.bus_bytes
        self._identity = identity(config, link)[:-4]  # the session is told from the header
        super().__init__({
            "rx": In(1, init=1), "tx": Out(1, init=1),  # type: ignore[call-arg]
            "irq": In(1), "axil": Out(AxiLiteSignature()),
            "read": Out(AxiReadSignature(config.bus_bytes)),
            "write": Out(AxiWriteSignature(config.bus_bytes)),
        })

    def _add_buses(self, m: Module, request: _Request) -> tuple[Any, ...]:
        """Add what is between a byte and the buses; return its lane, the byte that was read,
        whether a bus answers, and what.
        """
        ar, aw, w, r, b = self.read.ar, self.write.aw, self.write.w, self.read.r, self.write.b
        lite, bits = self.axil, exact_log2(self._bus_bytes)
        address, lane, response = request.address, Signal(bits), Signal(2)
        beat, cycles, stamp = Signal(8 * self._bus_bytes), Signal(32), Signal(32)
        m.d.comb += [
            lane.eq(Mux(request.registers, (-request.count)[:2], address[:bits])),
            ar.payload.addr.eq(Cat(Const(0, bits), address[bits:])),
            aw.payload.addr.eq(ar.payload.addr), w.payload.last.eq(1), r.ready.eq(1),
            b.ready.eq(1), lite.b.ready.eq(1), lite.ar.payload.eq(address),
            lite.aw.payload.eq(address), lite.w.payload.data.eq(w.payload.data[:32]),
            lite.w.payload.strb.eq(0b1111),
        ]
        m.d.sync += [cycles.eq(cycles + 1), lite.r.ready.eq(0)]
        with m.If(~request.reply.started):
            m.d.sync += stamp.eq(cycles)
        for channel in (ar, aw, w, lite.ar, lite.aw, lite.w):
            with m.If(channel.ready):
                m.d.sync += channel.valid.eq(0)
        with m.If(r.valid):
            m.d.sync += beat.eq(r.payload.data)
        for channel, answer in ((r, r.payload.resp), (lite.r, lite.r.payload.resp),
                                (b, b.payload), (lite.b, lite.b.payload)):
            with m.If(channel.valid):
                m.d.comb += response.eq(answer)
        word = Mux(request.kind == RequestKind.POLL, stamp, lite.r.payload.data)
        found = Mux(request.registers, word.word_select(lane[:2], 8), beat.word_select(lane, 8))
        return lane, found, r.valid | lite.r.valid | b.valid | lite.b.valid, response

    def _add_intake(self, m: Module, request: _Request) -> None:
        """Add the states from a frame to what is done about it."""
        reply = request.reply
        with m.State("IDLE"):
            m.d.sync += [reply.eq(0), reply.stored.eq(request.store.waits), request.response.eq(0)]
            with m.If(request.store.waits):
                m.next = "HEADER"
            with m.Elif(request.again):
                m.d.sync += reply.asks.eq(1)
                m.next = "REPLY"
        with m.State("HEADER"):
            m.d.comb += [request.turn.eq(1), request.load.eq(1), request.store.advance.eq(1)]
            with m.If(request.step == 7):
                m.next = "CHECK"
        with m.State("CHECK"):  # a cycle for what follows from the header
            m.next = "DECIDE"
        with m.State("DECIDE"):
            m.next = "REPLY"
            with m.If(request.kind == RequestKind.HELLO):
                m.d.sync += [reply.hello.eq(1), request.session.eq(request.address)]
                with m.If(~request.is_open | (request.session != request.address)):
                    m.d.sync += [request.is_open.eq(1), request.expected.eq(0),
                                 request.again.eq(0), request.muted.eq(0)]
            with m.Elif(~request.is_open | (request.age > WINDOW)):
                m.d.sync += reply.asks.eq(1)
                with m.If(request.is_open & request.muted):
                    m.d.comb += request.store.next.eq(1)
                    m.next = "IDLE"
            with m.Else():
                with m.If(request.age == 0):
                    m.d.sync += [request.expected.eq(request.expected + 1), request.muted.eq(0)]
                m.d.sync += [reply.refused.eq(~request.sound),
                             reply.reads.eq(request.sound & ~request.writes)]
                with m.If(request.sound & request.writes):
                    m.d.sync += request.response.eq(request.kept)
                    with m.If(request.age == 0):
                        m.d.sync += request.response.eq(0)
                        m.next = "TAKE"

    def _add_payload(self, m: Module, request: _Request, o: Any, buses: Any) -> None:
        """Add the states that move a payload, a byte in a round of the header."""
        w, lite, reply, memory = self.write.w, self.axil, request.reply, ~request.registers
        lane, found, answered, answer = buses
        ended = Signal()  # the byte of this round is the last
        with m.State("TAKE"):
            m.d.comb += request.store.advance.eq(1)
            m.d.sync += [w.payload.data.word_select(lane, 8).eq(request.store.byte),
                         w.payload.strb.bit_select(lane, 1).eq(1), ended.eq(request.final)]
            m.next = "ROUND"
            with m.If(request.final | (memory & lane.all())):
                m.d.sync += [self.write.aw.valid.eq(memory), w.valid.eq(memory),
                             lite.aw.valid.eq(~memory), lite.w.valid.eq(~memory)]
                m.next = "ACCESS"
        with m.State("FETCH"):
            m.d.sync += reply.started.eq(1)
            m.next = "GIVE"
            with m.If(Mux(memory, ~reply.started | (lane == 0),
                          ~reply.started & (request.kind == RequestKind.READ_REGISTER))):
                m.d.sync += [self.read.ar.valid.eq(memory), lite.ar.valid.eq(~memory)]
                m.next = "ACCESS"
        with m.State("ACCESS"):
            with m.If(answered):
                # The worst of a request: DECERR has the bits of SLVERR.
                m.d.sync += [request.response.eq(request.response | answer), w.payload.strb.eq(0)]
                m.next = "GIVE"
                with m.If(request.writes):
                    m.next = "ROUND"
        with m.State("GIVE"):
            m.d.comb += [o.valid.eq(1), o.payload.data.eq(found)]
            m.d.sync += ended.eq(request.final)
            with m.If(o.ready):
                m.next = "ROUND"
        with m.State("ROUND"):
            m.d.comb += [request.turn.eq(1), request.walk.eq(1)]
            with m.If(request.step == 7):
                # A register's bus has held its word until now.
                m.d.sync += lite.r.ready.eq(ended & request.registers & ~request.writes)
                with m.If(request.writes):
                    m.next = "TAKE"
                    with m.If(ended):
                        m.next = "REPLY"
                with m.Else():
                    m.next = "FETCH"
                    with m.If(ended):
                        m.next = "STATUS"

    def _add_reply(self, m: Module, request: _Request, o: Any) -> None:
        """Add the states that reply."""
        step, low, reply = request.step, request.low, request.reply
        # Constants are told by the place, which is behind the header.
        begin, many = FIRST + size(REQUEST_HEADER), len(self._identity)
        constants = Array((self._identity + bytes(32))[(i - begin) % 32] for i in range(32))
        with m.State("REPLY"):
            constant = step == 2
            m.d.comb += [
                o.valid.eq((step < 2) | (reply.hello & (step != 3))), o.payload.data.eq(low),
                request.store.advance.eq(o.valid & o.ready & constant),
                request.turn.eq(~o.valid | (o.ready & (
                    ~constant | (request.store.place[:5] == (begin + many - 1) % 32)))),
            ]
            with m.If(reply.asks):
                m.d.sync += [request.again.eq(0), request.muted.eq(1)]
                m.d.comb += o.payload.data.eq(Mux(step[0], RequestKind.AGAIN, request.expected))
            with m.If(step == 1):
                m.d.comb += o.payload.data[7].eq(1)
            with m.If(constant):
                m.d.comb += o.payload.data.eq(constants[request.store.place[:5]])
            with m.If(request.turn & (step == 7)):
                m.next = "STATUS"
                with m.If(reply.reads):
                    m.next = "FETCH"
        with m.State("STATUS"):
            m.d.comb += [
                o.valid.eq(1), o.payload.last.eq(1), request.keep.eq(request.writes & ~reply.asks),
                o.payload.data.eq(Cat(request.response, reply.refused, ~request.is_open,
                                      Const(0, 3), self.irq)),
            ]
            with m.If(o.ready):
                m.d.comb += request.store.next.eq(reply.stored)
                m.next = "IDLE"

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        m.submodules.framer = framer = Framer(self._link)
        request = _Request(m, self._link)
        m.d.comb += [request.store.line.eq(self.rx), self.tx.eq(framer.line)]
        buses = self._add_buses(m, request)
        with m.FSM():
            self._add_intake(m, request)
            self._add_payload(m, request, framer.i, buses)
            self._add_reply(m, request, framer.i)
        return m
