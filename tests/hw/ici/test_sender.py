"""The sender of a link: which frames it puts on the line and when, and what it says it has sent."""

import functools
from dataclasses import replace
from typing import NamedTuple

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.ici import HEAD_FIELDS, SHORT_FRAMES, FrameFlag, LineWord, WordKind, frames
from celosia_hw.ici import sender
from celosia_hw.ici.sender import FrameSender
from hw.simulation import World

CONFIG = TpuConfig("linked", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4,
                   ports=2, link_frames=4)
#: Cycles between two HEADs, and after which frames are sent again, here.
BEAT, RESEND = 64, 256


@functools.cache
def world(config=CONFIG):
    """The sender, made once."""
    before = sender.BEAT_CYCLES, sender.RESEND_CYCLES
    sender.BEAT_CYCLES, sender.RESEND_CYCLES = BEAT, RESEND
    try:
        return World(FrameSender(config))
    finally:
        sender.BEAT_CYCLES, sender.RESEND_CYCLES = before


class Sent(NamedTuple):
    """What a sender did, by cycle."""

    line: list[LineWord]
    taken: list[int]
    sent: list[int]
    resent: list[int]

    @property
    def drawn(self):
        """A character a cycle: HEAD, data, END."""
        return "".join(".HDE"[word.kind] for word in self.line)

    @property
    def heads(self):
        """Number and flags of each HEAD, with its cycle."""
        return [(cycle, word.word & 0xFF, word.word >> HEAD_FIELDS["flags"])
                for cycle, word in enumerate(self.line) if word.kind == WordKind.HEAD]

    @property
    def frames(self):
        return [(frame.sequence, frame.words) for frame in frames(self.line, 4)
                if frame.flags & FrameFlag.DATA]


def send(words, cycles, *, config=CONFIG, hears=None, told=None) -> Sent:
    """Return what a sender does that is offered words, each with the cycle from which it is there.

    ``hears`` and ``told`` are by cycle: expected, freed, again; due, again.
    """
    dut, found = world(config).component, Sent([], [], [], [])
    hears, told = hears or {}, told or {}

    async def process(ctx):
        waiting = list(words)
        for cycle in range(cycles):
            there = bool(waiting) and waiting[0][0] <= cycle
            ctx.set(dut.i.valid, there)
            if there:
                ctx.set(dut.i.payload, dict(zip(("data", "last", "size"), waiting[0][1:],
                                                strict=True)))
            expected, freed, again = hears.get(cycle, (0, 0, 0))
            ctx.set(dut.heard, {"valid": cycle in hears, "expected": expected, "freed": freed,
                                "again": again})
            due, again = told.get(cycle, (0, 0))
            ctx.set(dut.told, {"expected": 0x5A, "freed": 0xA5, "due": due, "again": again})
            _, _, ready, kind, word, sent, resent = await ctx.tick().sample(
                dut.i.ready, dut.line.kind, dut.line.data, dut.sent, dut.resent)
            if there and ready:
                found.taken.append(cycle)
                waiting.pop(0)
            found.line.append(LineWord(WordKind(kind), word if kind else 0))
            if sent:
                found.sent.append(cycle)
            if sent and resent:
                found.resent.append(cycle)

    world(config).run(process)
    return found


def message(words, at=0, size=3):
    return [(at, word, number == len(words) - 1, size) for number, word in enumerate(words)]


def row(text, *parts):
    """Return a line: parts, each from a cycle on, and nothing between them."""
    for at, part in parts:
        text = text.ljust(at, ".") + part
    return text


def test_a_head_comes_at_once_and_then_at_times():
    found = send([], 200)
    assert found.drawn == row("..HE", (67, "HE"), (132, "HE"), (197, "HE."))
    assert {word.word for word in found.line if word.kind == WordKind.HEAD} == {0xA5_5A_00}
    assert found.sent == []


