"""The receiver of a link: what a garbled line must not do."""

from __future__ import annotations

from dataclasses import replace

from celosia.arch.config import PRESETS
from celosia.arch.ici import FrameFlag, LineWord, LinkFrame, WordKind, line_words
from celosia_hw.ici.receiver import FrameReceiver
from hw.simulation import World

CHIP = replace(PRESETS["nano"], ports=1, link_frames=2)


def test_a_head_that_is_garbled_overwrites_nothing_where_the_buffer_is_full():
    """Such as that of a frame which comes again, with a bit of its number turned."""
    words = [range(8), range(100, 108)]
    line = [word for number, each in enumerate(words) for word in line_words(
        LinkFrame(number, 0, 0, FrameFlag.DATA, tuple(each)), CHIP.link_bytes)]
    forged = LinkFrame(2, 0, 0, FrameFlag.DATA, tuple([0xBAD] * 8))
    line += [*list(line_words(forged, CHIP.link_bytes))[:-1], LineWord(WordKind.END, 0)]
    dut, found = FrameReceiver(CHIP), []

    async def bench(ctx):
        for kind, word in line:
            ctx.set(dut.line, {"kind": kind, "data": word})
            await ctx.tick()
        ctx.set(dut.line.kind, WordKind.IDLE)
        ctx.set(dut.o.ready, 1)
        for _ in range(40):
            _, _, valid, word = await ctx.tick().sample(dut.o.valid, dut.o.payload)
            if valid:
                found.append(word)

    World(dut).run(bench)
    assert found == [word for each in words for word in each]
