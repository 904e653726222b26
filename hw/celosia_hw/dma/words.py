"""The on-chip side of the DMA engines on a chip that moves words, as of `TpuConfig.words`.

There a row of the unified buffer is as long as a beat of the bus, and so is a word of a row of the
accumulators. The engines move one or the other a cycle, and nothing is as wide as a row of the
accumulators.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia_hw.dma.align import stored_unit_layout, unit_layout
from celosia_hw.dma.pack import saturate_i8
from celosia_hw.dma.rows import RowWalk
from celosia_hw.dma.split import rows_layout
from celosia_hw.follow import written_layout
from celosia_hw.memory.ports import (
    READ_LATENCY,
    ReadPort,
    ReadPortSignature,
    WritePort,
    WritePortSignature,
    beat_bits,
    row_bits,
)
from celosia_hw.stream import Queue, delayed, outstanding

__all__ = ["WordFetch", "WordPacker", "WordUnpacker", "word_layout"]

#: Words that may be under way or wait: a read's latency, and a cycle each to queue and to credit.
_WORDS_AHEAD = 4


def word_layout(config: TpuConfig) -> data.StructLayout:
    """What was read: a row of the unified buffer or a word of the accumulators, ``index`` of its
    row. ``narrow``: it becomes a byte. Whether it ends its unit, its external row, the command.
    """
    return data.StructLayout({
        "word": 32, "index": exact_log2(config.dim), "narrow": 1, "unit_last": 1, "row_last": 1,
        "last": 1})


class _Words:
    """The words of the rows of a walk: which one comes, and where it is in its row.

    Attributes
    ----------
    walk
        The walk over the rows.
    index
        Of the word, while it is one of the accumulators.
    in_ub, narrow
        It is a row of the unified buffer; it is a word that is a byte in external memory.
    stops, row_done
        It is the last one of the external row; of the on-chip row.
    past
        It is behind the end of the external row.
    """

    def __init__(self, m: Module, config: TpuConfig):
        m.submodules.walk = self.walk = walk = RowWalk(config)
        command = walk.command
        self.index = Signal(exact_log2(config.dim))
        self.in_ub, self.narrow, self.stops, self.past, self.row_done = (
            Signal(name=name) for name in ("in_ub", "narrow", "stops", "past", "row_done"))
        # The last element in its row: of pieces of one element, the piece; of one piece, its
        # element.
        end = command.tail | command.end
        m.d.comb += [
            self.in_ub.eq(command.mem == Mem.UB),
            self.narrow.eq(~self.in_ub & (command.fmt == DmaFormat.I8)),
            self.stops.eq(walk.row_last & (self.in_ub | (self.index == end))),
            self.past.eq(walk.row_last & ~self.in_ub & (self.index > end)),
            self.row_done.eq(self.in_ub | self.index.all()),
        ]

    def step(self, m: Module, step: Value, row_done: Value) -> None:
        """Go on to the next word with ``step``; with ``row_done`` to the next row."""
        m.d.comb += self.walk.step.eq(step & row_done)
        with m.If(step):
            m.d.sync += self.index.eq(Mux(row_done, 0, self.index + 1))


class WordUnpacker(wiring.Component):
    """Writes units as rows of the unified buffer, or as words of the accumulators.

    A row or a word a cycle, in the cycle after its unit was taken. Lanes beyond the end of the
    external row are zero.

    Members
    -------
    command, i, ub, acc, writing, wrote, done, error
        As of `Unpacker`; ``acc`` writes words.
    """

    command: stream.Interface
    i: stream.Interface
    ub: WritePort
    acc: WritePort
    writing: Signal
    wrote: Signal
    done: Signal
    error: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(rows_layout(config))),
            "i": In(stream.Signature(unit_layout(config))),
            "ub": Out(WritePortSignature(row_bits(config), config.ub_row_bits)),
            "acc": Out(WritePortSignature(beat_bits(config), 32)),
            "writing": Out(1), "wrote": Out(1), "done": Out(1), "error": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        words = _Words(m, self._config)
        walk, command = words.walk, words.walk.command
        wiring.connect(m, wiring.flipped(self.command), walk.i)
        unit = Signal(32, reset_less=True)  # shifted down as bytes leave it
        unit_error = Signal(reset_less=True)
        unit_valid, bad = Signal(), Signal()  # bad: a unit before it in the command was an error
        used, leaves, last, failed = (Signal() for _ in range(4))
        word = Mux(words.narrow, unit[:8].as_signed(), unit)
        mask = Cat(~walk.row_last | (k <= command.end) for k in range(self._config.dim))
        m.d.comb += [
            self.writing.eq(walk.valid & (unit_valid | words.past)),
            self.ub.valid.eq(self.writing & words.in_ub),
            self.acc.valid.eq(self.writing & ~words.in_ub),
            self.ub.addr.eq(walk.row), self.acc.addr.eq(Cat(words.index, walk.row)),
            self.ub.data.eq(Cat(unit.word_select(k, 8) & keeps.replicate(8)
                                for k, keeps in enumerate(mask))),
            self.acc.data.eq(Mux(words.past, 0, word)),
            self.wrote.eq(self.writing & Mux(words.in_ub, self.ub.ready, self.acc.ready)),
            used.eq(self.wrote & ~words.past),
            leaves.eq(used & (~words.narrow | words.stops | words.row_done)),
            self.i.ready.eq(~unit_valid | leaves),
            last.eq(self.wrote & walk.last & words.row_done),
            failed.eq(bad | (used & unit_error)),
        ]
        words.step(m, self.wrote, words.row_done)
        with m.If(used & words.narrow):
            m.d.sync += unit.eq(unit[8:])
        with m.If(self.i.ready):
            m.d.sync += unit_valid.eq(self.i.valid)
        with m.If(self.i.ready & self.i.valid):
            m.d.sync += [unit.eq(self.i.payload.data), unit_error.eq(self.i.payload.error)]
        m.d.sync += [self.done.eq(last), self.error.eq(last & failed), bad.eq(failed & ~last)]
        return m


class WordFetch(wiring.Component):
    """Reads rows of the unified buffer, or words of the accumulators, into a queue. One a cycle.

    Members
    -------
    i, ub, acc, following, written, reading, read
        As of `RowFetch`; ``acc`` reads words.
    o : Out(stream of word_layout)
    """

    i: stream.Interface
    ub: ReadPort
    acc: ReadPort
    o: stream.Interface
    following: Signal
    written: data.View
    reading: Signal
    read: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(rows_layout(config))),
            "ub": Out(ReadPortSignature(row_bits(config), config.ub_row_bits)),
            "acc": Out(ReadPortSignature(beat_bits(config), 32)),
            "o": Out(stream.Signature(word_layout(config))),
            "following": In(1), "written": In(written_layout(config)),
            "reading": Out(1), "read": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        words = _Words(m, self._config)
        walk, in_ub = words.walk, words.in_ub
        m.submodules.queue = queue = Queue(word_layout(self._config), _WORDS_AHEAD)
        wiring.connect(m, wiring.flipped(self.i), walk.i)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        ahead = outstanding(m, self.read, queue.o.valid & queue.o.ready, _WORDS_AHEAD,
                            name="ahead")
        # Whether the row is there is known a cycle after it has become this one.
        there = Signal(init=1)
        m.d.sync += there.eq(~self.following | (walk.valid & ~walk.step & (
            in_ub | (self.written.valid & (walk.row <= self.written.row)))))
        row_done = words.stops | words.row_done
        m.d.comb += [
            self.reading.eq(walk.valid & there & (ahead != _WORDS_AHEAD)),
            self.ub.valid.eq(self.reading & in_ub), self.acc.valid.eq(self.reading & ~in_ub),
            self.ub.addr.eq(walk.row), self.acc.addr.eq(Cat(words.index, walk.row)),
            self.read.eq(self.reading & Mux(in_ub, self.ub.ready, self.acc.ready)),
        ]
        words.step(m, self.read, row_done)

        def arrives(value: Value, name: str) -> Value:
            return delayed(m, value, READ_LATENCY, name=name, reset_less=True)[-1]

        word = queue.i.payload
        m.d.comb += [
            queue.i.valid.eq(delayed(m, self.read, READ_LATENCY, name="arrives")[-1]),
            word.word.eq(Mux(arrives(in_ub, "of_ub"), self.ub.data, self.acc.data)),
            word.index.eq(arrives(words.index, "index")),
            word.narrow.eq(arrives(words.narrow, "narrow")),
            word.unit_last.eq(arrives(~words.narrow | row_done, "unit_last")),
            word.row_last.eq(arrives(words.stops, "row_last")),
            word.last.eq(arrives(words.stops & walk.last, "last")),
        ]
        return m


class WordPacker(wiring.Component):
    """Makes units of rows of the unified buffer and of words of the accumulators. One a cycle; a
    unit is offered a cycle after its last word was.

    Members
    -------
    i : In(stream of word_layout)
    o : Out(stream of stored_unit_layout)
        Units; bytes beyond the end of the external row are undefined.
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(word_layout(config))),
            "o": Out(stream.Signature(stored_unit_layout(config))),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        item, step = self.i.payload, Signal()
        unit, valid = Signal(stored_unit_layout(self._config), reset_less=True), Signal()
        m.d.comb += [
            self.i.ready.eq(~valid | self.o.ready), step.eq(self.i.valid & self.i.ready),
            self.o.valid.eq(valid), self.o.payload.eq(unit),
        ]
        with m.If(self.i.ready):
            m.d.sync += valid.eq(step & item.unit_last)
        byte = saturate_i8(item.word)
        with m.If(step):
            m.d.sync += [unit.row_last.eq(item.row_last), unit.last.eq(item.last)]
            for k in range(self._config.dim):
                with m.If(~item.narrow | (item.index == k)):
                    m.d.sync += unit.data.word_select(k, 8).eq(
                        Mux(item.narrow, byte, item.word.word_select(k, 8)))
        return m