def test_what_is_to_be_told_is_told_at_once_and_asked_for_once():
    found = send([], 100, told={20: (1, 0), 30: (0, 1), 31: (0, 1), 50: (1, 1), 52: (1, 0)})
    assert found.heads == [(2, 0, 0), (23, 0, 0), (33, 0, 2), (35, 0, 2), (53, 0, 2), (55, 0, 0)]
    # Or with the frame that is sent anyway.
    found = send(message([1, 2], 20), 60, told={20: (1, 1)})
    assert found.heads == [(2, 0, 0), (23, 0, 3)]


def test_a_frame_begins_with_its_first_word_and_ends_with_its_message():
    found = send(message([1, 2, 3], 20), 60)
    assert found.drawn == row("..HE", (23, "HDDD.E"), (60, ""))
    assert (found.taken, found.sent, found.resent) == ([20, 21, 22], [21], [])
    # Words that come late keep it open, those of the next message too if they are in time.
    late = [(20, 1, 0, 3), (25, 2, 0, 3), (31, 3, 1, 3), (32, 4, 1, 3)]
    assert send(late, 60).drawn == row("..HE", (23, "HD...D.....DD.E"), (60, ""))
    found = send([*message([1], 20), *message([2], 24), *message([3], 25)], 60)
    assert found.drawn == row("..HE", (23, "HD.EHDD.E"), (60, ""))
    assert found.frames == [(0, (1,)), (1, (2, 3))]


@pytest.mark.parametrize("size", range(len(SHORT_FRAMES) + 1))
def test_a_frame_is_full_after_so_many_words(size):
    most = [*SHORT_FRAMES.values(), 128][size]
    words = list(range(1, 2 * most + 4))
    found = send(message(words, 20, size), 2 * most + 60)
    assert found.frames == [(0, tuple(words[:most])), (1, tuple(words[most:2 * most])),
                            (2, tuple(words[2 * most:]))]
    assert found.drawn.startswith(row("..HE", (23, "H" + "D" * most + "EH" + "D" * most + "EH")))


def test_frames_wait_for_a_place_here_and_for_room_there():
    """Four of them are kept; of three there is room."""
    three = replace(CONFIG, link_frames=3)
    words = message(list(range(50)), 0, 0)  # nine in a frame
    found = send(words, 200, config=three)
    assert found.taken == [*range(36)]
    assert found.sent == [2, 13, 24]
    found = send(words, 240, config=three, hears={
        100: (1, 0, 0), 120: (1, 1, 0), 140: (3, 1, 0), 160: (3, 2, 0), 180: (5, 5, 0)})
    assert found.taken == [*range(36), *range(101, 110), *range(141, 146)]
    assert found.sent == [2, 13, 24, 121, 161, 181]
    assert [word for _, words in found.frames for word in words] == [*range(50)]


def test_frames_that_have_not_arrived_are_sent_again():
    one = message([1, 2, 3], 20)
    found = send(one, 900)
    assert found.resent == [284, 547, 810]
    assert found.sent == [21, *found.resent]
    assert found.frames == [(0, (1, 2, 3))] * 4
    assert "HDDDE" in found.drawn[280:300]
    # Not that which has.
    assert send(one, 900, hears={100: (1, 0, 0)}).sent == [21]
    # News of others begins the time anew.
    two = [*one, *message([4], 40)]
    assert send(two, 400, hears={100: (1, 0, 0)}).resent == [100 + RESEND + 2]
    assert send(two, 400, hears={100: (0, 0, 0)}).resent == send(two, 400).resent
    # Whatever is asked for again comes at once, from the first that has not arrived.
    found = send(two, 150, hears={60: (0, 0, 1), 80: (1, 1, 1)})
    assert found.drawn == row("..HE", (23, "HDDD.E"), (43, "HD.E"), (64, "HDDDEHDE"),
                              (84, "HDE"), (149, "H"))
    assert (found.sent, found.resent) == ([21, 41, 62, 67, 82], [62, 67, 82])


def test_what_arrives_while_it_is_sent_again_is_not_sent_once_more():
    two = [*message(list(range(40)), 20), *message([4], 80)]
    # The second one is on its way again when both have arrived.
    found = send(two, 220, hears={100: (0, 0, 1), 110: (2, 0, 0)})
    assert found.resent == [102]
    assert found.sent[-1] == 102
