# amaranth: UnusedElaboratable=no
"""The line buffer on a memory behind AXI: words in any order, as the sequencer asks for them."""

import random
from dataclasses import replace

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from celosia.arch.config import preset
from celosia_hw.soc.compact.line_buffer import LINE_WORDS, LineBuffer
from celosia_hw.soc.on_chip_memory import OnChipMemory
from hw.engine import Simulator

SIZE = 4096


class Bench(wiring.Component):
    """A line buffer with its memory."""

    def __init__(self):
        super().__init__({})
        self.line = LineBuffer(SIZE)
        self.memory = OnChipMemory(replace(preset("nano"), bus_bytes=4), SIZE)

    def elaborate(self, platform):
        m = Module()
        m.submodules.line, m.submodules.memory = self.line, self.memory
        wiring.connect(m, self.line.memory_read, self.memory.read)
        wiring.connect(m, self.line.memory_write, self.memory.write)
        return m

    def run(self, process) -> None:
        sim = Simulator(self)
        sim.add_clock(1e-6)
        sim.add_testbench(process)
        sim.run()


async def access(ctx, dut, addr: int, strobes: int = 0, data: int = 0) -> tuple[int, int]:
    """Read or write a word; return what came and the cycles until it was taken."""
    ctx.set(dut.addr, addr)
    ctx.set(dut.read, not strobes)
    ctx.set(dut.strobes, strobes)
    ctx.set(dut.data, data)
    cycles = 0
    while True:
        cycles += 1
        assert cycles < 100
        *_, ready = await ctx.tick().sample(dut.ready)
        if ready:
            break
    found = ctx.get(dut.found)
    ctx.set(dut.read, 0)
    ctx.set(dut.strobes, 0)
    return found, cycles


@pytest.mark.parametrize("seed", range(4))
def test_words_are_what_was_written_last(seed):
    rng = random.Random(seed)
    words: dict[int, int] = {}

    async def process(ctx):
        at = 0
        for _ in range(400):
            # Mostly near the one before, and so in the line, or in that which is coming.
            at = (at + rng.randrange(-3, 4)) % (SIZE // 4) if rng.random() < 0.8 else rng.randrange(
                SIZE // 4)
            if rng.random() < 0.5 or at not in words:
                strobes = 15 if at not in words else rng.randrange(1, 16)
                data = rng.getrandbits(32)
                mask = sum(255 << 8 * k for k in range(4) if strobes >> k & 1)
                words[at] = words.get(at, 0) & ~mask | data & mask
                await access(ctx, bench.line, at, strobes, data)
            else:
                found, _ = await access(ctx, bench.line, at)
                assert found == words[at]
            await ctx.tick().repeat(rng.choice((1, 1, 2, 3, 30)))

    bench = Bench()
    bench.run(process)


def test_cycles_are_as_documented():
    async def process(ctx):
        line = bench.line
        _, miss = await access(ctx, line, 0)
        assert miss > 2
        await ctx.tick().repeat(20)
        for word in range(LINE_WORDS):
            assert (await access(ctx, line, word))[1] == 2
        assert (await access(ctx, line, 3, 15, 7))[1] == 2
        # One is under way.
        assert (await access(ctx, line, 4, 15, 8))[1] > 2
        assert (await access(ctx, line, 3)) == (7, 2)

    bench = Bench()
    bench.run(process)


def test_a_request_may_be_withdrawn():
    async def process(ctx):
        line = bench.line
        await access(ctx, line, 5, 15, 55)
        await access(ctx, line, 100, 15, 66)
        for addr in (5, 100, 5):
            ctx.set(line.addr, addr)
            ctx.set(line.read, 1)
            await ctx.tick()
            ctx.set(line.read, 0)
            await ctx.tick().repeat(3)
        assert (await access(ctx, line, 100))[0] == 66
        assert (await access(ctx, line, 5))[0] == 55

    bench = Bench()
    bench.run(process)
