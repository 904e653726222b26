"""From frames on the line to words of messages."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.ici import FRAME_WORDS, QUIET_CYCLES, SEQUENCE_BITS, FrameFlag, WordKind
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
from celosia_hw.stream import Queue, outstanding

__all__ = ["FrameReceiver"]

#: Words that may be on their way out of the buffer: a cycle to read, one to credit.
_WORDS_AHEAD = 4


class FrameReceiver(wiring.Component):
    """Takes frames whole and in their order; asks for those again that are garbled or missing.

    A frame's first word is offered 5 cycles after its END was on the line; a word a cycle. Its
    place is free as soon as its last word has been read.

    Members
    -------
    line : In(line_layout)
        Goes straight into flip-flops.
    o : Out(stream)
        Words, ``link_bytes`` each.
    heard : Out(heard_layout()), told : Out(told_layout())
        For the sender beside it.
    got, garbled : Out(1)
        A frame with data was taken; one was not whole.
    down : Out(1)
        No whole frame has come for QUIET_CYCLES, until a reset.
    """

    line: data.View
    o: stream.Interface
    heard: data.View
    told: data.View
    got: Signal
    garbled: Signal
    down: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "line": In(line_layout(config)), "o": Out(stream.Signature(8 * config.link_bytes)),
            "heard": Out(heard_layout()), "told": Out(told_layout()), "got": Out(1),
            "garbled": Out(1), "down": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        slot = slot_bits(self._config)
        m.submodules.words = words = Ram(8 * self._config.link_bytes, FRAME_WORDS << slot)
        m.submodules.lengths = lengths = memory.Memory(shape=WORD_BITS, depth=1 << slot, init=[])
        line = Signal(line_layout(self._config))
        expected = Signal(SEQUENCE_BITS)
        head, crc = Signal(head_layout()), Signal(32)
        inside, count = Signal(), Signal(WORD_BITS)
        ended, whole, cut = Signal(), Signal(), Signal()
        wanted, has_data, ahead = Signal(), Signal(), Signal()
        distance = Signal(SEQUENCE_BITS)
        freed, room = Signal(SEQUENCE_BITS), Signal()
        m.d.comb += [
            distance.eq(head.sequence - expected), wanted.eq(distance == 0),
            ahead.eq(~distance[-1] & ~wanted),
            has_data.eq(head.flags[exact_log2(FrameFlag.DATA)]),
            # Of a sender there is always room, of a HEAD that is garbled there may be none.
            room.eq((expected - freed)[:SEQUENCE_BITS] != 1 << slot),
            words.write_data.eq(line.data),
            words.write_addr.eq(Cat(count[:WORD_BITS - 1], expected[:slot])),
        ]
        before = Mux(line.kind == WordKind.HEAD, Const(CRC_INIT, 32), crc)
        crc_next = crc_after(m, before, line.data, name="mixed")
        m.d.sync += [line.eq(self.line), ended.eq(0), cut.eq(0)]
        with m.Switch(line.kind):
            with m.Case(WordKind.HEAD):
                m.d.sync += [inside.eq(1), cut.eq(inside), head.eq(line.data[:32]), count.eq(0),
                             crc.eq(crc_next)]
            with m.Case(WordKind.DATA):
                m.d.comb += words.write_en.eq(
                    inside & has_data & wanted & room & (count < FRAME_WORDS))
                m.d.sync += crc.eq(crc_next)
                with m.If(count <= FRAME_WORDS):
                    m.d.sync += count.eq(count + 1)
            with m.Case(WordKind.END):
                m.d.sync += [ended.eq(inside), inside.eq(0), whole.eq(
                    (line.data[:32] == ~crc) & (count <= FRAME_WORDS) & (has_data == (count != 0)))]

        # The next HEAD is on its way into its registers when a frame is judged. Frames behind a
        # missing one do not ask for it again.
        asked, accept, miss = Signal(), Signal(), Signal()
        put, get = lengths.write_port(), lengths.read_port(domain="comb")
        leaves = Signal()
        m.d.comb += [
            accept.eq(ended & whole & has_data & wanted),
            miss.eq(cut | (ended & (~whole | (has_data & ahead)))),
            put.en.eq(accept), put.addr.eq(expected[:slot]), put.data.eq(count),
            self.heard.valid.eq(ended & whole), self.heard.expected.eq(head.expected),
            self.heard.freed.eq(head.freed),
            self.heard.again.eq(head.flags[exact_log2(FrameFlag.AGAIN)]),
            self.told.expected.eq(expected), self.got.eq(accept),
            self.garbled.eq(cut | (ended & ~whole)),
        ]
        m.d.sync += [self.told.due.eq((ended & whole & has_data) | leaves),
                     self.told.again.eq(miss & (~asked | wanted))]
        with m.If(accept):
            m.d.sync += [expected.eq(expected + 1), asked.eq(0)]
        with m.Elif(miss):
            m.d.sync += asked.eq(1)

        quiet = Signal(range(QUIET_CYCLES))
        with m.If(self.heard.valid):
            m.d.sync += quiet.eq(0)
        with m.Elif(quiet != QUIET_CYCLES - 1):
            m.d.sync += quiet.eq(quiet + 1)
        with m.Else():
            m.d.sync += self.down.eq(1)

        # Out again.
        m.submodules.queue = queue = Queue(8 * self._config.link_bytes, _WORDS_AHEAD)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        word, read = Signal(WORD_BITS), Signal()
        under_way = outstanding(m, read, queue.o.valid & queue.o.ready, _WORDS_AHEAD,
                                name="under_way")
        m.d.comb += [
            get.addr.eq(freed[:slot]), self.told.freed.eq(freed),
            read.eq((freed != expected) & (under_way != _WORDS_AHEAD)),
            leaves.eq(read & (word + 1 == get.data)),
            words.read_en.eq(1), words.read_addr.eq(Cat(word[:WORD_BITS - 1], freed[:slot])),
            queue.i.payload.eq(words.read_data),
        ]
        m.d.sync += queue.i.valid.eq(read)
        with m.If(read):
            m.d.sync += word.eq(Mux(leaves, 0, word + 1))
        with m.If(leaves):
            m.d.sync += freed.eq(freed + 1)
        return m
