"""The unit that sends messages: its words, their cycles, and what it says of itself."""

import functools
import random
from typing import NamedTuple

import pytest
from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.ici import SHORT_FRAMES, message_head
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.registers import Activity
from celosia_hw.commands import LINK_DOWN_BIT
from celosia_hw.dma.align import stored_unit_layout
from celosia_hw.dma.rows import stored_layout
from celosia_hw.ici import transmit
from celosia_hw.ici.transmit import MessageSender
from celosia_hw.memory.ports import READ_LATENCY
from hw.keeper import Keeper
from hw.simulation import World

CONFIG = TpuConfig("linked", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4,
                   ports=2)
#: Lanes of the unified buffer and of the accumulators.
ROWS = {Mem.UB: [[7 * row + lane & 0xFF for lane in range(4)] for row in range(64)],
        Mem.ACC: [[(row * 0x01020408 + lane * 0x10000001) & 0xFFFFFFFF for lane in range(4)]
                  for row in range(64)]}


class Send(NamedTuple):
    """A command."""

    mem: Mem
    fmt: DmaFormat
    tag: int
    n0: int
    n1: int = 1
    row: int = 0

    def words(self) -> list[int]:
        """Return the words of its message; rows follow one another."""
        words = list(message_head(self.tag, self.fmt, self.n0 * self.n1))
        for row in range(self.row, self.row + self.n0 * self.n1):
            lanes = ROWS[self.mem][row]
            words += ([sum(lane << 8 * k for k, lane in enumerate(lanes))]
                      if self.fmt == DmaFormat.I8 else lanes)
        return words


class Cycle(NamedTuple):
    """What was to be seen in a cycle."""

    taken: bool
    word: int | None  # that is offered
    sent: bool
    last: bool
    size: int
    done: bool
    error: bool
    detail: int
    working: bool
    tag: int
    activity: Activity
    reads: int  # rows that were read until then


@functools.cache
def world():
    """The unit, made once."""
    return World(MessageSender(CONFIG, 5))


def send(commands, cycles, *, take=lambda cycle: True, grant=lambda cycle: True,
         up=lambda cycle: True, down=lambda cycle: False, where=None):
    """Return the cycles of a unit that is given commands without a pause."""
    where = where or world()
    dut, found, reads = where.component, [], []

    def memory(mem, port):
        bits = 8 if mem == Mem.UB else 32

        async def serve(ctx):
            pipeline, cycle = [0] * (READ_LATENCY - 1), 0
            keeper = Keeper(port, lambda: not grant(cycle))
            ctx.set(port.ready, 1)
            while True:
                *_, valid, ready, row = await ctx.tick().sample(port.valid, port.ready, port.addr)
                row = keeper.answer(ctx, row if valid and ready else None)
                if row is not None:
                    reads.append(row)
                pipeline.append(0 if row is None else sum(
                    lane << bits * k for k, lane in enumerate(ROWS[mem][row])))
                ctx.set(port.data, pipeline.pop(0))
                cycle += 1
        return serve

    async def process(ctx):
        waiting = list(commands)
        for cycle in range(cycles):
            ctx.set(dut.up, up(cycle))
            ctx.set(dut.down, down(cycle))
            ctx.set(dut.o.ready, take(cycle))
            ctx.set(dut.port.command.valid, bool(waiting))
            if waiting:
                mem, fmt, tag, n0, n1, row = waiting[0]
                ctx.set(dut.port.command.payload, {"mem": mem, "fmt": fmt, "tag": tag, "n0": n0,
                                                   "n1": n1, "row": row, "linear": 1})
            _, _, ready, valid, word, *rest, activity = await ctx.tick().sample(
                dut.port.command.ready, dut.o.valid, dut.o.payload.data, dut.o.payload.last,
                dut.o.payload.size, dut.port.done, dut.port.error, dut.port.detail, dut.working,
                dut.tag, dut.port.activity)
            taken = bool(waiting and ready)
            found.append(Cycle(taken, word if valid else None, bool(valid and take(cycle)), *rest,
                               Activity(activity), len(reads)))
            if taken:
                waiting.pop(0)

    where.run(process, *(memory(mem, port) for mem, port in (
        (Mem.UB, dut.ub), (Mem.ACC, dut.acc))))
    return found


def sent(cycles):
    return [(cycle.word, cycle.last) for cycle in cycles if cycle.sent]


