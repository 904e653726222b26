"""From words of messages to frames on the line."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, enum, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.ici import (
    BEAT_CYCLES,
    FRAME_WORDS,
    RESEND_CYCLES,
    SEQUENCE_BITS,
    SHORT_FRAMES,
    FrameFlag,
    WordKind,
)
from celosia_hw.ici.crc import CRC_INIT, crc_after
from celosia_hw.ici.line import (
    WORD_BITS,
    head_layout,
    heard_layout,
    line_layout,
    slot_bits,
    told_layout,
)
from celosia_hw.memory.ram import Ram

__all__ = ["FrameSender", "sent_word_layout"]


def sent_word_layout(config: TpuConfig) -> data.StructLayout:
    """A word of a message; ``last`` ends it; ``size``: of its frames, SHORT_FRAMES, FRAME_WORDS."""
    return data.StructLayout({"data": 8 * config.link_bytes, "last": 1,
                              "size": range(len(SHORT_FRAMES) + 1)})


class _State(enum.Enum):
    """What comes next on the line: anything, data, END."""

    GAP = 0
    DATA = 1
    END = 2


class FrameSender(wiring.Component):
    """Cuts messages into frames, keeps them until they have arrived, sends them again if not.

    A frame goes out while its words still come: its HEAD is on the line 3 cycles after its first
    word was taken. It ends where a message ends and no other one follows at once. FRAME_WORDS of
    each FRAME_WORDS + 2 cycles are data, of short messages fewer (SHORT_FRAMES). Words
    are taken as long as fewer than ``link_frames`` frames, rounded up to a power of two, have not
    arrived; a frame is sent where the receiver has room for it.

    Frames from the first one on that has not arrived are sent again when the receiver asks for
    them, and when nothing has arrived for RESEND_CYCLES.

    Members
    -------
    i : In(stream of sent_word_layout)
    heard : In(heard_layout())
        What the other chip says.
    told : In(told_layout())
        What goes to it with the next HEAD.
    line : Out(line_layout)
        Out of flip-flops.
    sent, resent : Out(1)
        A frame with data begins; not for the first time.
    """

    i: stream.Interface
    heard: data.View
    told: data.View
    line: data.View
    sent: Signal
    resent: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(sent_word_layout(config))), "heard": In(heard_layout()),
            "told": In(told_layout()), "line": Out(line_layout(config)), "sent": Out(1),
            "resent": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config, slot = self._config, slot_bits(self._config)
        slots = 1 << slot
        m.submodules.words = words = Ram(8 * config.link_bytes, slots * FRAME_WORDS)
        m.submodules.lengths = lengths = memory.Memory(shape=WORD_BITS, depth=slots, init=[])
        close, closed_at = lengths.write_port(), lengths.read_port(domain="comb")
        arrived, freed = Signal(SEQUENCE_BITS), Signal(SEQUENCE_BITS)
        with m.If(self.heard.valid):
            m.d.sync += [arrived.eq(self.heard.expected), freed.eq(self.heard.freed)]

        # Words go into the frame ``put``, which is closed with its last.
        put, count = Signal(SEQUENCE_BITS), Signal(WORD_BITS)
        taken, ends = Signal(), Signal()
        pause = Signal()  # no message is under way
        early = Signal()  # the frame is closed before it is full
        sizes = [*SHORT_FRAMES.values(), FRAME_WORDS]
        full = Array(Const(size - 1, WORD_BITS) for size in sizes)[self.i.payload.size]
        m.d.comb += [
            self.i.ready.eq((put - arrived)[:SEQUENCE_BITS] < slots),
            taken.eq(self.i.valid & self.i.ready),
            ends.eq(early | (taken & (count >= full))),
            words.write_en.eq(taken), words.write_data.eq(self.i.payload.data),
            words.write_addr.eq(Cat(count[:WORD_BITS - 1], put[:slot])),
            close.en.eq(ends), close.addr.eq(put[:slot]), close.data.eq(count + taken),
        ]
        with m.If(taken):
            m.d.sync += [count.eq(count + 1), pause.eq(self.i.payload.last)]
        with m.If(ends):
            m.d.sync += [count.eq(0), put.eq(put + 1)]

        state = Signal(_State)
        kind = Signal(WordKind)
        send, word = Signal(SEQUENCE_BITS), Signal(WORD_BITS)
        newest = Signal(SEQUENCE_BITS)  # frames before this one have been sent once
        back, owed, again, with_data = Signal(), Signal(init=1), Signal(), Signal()
        closed, there, final, behind = Signal(), Signal(), Signal(), Signal()
        begin = Signal()
        m.d.comb += [
            closed_at.addr.eq(send[:slot]), closed.eq(send != put),
            there.eq(Mux(closed, word < closed_at.data, word < count)),
            final.eq(closed & (word + 1 >= closed_at.data)),
            behind.eq((put - send)[:SEQUENCE_BITS] > (put - arrived)[:SEQUENCE_BITS]),
            begin.eq((closed | (count != 0))
                     & ((send - freed)[:SEQUENCE_BITS] < config.link_frames)),
            words.read_en.eq(1), words.read_addr.eq(Cat(word[:WORD_BITS - 1], send[:slot])),
        ]
        with m.Switch(state):
            with m.Case(_State.GAP):
                m.d.sync += word.eq(0)
                with m.If(back | behind):
                    m.d.sync += [send.eq(arrived), back.eq(0)]
                with m.Elif(begin):
                    m.d.comb += [kind.eq(WordKind.HEAD), self.sent.eq(1),
                                 self.resent.eq(send != newest)]
                    m.d.sync += [with_data.eq(1), state.eq(_State.DATA)]
                with m.Elif(owed):
                    m.d.comb += kind.eq(WordKind.HEAD)
                    m.d.sync += [with_data.eq(0), state.eq(_State.END)]
            with m.Case(_State.DATA):
                with m.If(there):
                    m.d.comb += kind.eq(WordKind.DATA)
                    m.d.sync += word.eq(word + 1)
                # A frame that has arrived meanwhile may be shorter than it was: it is ignored.
                m.d.comb += early.eq(~there & ~closed & pause & ~taken)
                with m.If(Mux(there, final, closed | early)):
                    m.d.sync += state.eq(_State.END)
            with m.Case(_State.END):
                m.d.comb += kind.eq(WordKind.END)
                m.d.sync += state.eq(_State.GAP)
                with m.If(with_data):
                    m.d.sync += send.eq(send + 1)
                    with m.If(send == newest):
                        m.d.sync += newest.eq(send + 1)

        beat, silence = Signal(range(BEAT_CYCLES)), Signal(range(RESEND_CYCLES))
        m.d.sync += [beat.eq(beat + 1), silence.eq(silence + 1)]
        with m.If(kind == WordKind.HEAD):
            m.d.sync += [owed.eq(0), again.eq(0), beat.eq(0)]
        with m.If(self.told.due | self.told.again | (beat == BEAT_CYCLES - 1)):
            m.d.sync += owed.eq(1)
        with m.If(self.told.again):
            m.d.sync += again.eq(1)
        with m.If((send == arrived) | (self.heard.valid & (self.heard.expected != arrived))):
            m.d.sync += silence.eq(0)
        with m.If((self.heard.valid & self.heard.again) | (silence == RESEND_CYCLES - 1)):
            m.d.sync += [back.eq(1), silence.eq(0)]

        flags = Mux(begin & ~back & ~behind, FrameFlag.DATA, 0) | Mux(again, FrameFlag.AGAIN, 0)
        head = Signal(head_layout())
        m.d.sync += [head.sequence.eq(send), head.expected.eq(self.told.expected),
                     head.freed.eq(self.told.freed), head.flags.eq(flags)]
        self._send(m, kind, head, words.read_data)
        return m

    def _send(self, m: Module, kind: Signal, head: data.View, word: Signal) -> None:
        """Put what was chosen in the cycle before on the line: its word is there now."""
        was, crc = Signal(WordKind), Signal(32)
        now = Signal(8 * self._config.link_bytes)
        m.d.sync += [was.eq(kind), self.line.kind.eq(was)]
        before = Mux(was == WordKind.HEAD, Const(CRC_INIT, 32), crc)
        m.d.comb += now.eq(Mux(was == WordKind.HEAD, head.as_value(), word))
        with m.If((was == WordKind.HEAD) | (was == WordKind.DATA)):
            m.d.sync += [crc.eq(crc_after(m, before, now, name="mixed")), self.line.data.eq(now)]
        with m.Elif(was == WordKind.END):
            m.d.sync += self.line.data.eq(~crc)
