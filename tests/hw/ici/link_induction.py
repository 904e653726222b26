"""One direction of a link, in every run however long: by induction, with what else is always so.

As in `link_proof` frames are short, and a frame of which the line has garbled, lost or made up a
word has a wrong CRC. What is claimed is at the end of `LongRun._claims`; all else is there because
a state in which it were not so could be followed by anything. Numbers of frames are compared by
their distances, modulo 2**SEQUENCE_BITS.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import and_
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock

from amaranth.hdl import Array, Assert, Assume, Const, Fragment, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia.arch.ici import SEQUENCE_BITS, FrameFlag, WordKind
from celosia_hw.ici import receiver, sender
from celosia_hw.ici.crc import CRC_INIT
from celosia_hw.ici.line import head_layout, line_layout
from hw.ici.link_proof import Line, small

__all__ = ["LongRun", "seen"]

_WORDS, _WORD_BITS = 4, 3  # of a frame, as of `small`
_DATA = int(FrameFlag.DATA)
#: Frames whose lengths are kept: more than there are between the reader and the writer.
_KEPT = 8


class _SeenRam(wiring.Component):
    """`celosia_hw.memory.ram.Ram` of flip-flops that can be looked at."""

    def __init__(self, width: int, depth: int):
        bits = max(1, ceil_log2(depth))
        self.cells = [Signal(width, name=f"cell{i}") for i in range(depth)]
        super().__init__({
            "write_en": In(1), "write_addr": In(bits), "write_data": In(width),
            "read_en": In(1), "read_addr": In(bits), "read_data": Out(width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.write_en):
            m.d.sync += Array(self.cells)[self.write_addr].eq(self.write_data)
        with m.If(self.read_en):
            m.d.sync += self.read_data.eq(Array(self.cells)[self.read_addr])
        return m


class _SeenMemory(wiring.Component):
    """`amaranth.lib.memory.Memory` with one port each way, of flip-flops that can be looked at."""

    def __init__(self, *, shape: int, depth: int, init: Sequence[int]):
        self.cells = [Signal(shape, name=f"length{i}") for i in range(depth)]
        self._write = SimpleNamespace(en=Signal(), addr=Signal(range(depth)), data=Signal(shape))
        self._read = SimpleNamespace(addr=Signal(range(depth)), data=Signal(shape))
        super().__init__({})

    def write_port(self) -> SimpleNamespace:
        return self._write

    def read_port(self, *, domain: str) -> SimpleNamespace:
        assert domain == "comb"
        return self._read

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self._write.en):
            m.d.sync += Array(self.cells)[self._write.addr].eq(self._write.data)
        m.d.comb += self._read.data.eq(Array(self.cells)[self._read.addr])
        return m


@contextmanager
def seen() -> Iterator[None]:
    """As `small`, and memories can be looked at."""
    memories: dict[str, Any] = {"Ram": _SeenRam, "memory": SimpleNamespace(Memory=_SeenMemory)}
    with small(), mock.patch.multiple(sender, **memories), \
            mock.patch.multiple(receiver, **memories):
        yield


def _elaborated(part: wiring.Component, module: ModuleType) -> tuple[Fragment, dict[str, Any]]:
    """Return what a part becomes, and its signals by the names that its sources give them."""
    frames: list[FrameType] = []

    class Made:
        like = staticmethod(Signal.like)

        def __call__(self, *shape: Any, **options: Any) -> Signal:
            frame = sys._getframe(1)
            if frame not in frames:
                frames.append(frame)
            return Signal(*shape, src_loc_at=1, **options)

    with mock.patch.object(module, "Signal", Made()):
        made = Fragment.get(part, None)
    return made, {name: value for frame in reversed(frames)
                  for name, value in frame.f_locals.items()}


class _Stage(NamedTuple):
    """Where a HEAD may be: whether a right one is there, and its fields."""

    there: Value
    head: Any


def _from(a: Value, b: Value | int) -> Value:
    """Return by how many frames one is before another one."""
    return (a - b)[:SEQUENCE_BITS]


class _Way:
    """A direction: its ends, and what is on its way.

    Attributes
    ----------
    tx, rx
        Signals of the sender and the receiver.
    kinds
        Of words from the sender's choice to the receiver's judgement, the newest first.
    stages
        HEADs in the same places, and at last that of the frame which the receiver has begun.
    clean
        Nothing of the line's making is on its way, or in that frame.
    """

    def __init__(self, m: Module, ends: tuple[wiring.Component, wiring.Component], line: Line,
                 inner: tuple[dict[str, Any], dict[str, Any]]):
        self.tx, self.rx = tx, rx = inner
        out, self.line, last = ends[0].line, line, rx["line"]
        self.kinds = [tx["was"], out.kind, line.o.kind, last.kind]
        self.last_bad, self.head_bad = Signal(), Signal()
        m.d.sync += self.last_bad.eq(line.bad)
        with m.If(last.kind == WordKind.HEAD):
            m.d.sync += self.head_bad.eq(self.last_bad)
        with m.Elif(self.last_bad):
            m.d.sync += self.head_bad.eq(1)
        # Behind the line only words count that it has left alone.
        bad = [Const(0), Const(0), line.bad, self.last_bad]
        self.heads = [(kind == WordKind.HEAD) & ~each
                      for kind, each in zip(self.kinds, bad, strict=True)]
        fields = [tx["head"]]
        for word in (out, line.o, last):
            fields.append(Signal(head_layout()))
            m.d.comb += fields[-1].as_value().eq(word.data[:32])
        self.stages = [*map(_Stage, self.heads, fields), _Stage(
            (rx["inside"] | rx["ended"]) & ~self.head_bad, rx["head"])]
        self.clean = ~(line.dirty | line.bad | self.last_bad | self.head_bad)

    def always(self) -> Iterator[Value]:
        """Yield what is so of marks of what the line has made."""
        line, rx, last = self.line, self.rx, self.rx["line"]
        _, _, on_line, at_last = self.heads
        yield line.dirty | on_line | ~line.bad
        yield line.bad | on_line | ~self.last_bad
        yield self.last_bad | at_last | ~self.head_bad
        for word, bad in ((line.o, line.bad), (last, self.last_bad)):
            yield ~((word.kind == WordKind.END) & bad) | (word.data == line.garbled)
        yield ~rx["inside"] | (rx["crc"] == CRC_INIT)
        yield ~(rx["ended"] & rx["whole"]) | ~self.head_bad

    def newest(self, place: int) -> Value:
        """Whether a frame that the line has left alone so far began here, and none behind it."""
        behind = [(kind != WordKind.HEAD) & (kind != WordKind.END) for kind in self.kinds[:place]]
        alone = Const(1) if place < 2 else ~self.line.dirty
        return reduce(and_, behind, self.heads[place] & alone)

    def words(self, places: int = 4) -> Value:
        """Return how many words of data are in the first places."""
        return sum((kind == WordKind.DATA for kind in self.kinds[:places]), Const(0, 3))

    def nothing_begins(self) -> Value:
        """Whether there is neither HEAD nor END on the way, nor anything of the line's making."""
        return reduce(and_, [(kind != WordKind.HEAD) & (kind != WordKind.END)
                             for kind in self.kinds], self.clean)