def message(command):
    words = command.words()
    return [(word, number == len(words) - 1) for number, word in enumerate(words)]


#: Messages of all that there is, and of one row.
MIXED = [Send(Mem.UB, DmaFormat.I8, 3, 5), Send(Mem.ACC, DmaFormat.W32, 0xFFF, 1, row=9),
         Send(Mem.ACC, DmaFormat.W32, 4, 2, 3, row=17), Send(Mem.UB, DmaFormat.I8, 0x800, 1),
         Send(Mem.UB, DmaFormat.I8, 6, 4, 2, row=50)]


def drawn(cycles, words="hr"):
    """Return a character a cycle: words that messages begin with, those of rows."""
    text, begins = "", True
    for cycle in cycles:
        text += words[not begins] if cycle.sent else "."
        begins = cycle.last if cycle.sent else begins
    return text


def ends(cycles):
    """Return the cycles in which a command ended, each with whether that was an error."""
    return [(number, bool(cycle.error)) for number, cycle in enumerate(cycles) if cycle.done]


def test_a_word_goes_in_each_cycle_and_messages_follow_each_other():
    found = send(MIXED, 70)
    assert sent(found) == [pair for command in MIXED for pair in message(command)]
    # Rows come 5 cycles after the first word, or 3 where they were read beforehand.
    assert drawn(found).rstrip(".") == (
        "..h....rrrrrhrrrrh.." + 24 * "r" + "hr.h...." + 8 * "r")
    assert ends(found) == [(number + 1, False) for number, cycle in enumerate(found)
                           if cycle.sent and cycle.last]
    # Long messages leave no cycle unused.
    longer = send([Send(Mem.ACC, DmaFormat.W32, 1, 6)] * 3, 85)
    assert drawn(longer) == "..h....rrr" + ("r" * 21 + "h" + "rrr") * 2 + 21 * "r" + "." * 4


@pytest.mark.parametrize("rates", [(.2, 1), (.5, .3), (1, .2), (.8, .8)])
def test_nothing_is_lost_or_doubled_where_words_and_rows_are_refused(rates):
    rng = random.Random(1)
    takes, grants = ([rng.random() < often for _ in range(500)] for often in rates)
    found = send(MIXED, 400, take=takes.__getitem__, grant=grants.__getitem__)
    assert sent(found) == [pair for command in MIXED for pair in message(command)]
    # A word that was offered stays until it is taken.
    for before, after in zip(found, found[1:], strict=False):
        if before.word is not None and not before.sent:
            assert (after.word, after.last, after.size) == (before.word, before.last, before.size)
    assert ends(found) == [(number + 1, False) for number, cycle in enumerate(found)
                           if cycle.sent and cycle.last]


def test_of_a_long_message_the_upper_bits_of_its_rows_are_a_second_word():
    for n0, n1 in ((0x4000, 0x1041), (0x8000, 2), (0xFFFF, 0xFFFF)):
        first, second = message_head(9, DmaFormat.W32, n0 * n1)
        found = send([Send(Mem.ACC, DmaFormat.W32, 9, n0, n1)], 12)
        assert [word for word, _ in sent(found)[:6]] == [first, second, *ROWS[Mem.ACC][0]]
    assert message_head(9, DmaFormat.I8, 0xFFFF) == (9 | 0xFFFF0000,)
    found = send([Send(Mem.UB, DmaFormat.I8, 9, 0xFFFF)], 8)
    assert [word for word, _ in sent(found)[:2]] == [9 | 0xFFFF0000, 0x03020100]


class Short(wiring.Component):
    """A packer that ends every message with its first word."""

    def __init__(self, config):
        super().__init__({"i": In(stream.Signature(stored_layout(config))),
                          "o": Out(stream.Signature(stored_unit_layout(config)))})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [self.i.ready.eq(1), self.o.valid.eq(1), self.o.payload.last.eq(1)]
        return m


def test_of_a_long_message_nothing_is_left_when_the_next_one_begins(monkeypatch):
    monkeypatch.setattr(transmit, "Packer", Short)
    short = World(MessageSender(CONFIG, 5))
    found = send([Send(Mem.ACC, DmaFormat.W32, tag, 0x4000, 0x1041) for tag in (1, 2)], 20,
                 where=short)
    heads = [message_head(tag, DmaFormat.W32, 0x4000 * 0x1041) for tag in (1, 2)]
    assert [word for word, _ in sent(found)][:6] == [*heads[0], 0, *heads[1], 0]


