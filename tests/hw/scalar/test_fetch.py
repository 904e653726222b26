"""Instruction fetch by itself: what it finds, how many bursts are open, errors and restarts."""

import functools
import random
from collections import deque
from dataclasses import dataclass, field

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.isa import INSTRUCTION_BYTES
from celosia_hw.bus.axi import OKAY, SLVERR
from celosia_hw.scalar.counter import PLACES
from celosia_hw.scalar.encoding import BLOCK
from celosia_hw.scalar.fetch import InstructionFetch
from hw.simulation import World

CONFIG = TpuConfig("tiny", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=32,
                   window=4, ibuf=16)
PROGRAM, LENGTH = 0x1000, 200
BLOCKS = CONFIG.ibuf // BLOCK


def word_of(pc):
    """The words of an instruction: its index in each."""
    return sum((pc << 16 | pc) << 32 * k for k in range(INSTRUCTION_BYTES // 4))


@functools.cache
def world() -> World:
    """The unit, made once."""
    return World(InstructionFetch(CONFIG))


@dataclass
class Bench:
    """A fetch unit, and a memory that takes any number of bursts.

    The first beat of a burst comes ``latency`` cycles after it; ``bad`` holds the numbers of blocks
    that answer with an error.
    """

    latency: int
    bad: set[int] = field(default_factory=set)
    #: Blocks that were asked for, in order; the most bursts that were open at once.
    bursts: list[int] = field(default_factory=list)
    most_open: int = 0

    def run(self, body):
        """Run ``body(fetch)`` with a function that returns whether an instruction was found."""
        dut = world().component

        async def memory(ctx):
            queue, now, beats = deque(), 0, 0
            ctx.set(dut.axi.ar.ready, 1)
            while True:
                offered = bool(queue) and queue[0][0] <= now
                ctx.set(dut.axi.r.valid, offered)
                if offered:
                    block = queue[0][1]
                    ctx.set(dut.axi.r.payload, {
                        "data": word_of(BLOCK * block + beats), "last": beats == BLOCK - 1,
                        "resp": SLVERR if block in self.bad else OKAY, "id": 1})
                _, _, valid, payload = await ctx.tick().sample(
                    dut.axi.ar.valid, dut.axi.ar.payload)
                now += 1
                if offered:
                    beats = (beats + 1) % BLOCK
                    if beats == 0:
                        queue.popleft()
                if valid:
                    block = (payload.addr - PROGRAM) // (BLOCK * INSTRUCTION_BYTES)
                    assert payload.len + 1 == BLOCK
                    self.bursts.append(block)
                    queue.append((now + self.latency, block))
                    self.most_open = max(self.most_open, len(queue))

        async def bench(ctx):
            ctx.set(dut.run, 1)
            ctx.set(dut.program, PROGRAM)
            ctx.set(dut.length, LENGTH)
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)

            async def fetch(pc, patience=20 * self.latency + 200):
                """True: found, False: it cannot be fetched; None: still on its way."""
                # At one of the places; the others hold what is not meant.
                meant = pc % PLACES
                for place in range(PLACES):
                    ctx.set(dut.pcs[place], pc if place == meant else pc + 5 * place + 1)
                ctx.set(dut.which, 1 << meant)
                ctx.set(dut.look, 1)
                found = None
                for _ in range(patience):
                    await ctx.tick()
                    if ctx.get(dut.hit):
                        assert ctx.get(dut.word.as_value()) == word_of(pc), pc
                        found = True
                    elif ctx.get(dut.failed):
                        found = False
                    if found is not None:
                        break
                ctx.set(dut.look, 0)
                return found

            await body(fetch)

        world().run(bench, memory)


@pytest.mark.parametrize("latency", [1, 7, 60])
def test_straight_code_is_fetched_once(latency):
    bench = Bench(latency)

    async def body(fetch):
        for pc in range(LENGTH):
            assert await fetch(pc), pc

    bench.run(body)
    assert bench.bursts == list(range(LENGTH // BLOCK))
    assert bench.most_open <= BLOCKS


@pytest.mark.parametrize("latency", [1, 100])
def test_jumps_faster_than_the_memory(latency):
    """Bursts that nobody wants any more are counted, and no more are open than can be counted."""
    bench = Bench(latency)

    async def body(fetch):
        rng = random.Random(latency)
        for _ in range(12):
            for _ in range(40):  # away again before anything has arrived
                await fetch(rng.randrange(LENGTH), rng.choice((2, 4, 9)))
            pc = rng.randrange(LENGTH)
            assert await fetch(pc), pc

    bench.run(body)
    assert bench.most_open <= 2 * BLOCKS
    assert bench.most_open == 2 * BLOCKS or latency == 1


@pytest.mark.parametrize("latency", [1, 2, 5, 40])
def test_an_error_that_is_not_reached_does_no_harm(latency):
    """A branch leaves before it, or jumps over it, with more bad and good blocks on their way."""
    bench = Bench(latency, bad={2, 3, 20})

    async def body(fetch):
        for wait in range(0, 60, 3):
            assert await fetch(0)
            await fetch(BLOCK, patience=wait + 1)
            for pc in (25 * BLOCK, 26 * BLOCK, 4 * BLOCK, BLOCK):
                assert await fetch(pc), (wait, pc)

    bench.run(body)


@pytest.mark.parametrize("latency", [1, 5, 40])
def test_random_jumps_find_what_is_there_and_no_more(latency):
    rng = random.Random(latency)
    bench = Bench(latency, bad=set(rng.sample(range(LENGTH // BLOCK), 12)))

    async def body(fetch):
        pc = 0
        for _ in range(300):
            pc = (pc + rng.choice((1, 1, 1, 2, BLOCK, 2 * BLOCK, -1, -BLOCK,
                                   rng.randrange(LENGTH)))) % LENGTH
            found = await fetch(pc, rng.choice((1, 3, 20 * latency + 200)))
            assert found in (None, pc // BLOCK not in bench.bad), pc

    bench.run(body)
