"""What a message must begin with, for the unit that receives it."""

import functools

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.ici import message_head
from celosia.arch.isa import DmaFormat
from celosia_hw.ici.receive import MessageReceiver
from hw.simulation import World

CONFIG = TpuConfig("linked", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4,
                   ports=2)
#: A command: format, tag, and rows of both dimensions; 0x4000 * 0x1040 = 0x0410_0000.
LONG, SHORT = (DmaFormat.W32, 9, 0x4000, 0x1040), (DmaFormat.I8, 77, 3, 2)


def head(fmt, tag, n0, n1):
    return message_head(tag, fmt, n0 * n1)


@functools.cache
def world():
    """The unit, made once."""
    return World(MessageReceiver(CONFIG, 0))


def taken(command, words):
    """Return how many words of a message are taken, and the error's detail where there is one."""
    dut, found = world().component, []
    fmt, tag, n0, n1 = command

    async def process(ctx):
        ctx.set(dut.port.command.payload, {"mem": 1, "fmt": fmt, "tag": tag, "linear": 1, "n0": n0,
                                           "n1": n1})
        ctx.set(dut.port.command.valid, 1)
        await ctx.tick().until(dut.port.command.ready)
        ctx.set(dut.port.command.valid, 0)
        count = 0
        for word in words:
            ctx.set(dut.i.payload, word)
            ctx.set(dut.i.valid, 1)
            for _ in range(12):
                *_, ready = await ctx.tick().sample(dut.i.ready)
                if ready:
                    count += 1
                    break
        found.append((count, ctx.get(dut.port.detail)))

    world().run(process)
    return found[0]


def test_long_messages_have_their_rows_in_two_words():
    assert [hex(word) for word in head(*LONG)] == ["0x6009", "0x410"]
    assert len(head(*SHORT)) == 1


@pytest.mark.parametrize("command", [LONG, SHORT])
def test_of_the_message_that_is_named_all_words_are_taken(command):
    words = [*head(*command), 5]
    assert taken(command, words) == (len(words), 0)


@pytest.mark.parametrize("bit", range(32))
@pytest.mark.parametrize("command", [LONG, SHORT])
def test_of_another_message_no_word_is_taken(command, bit):
    first, *rest = head(*command)
    count, detail = taken(command, [first ^ 1 << bit, *rest])
    assert (count, detail) == (0, (first ^ 1 << bit) & ~(1 << 14))


@pytest.mark.parametrize("bit", range(16))
def test_of_a_message_of_other_rows_one_word_is_taken(bit):
    first, second = head(*LONG)
    count, detail = taken(LONG, [first, second ^ 1 << bit])
    assert (count, detail) == (1, first & ~(1 << 14))