@pytest.mark.parametrize(("fmt", "words"), [(DmaFormat.I8, 1), (DmaFormat.W32, 4)])
def test_frames_are_larger_from_so_many_words_on(fmt, words):
    for number, most in enumerate(SHORT_FRAMES):
        enough = -(-most // words)
        for rows in (enough - 1, enough, enough + 1):
            # The same for every word, also while the next command is there.
            commands = [Send(Mem.ACC, fmt, 1, rows), Send(Mem.ACC, fmt, 1, 1 if number else 200)]
            end = 3 + 1 + rows * words
            found = send(commands, end)
            assert {cycle.size for cycle in found if cycle.sent} == {number + (rows >= enough)}


def test_a_message_is_under_way_from_its_command_to_its_last_word_and_has_its_tag():
    commands = [Send(Mem.ACC, DmaFormat.W32, 0x123, 2), Send(Mem.UB, DmaFormat.I8, 0x456, 2)]
    found = send(commands, 30, take=lambda cycle: cycle % 2)
    tags = [command.tag for command in commands for _ in command.words()]
    for number, cycle in enumerate(found):
        left = [each for each in found[number:] if each.sent]
        begun = any(each.taken for each in found[:number])
        assert cycle.working == (begun and bool(left))
        if cycle.working:
            assert cycle.tag == tags[-len(left)]
    assert found[-1].activity == Activity.IDLE


def test_a_message_waits_until_the_link_is_up():
    found = send(MIXED[:1], 30, up=lambda cycle: cycle >= 12)
    assert [number for number, cycle in enumerate(found) if cycle.word is not None] == list(
        range(12, 12 + 6))
    assert sent(found) == message(MIXED[0])
    # Whether it is up matters only there: a message that has begun goes on.
    found = send(MIXED[:1], 30, up=lambda cycle: cycle == 12)
    assert sent(found) == message(MIXED[0])


@pytest.mark.parametrize("when", [0, 1, 2, 3, 5, 7, 10, 11, 12, 13])
def test_where_the_link_goes_down_the_command_ends_with_an_error_once(when):
    up = send(MIXED[:2], 40)
    found = send(MIXED[:2], 40, down=lambda cycle: cycle >= when)
    # There is a command from cycle 1 on. That whose last word leaves as the link goes down, in
    # cycle 11, was sent; the next one is not.
    fails = max(when, 1) + (when == 11)
    assert ends(found) == [each for each in ends(up) if each[0] <= fails] + [(fails + 1, True)]
    assert {cycle.detail for cycle in found if cycle.done} == {5 | 1 << LINK_DOWN_BIT}
    # What was sent until then has been sent, and nothing is offered from then on.
    assert sent(found) == sent(up[:fails + 1])
    assert all(cycle.word is None for cycle in found[fails + 1:])


def test_no_row_is_read_for_a_link_that_is_down():
    found = send([Send(Mem.UB, DmaFormat.I8, 1, 60)], 80, down=lambda cycle: cycle > 20)
    # Nor is more than that of a row asked for which the queue has no room for.
    assert found[-1].reads == found[40].reads < 40


def test_a_link_that_is_down_is_no_error_of_nobody():
    assert not any(cycle.done for cycle in send([], 20, down=lambda cycle: True))


def test_what_it_did_is_told_a_cycle_later():
    """Idle, busy, waiting for dependencies (never), for its memory, for the link, for rows."""
    one = Send(Mem.ACC, DmaFormat.W32, 1, 2)

    def told(*more, **options):
        return "".join("_BDMLR"[cycle.activity] for cycle in send([one, *more], 24, **options))

    assert told() == "__RBRRRRBBBBBBBB________"
    assert told(one) == "__RBRRRRBBBBBBBBBBBBBBBB"
    assert told(grant=lambda cycle: cycle > 9) == "__RBMMMMMMMMRRRRBBBBBBBB"
    assert told(take=lambda cycle: cycle > 12) == "__RLLLLLLLLLLLBBBBBBBBB_"
    assert told(take=lambda cycle: cycle < 9 or cycle > 12) == "__RBRRRRBBLLLLBBBBBB____"
    assert told(up=lambda cycle: cycle > 4) == "__RLLLBRBBBBBBBB________"