class LongRun(wiring.Component):
    """Words go from one end to the other; pins are what Yosys may choose in every cycle.

    One word, that with ``watch``, is 1 where all others are 0: nothing looks at the data.
    """

    def __init__(self, config: TpuConfig):
        self.config, lines = config, line_layout(config)
        self.frames = config.link_frames
        super().__init__({
            "valid": In(1), "payload": In(sender.sent_word_layout(config)), "ready": In(1),
            "watch": In(1), "hurt": In(2), "other0": In(lines), "other1": In(lines)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        tx = [sender.FrameSender(self.config) for _ in range(2)]
        rx = [receiver.FrameReceiver(self.config) for _ in range(2)]
        lines = [Line(self.config) for _ in range(2)]
        inner = []
        for i in range(2):
            m.submodules[f"tx{i}"], sends = _elaborated(tx[i], sender)
            m.submodules[f"rx{i}"], receives = _elaborated(rx[i], receiver)
            m.submodules[f"line{i}"] = lines[i]
            inner.append((sends, receives))
            m.d.comb += [tx[i].heard.eq(rx[i].heard), tx[i].told.eq(rx[i].told),
                         lines[i].i.eq(tx[i].line), rx[1 - i].line.eq(lines[i].o),
                         lines[i].hurt.eq(self.hurt[i]),
                         lines[i].other.eq(getattr(self, f"other{i}"))]
        m.d.comb += [tx[0].i.valid.eq(self.valid), tx[0].i.payload.eq(self.payload),
                     rx[1].o.ready.eq(self.ready), rx[0].o.ready.eq(1)]
        there, back = (_Way(m, (tx[i], rx[1 - i]), lines[i], (inner[i][0], inner[1 - i][1]))
                       for i in range(2))
        self._watch(m, there)
        for claim in (*there.always(), *back.always(), *self._silent(back),
                      *self._numbers(there, back), *self._sending(there), *self._held(there),
                      *self._claims(m, there)):
            m.d.comb += Assert(claim)
        return m

    def _watch(self, m: Module, way: _Way) -> None:
        """Note where the watched word is, and how long frames are."""
        tx = way.tx
        self.place, self.at = Signal(SEQUENCE_BITS), Signal(_WORD_BITS)
        self.known, used = Signal(), Signal()
        self.lengths = Array(Signal(_WORD_BITS, name=f"kept{i}") for i in range(_KEPT))
        put, count, freed = tx["put"], tx["count"], tx["freed"]
        with m.If(self.known & (_from(self.place, freed) > _from(put, freed))):
            m.d.sync += self.known.eq(0)  # it is nowhere any more
        with m.If(tx["taken"]):
            m.d.comb += Assume(self.payload.data == (self.watch & ~used))
            with m.If(self.watch & ~used):
                m.d.sync += [self.place.eq(put), self.at.eq(count), self.known.eq(1), used.eq(1)]
        with m.If(tx["ends"]):
            m.d.sync += self.lengths[put[:ceil_log2(_KEPT)]].eq(count + tx["taken"])
        self.used = used

    def _length(self, frame: Value) -> Value:
        return self.lengths[frame[:ceil_log2(_KEPT)]]

    def _word(self, frame: Value, at: Value | int) -> Value:
        """Return the word that was given there."""
        return self.known & (self.place == frame) & (self.at == at)

    def _silent(self, back: _Way) -> Iterator[Value]:
        """Yield what is so because the other end has nothing to send."""
        for name in ("put", "count", "newest", "send", "arrived", "freed"):
            yield back.tx[name] == 0
        yield (back.tx["state"] == 0) | (back.tx["state"] == 2)
        yield (back.rx["expected"] == 0) & (back.rx["freed"] == 0)
        for there, head in back.stages:
            yield ~there | (((head.flags & _DATA) == 0) & (head.sequence == 0))

    def _numbers(self, way: _Way, back: _Way) -> Iterator[Value]:
        """Yield what is so of numbers of frames, at both ends and on their ways."""
        tx, rx, most = way.tx, way.rx, self.frames
        arrived, freed, put, newest = (tx[name] for name in ("arrived", "freed", "put", "newest"))
        expected = rx["expected"]

        def of(number: Value) -> Value:
            return _from(number, freed)

        yield _from(put, arrived) <= most
        yield _from(newest, arrived) <= _from(put, arrived)
        yield _from(expected, arrived) <= _from(newest, arrived)
        yield (of(arrived) <= of(expected)) & (of(expected) <= of(newest)) & (of(newest) <= most)
        yield of(rx["freed"]) <= of(expected)
        # What is told does not go back: the newest stage is the first.
        for place, (there, head) in enumerate(back.stages):
            yield ~there | ((of(arrived) <= of(head.expected))
                            & (of(head.expected) <= of(expected))
                            & (of(head.freed) <= of(rx["freed"]))
                            & (of(head.freed) <= of(head.expected)))
            for earlier, newer in back.stages[:place]:
                yield ~(there & earlier) | ((of(head.expected) <= of(newer.expected))
                                            & (of(head.freed) <= of(newer.freed)))
        busy = (tx["state"] != 0) & tx["with_data"]
        for place, (there, head) in enumerate(way.stages):
            number, data = head.sequence, there & ((head.flags & _DATA) != 0)
            yield ~there | ((head.expected == 0) & (head.freed == 0))
            yield ~data | (_from(number + most, expected) < 2 * most)
            yield ~data | (_from(freed + most - 1, number) < 4 * most)
            yield ~data | (_from(newest - 1, number) < 2 * most + 2) | (
                busy & (number == tx["send"]))
            for earlier, newer in way.stages[:place]:
                yield ~(data & earlier & ((newer.flags & _DATA) != 0)) | (
                    _from(newer.sequence + most - 1, number) < 2 * most + 2)

    def _sending(self, way: _Way) -> Iterator[Value]:
        """Yield what is so of the frame that is sent now."""
        tx, rx, most = way.tx, way.rx, self.frames
        arrived, put, send, count, state, word = (tx[name] for name in (
            "arrived", "put", "send", "count", "state", "word"))
        busy = (state != 0) & tx["with_data"]
        fresh = busy & (_from(send, arrived) <= most)  # it is there still
        yield state != 3
        yield _from(tx["newest"], send) <= 2 * most
        yield (state != 1) | tx["with_data"]
        yield (state != 1) | (send != put) | (count != 0)
        yield (state != 2) | ~tx["with_data"] | (send != put)
        yield (count == 0) | (_from(put, arrived) < most)
        yield count < _WORDS
        yield ~busy | (_from(tx["freed"] + most - 1, send) < 2 * most + 2)
        yield ~(busy & (send == put)) | (word <= count)
        yield ~(fresh & (send != put)) | (word <= self._length(send))
        yield ~(fresh & (state == 2)) | (word == self._length(send))
        for place in range(4):
            begins, head = way.newest(place), way.stages[place].head
            same = (head.sequence == send) & (((head.flags & _DATA) != 0) == tx["with_data"])
            yield ~begins | ((state != 0) & same)
            yield ~(begins & fresh) | (way.words(place) == word)
        calm, head = way.nothing_begins(), rx["head"]
        yield ~calm | (rx["inside"] == (state != 0))
        yield ~(calm & (state != 0)) | (
            (head.sequence == send) & (((head.flags & _DATA) != 0) == tx["with_data"]))
        yield ~(calm & fresh) | (rx["count"] + way.words() == word)

    def _held(self, way: _Way) -> Iterator[Value]:
        """Yield what is so of the words and lengths that both ends keep."""
        tx, rx, most = way.tx, way.rx, self.frames
        arrived, freed, put, count = (tx[name] for name in ("arrived", "freed", "put", "count"))
        expected, left, head = rx["expected"], rx["freed"], rx["head"]
        yield ~self.known | self.used
        yield ~self.known | (_from(self.place, freed) <= _from(put, freed)) | (
            _from(freed, self.place) <= 2 * most)
        yield ~self.known | (self.at < Mux(self.place == put, count, self._length(self.place)))
        yield _from(put, left) <= 2 * most
        comes = way.stages[-1].there & ((head.flags & _DATA) != 0) & (head.sequence == expected)
        for slot in range(most):
            given = tx["words"].cells[_WORDS * slot:_WORDS * (slot + 1)]
            taken = rx["words"].cells[_WORDS * slot:_WORDS * (slot + 1)]
            for number in range(most + 1):
                frame = (arrived + number)[:SEQUENCE_BITS]
                here = (frame[0] == slot) & (number <= _from(put, arrived))
                yield from self._kept(here & (frame != put), frame, tx["lengths"].cells[slot])
                length = Mux(frame == put, count, self._length(frame))
                for at, cell in enumerate(given):
                    yield ~(here & (at < length)) | (cell == self._word(frame, at))
                frame = (left + number)[:SEQUENCE_BITS]
                here = (frame[0] == slot) & (number < _from(expected, left))
                yield from self._kept(here, frame, rx["lengths"].cells[slot])
                for at, cell in enumerate(taken):
                    yield ~(here & (at < self._length(frame))) | (cell == self._word(frame, at))
            for at, cell in enumerate(taken):
                yield ~(comes & (expected[0] == slot) & (at < rx["count"])) | (
                    cell == self._word(expected, at))
        yield Mux(left == expected, rx["word"] == 0, rx["word"] < self._length(left))

    def _kept(self, here: Value, frame: Value, length: Value) -> Iterator[Value]:
        yield ~here | (length == self._length(frame))
        yield ~here | ((length != 0) & (length <= _WORDS))

    def _claims(self, m: Module, way: _Way) -> Iterator[Value]:
        """Yield what is to be shown."""
        tx, rx, most = way.tx, way.rx, self.frames
        expected, left, head = rx["expected"], rx["freed"], rx["head"]
        accepts = rx["ended"] & rx["whole"] & ((head.flags & _DATA) != 0) & (
            head.sequence == expected)
        # A frame begins where the receiver has room for it: what it has freed may be more.
        yield ~tx["begin"] | (tx["state"] != 0) | tx["back"] | tx["behind"] | (
            _from(left + most - 1, tx["send"]) < 4 * most)
        # No buffer is overrun.
        yield _from(expected, left) <= most
        yield ~accepts | (_from(expected, left) < most)
        # The frame that is accepted is whole, and one that was sent.
        yield ~accepts | (rx["count"] == self._length(expected))
        yield ~accepts | (_from(tx["newest"] - 1, expected) < most)
        # Words leave the buffer as they were given, none more, none less.
        reads, wanted = Signal(), Signal()
        m.d.sync += [reads.eq(rx["read"]), wanted.eq(self._word(left, rx["word"]))]
        yield ~reads | (rx["words"].read_data == wanted)
        yield ~rx["read"] | (rx["leaves"] == (rx["word"] + 1 == self._length(left)))
