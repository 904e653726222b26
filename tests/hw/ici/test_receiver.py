"""The receiver of a link: what it takes, says and asks for, and what a garbled line must not do."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import pytest

from celosia.arch.config import PRESETS
from celosia.arch.ici import FrameFlag, LineWord, LinkFrame, WordKind, line_words
from celosia_hw.ici import receiver
from celosia_hw.ici.receiver import FrameReceiver
from hw.simulation import World

CHIP = replace(PRESETS["nano"], ports=1, link_frames=2)
IDLE = LineWord(WordKind.IDLE, 0)
#: Cycles after which a link is down, here.
QUIET = 96


class Seen(NamedTuple):
    """Cycles in which each of these was so, and words with the cycle in which each was offered."""

    got: list[int]
    garbled: list[int]
    heard: list[int]
    said: list[tuple[int, int, int]]  # what heard was: expected, freed, again
    again: list[int]
    due: list[int]
    told: tuple[int, int]  # at the end: expected, freed
    down: int | None
    words: list[tuple[int, int]]


@functools.cache
def world():
    """The receiver, made once."""
    before, receiver.QUIET_CYCLES = receiver.QUIET_CYCLES, QUIET
    try:
        return World(FrameReceiver(CHIP))
    finally:
        receiver.QUIET_CYCLES = before


def hear(*parts: Iterable[LineWord], more: int = 8, take=lambda cycle: True) -> Seen:
    """Return what a receiver does that these words come to, a word a cycle from cycle 0 on."""
    line = [word for part in parts for word in part] + [IDLE] * more
    dut, seen = world().component, Seen([], [], [], [], [], [], (0, 0), None, [])
    result = []

    async def bench(ctx):
        down, told = None, (0, 0)
        for cycle, (kind, word) in enumerate(line):
            ctx.set(dut.line, {"kind": kind, "data": word})
            ctx.set(dut.o.ready, ready := take(cycle))
            _, _, got, garbled, heard, says, again, due, *told, is_down, valid, out = (
                await ctx.tick().sample(
                    dut.got, dut.garbled, dut.heard.valid, dut.heard, dut.told.again, dut.told.due,
                    dut.told.expected, dut.told.freed, dut.down, dut.o.valid, dut.o.payload))
            for name, is_so in (("got", got), ("garbled", garbled), ("heard", heard),
                                ("again", again), ("due", due)):
                if is_so:
                    getattr(seen, name).append(cycle)
            if heard:
                seen.said.append((says.expected, says.freed, says.again))
            if is_down and down is None:
                down = cycle
            if valid and ready:
                seen.words.append((cycle, out))
        result.append(seen._replace(told=tuple(told), down=down))

    world().run(bench)
    return result[0]


def frame(number: int, *words: int, expected=0, freed=0, again=False,
          data: bool | None = None) -> list[LineWord]:
    flags = FrameFlag.AGAIN if again else FrameFlag(0)
    if bool(words) if data is None else data:
        flags |= FrameFlag.DATA
    return list(line_words(LinkFrame(number, expected, freed, flags, words), CHIP.link_bytes))


def test_a_frame_is_taken_2_cycles_after_its_end_and_offered_5_cycles_after_it():
    seen = hear(frame(0, 7, 8, 9), more=12)  # END is in cycle 4
    assert seen == Seen(got=[6], garbled=[], heard=[6], said=[(0, 0, 0)], again=[],
                        due=[7, 10], told=(1, 1), down=None, words=[(9, 7), (10, 8), (11, 9)])
    # It is free, which is to be told, when its last word has been read.
    assert hear(frame(0, 7, 8, 9), more=4).told == (1, 0)


def test_what_a_head_says_of_the_other_direction_is_heard_with_its_end():
    for expected, freed, again in ((0x5A, 0xC3, True), (0xA5, 0x3C, False)):
        said = {"expected": expected, "freed": freed, "again": again}
        seen = hear(frame(0, **said))
        assert seen._replace(told=(0, 0)) == Seen(
            [], [], [3], [(expected, freed, again)], [], [], (0, 0), None, [])
        # Of whatever number: one without data is in no order.
        assert hear(frame(9, **said)) == seen
        assert hear(frame(0, 1, **said)).said == [(expected, freed, again)]
        # Also of a frame that comes out of its turn.
        assert hear(frame(3, 1, **said)).said == [(expected, freed, again)]


def test_frames_follow_each_other_without_a_pause_and_words_may_have_one():
    words = [list(range(100 * n, 100 * n + 20)) for n in range(6)]
    seen = hear(*(frame(n, *each) for n, each in enumerate(words)), more=30)
    assert [word for _, word in seen.words] == sum(words, [])
    assert seen.got == seen.heard == [22 * n + 23 for n in range(6)]
    assert seen.told == (6, 6)
    spread = [each for word in frame(0, 1, 2, 3) for each in (word, IDLE, IDLE)]
    assert [word for _, word in hear(spread).words] == [1, 2, 3]
    # One word: it is the first and the last.
    assert hear(frame(0, 5), frame(1, 6), frame(2, 7)).told == (3, 3)


def test_numbers_go_round():
    every = [n & 0xFF for n in range(300)]
    seen = hear(*(frame(n, n) for n in every), more=12)
    assert [word for _, word in seen.words] == every
    assert not seen.again
    assert seen.told == (300 & 0xFF, 300 & 0xFF)


@pytest.mark.parametrize("bit", [0, 7, 8, 15, 16, 23, 25, 31])
def test_a_frame_with_a_bit_turned_is_not_taken_and_asked_for_once(bit):
    right = frame(0, 1, 2, 3)
    for place in range(len(right)):
        kind, word = right[place]
        wrong = [*right[:place], LineWord(kind, word ^ 1 << bit), *right[place + 1:]]
        seen = hear(wrong)
        assert (seen.got, seen.garbled, seen.heard, seen.words) == ([], [6], [], [])
        assert (seen.again, seen.told) == ([7], (0, 0))


def test_what_is_missing_is_asked_for_once_until_it_comes():
    right, last = frame(0, 1), frame(1, 2)
    # Frame 1 comes twice: it was asked for what is before it. Then all comes again.
    seen = hear(last, [IDLE] * 7, last, [IDLE] * 7, right, last, more=9)
    assert seen.again == [5]
    assert seen.garbled == []
    assert [word for _, word in seen.words] == [1, 2]
    # When something has come it is asked for anew.
    seen = hear(last, right, frame(2, 3), frame(2, 3))
    assert seen.again == [5, 11]
    # Where the one that is wanted is garbled it is asked for again, each time.
    garbled = [*right[:-1], LineWord(WordKind.END, 0)]
    assert hear(garbled, garbled, garbled).again == [5, 8, 11]
    # Not for what has come: its sender has not heard of it yet.
    seen = hear(right, right, right)
    assert (seen.again, seen.got, seen.told) == ([], [4], (1, 1))


def test_frames_are_missing_whose_numbers_are_less_than_half_of_all_ahead():
    right = frame(0, 1)
    asks = {number: bool(hear(right, frame(number, 2)).again)
            for number in (0, 1, 2, 3, 127, 128, 129, 200, 255)}
    assert [number for number, is_asked in asks.items() if is_asked] == [2, 3, 127, 128]


def test_a_frame_that_has_no_end_is_garbled_where_the_next_one_begins():
    whole = frame(0, 1, 2)
    seen = hear(whole[:2], whole)
    assert (seen.garbled, seen.again, seen.got) == ([4], [5], [7])
    assert [word for _, word in seen.words] == [1, 2]
    # Words and an END that nothing began are nothing.
    for part in (whole[1:], whole[-1:], [*whole[1:], *whole[1:]]):
        seen = hear(part)
        assert (seen.got, seen.garbled, seen.heard, seen.again) == ([], [], [], [])
    assert hear(whole[1:], whole).got == [8]


def test_data_are_where_the_head_says_so():
    for wrong in (frame(0, data=True), frame(0, 1, data=False), frame(0, 1, 2, data=False)):
        seen = hear(wrong)
        assert (seen.got, seen.heard, seen.words) == ([], [], [])
        assert len(seen.garbled) == 1


def test_a_frame_has_no_more_words_than_there_is_room_for():
    words = [random.Random(1).getrandbits(32) for _ in range(130)]
    seen = hear(frame(0, *words[:128]), more=140)
    assert [word for _, word in seen.words] == words[:128]
    for size in (129, 130):
        seen = hear(frame(0, 1, 2), frame(1, *words[:size]))
        assert (seen.told, len(seen.garbled)) == ((1, 1), 1)
        assert [word for _, word in seen.words] == [1, 2]


def test_frames_stay_until_their_words_are_taken():
    words = [[1, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 13]]
    frames = [frame(n, *each) for n, each in enumerate(words)]
    none = hear(*frames, take=lambda cycle: False, more=30)
    assert none.told == (2, 0)  # four words have left the buffer, no frame
    for often in (.3, .7):
        rng = random.Random(1)
        seen = hear(*frames, take=lambda _, rng=rng, often=often: rng.random() < often, more=90)
        assert [word for _, word in seen.words] == sum(words, [])
        assert seen.told == (2, 2)


def test_a_link_is_down_when_no_whole_frame_has_come_for_a_while():
    assert hear(more=QUIET - 1).down is None
    assert hear(more=QUIET + 2).down == QUIET
    heard = hear(frame(0), [IDLE] * (QUIET - 2), frame(0), more=QUIET - 2)
    assert heard.down is None
    # From then on, whatever comes; and a frame that is garbled is none.
    assert hear([IDLE] * QUIET, frame(0), frame(0), more=9).down == QUIET
    garbled = [*frame(0)[:-1], LineWord(WordKind.END, 1)]
    assert hear([IDLE] * 50, garbled, more=QUIET).down == QUIET
    assert hear([IDLE] * 50, frame(0), more=QUIET + 9).down == 50 + 3 + QUIET + 1


def test_a_head_that_is_garbled_overwrites_nothing_where_the_buffer_is_full():
    """Such as that of a frame which comes again, with a bit of its number turned."""
    words = [range(8), range(100, 108)]
    full = [frame(number, *each) for number, each in enumerate(words)]
    forged = [*frame(2, *[0xBAD] * 8)[:-1], LineWord(WordKind.END, 0)]
    begin = sum(map(len, [*full, forged]))
    seen = hear(*full, forged, more=40, take=lambda cycle: cycle >= begin)
    assert [word for _, word in seen.words] == [word for each in words for word in each]
