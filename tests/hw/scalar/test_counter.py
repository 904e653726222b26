"""The program counter, stepped as the control unit does, against loops in Python."""

import itertools
import random

import pytest

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia_hw.scalar.counter import ProgramCounter
from hw.scalar.test_loops import nest, place, run_in_python
from hw.simulation import World

CONFIG = TpuConfig("counter", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4)
SMALL = TpuConfig("small", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4,
                  banks=1)


async def step(ctx, dut, **values):
    """Give these inputs for a cycle; return what was looked for in it, where the program is, and
    whether it pops a loop.
    """
    for name, value in values.items():
        ctx.set(getattr(dut, name), value)
    _, _, look, which, pc, popping, *places = await ctx.tick().sample(
        dut.look, dut.which, dut.pc, dut.popping, *dut.places)
    for name in values:
        if name not in ("end", "count", "destination"):
            ctx.set(getattr(dut, name), 0)
    assert which in (1, 2, 4)
    return places[which.bit_length() - 1] if look else None, pc, popping


@pytest.mark.parametrize("config", [CONFIG, SMALL], ids=lambda config: config.name)
@pytest.mark.parametrize("seed", range(3))
def test_a_program_goes_where_its_loops_and_branches_say(config, seed):
    rng = random.Random(seed)
    loops, length = place(nest(rng))
    ran = run_in_python(loops, length)
    dut = ProgramCounter(config)

    async def process(ctx):
        ctx.set(dut.length, length)
        await step(ctx, dut, start=1)
        for now, following in list(itertools.pairwise([*ran, length]))[:120]:
            assert await step(ctx, dut, fetch=1) == (now, now, 0)
            assert not ctx.get(dut.past_end)
            if now in loops:
                count, _, end = loops[now]
                await step(ctx, dut, enter=1, end=end, count=count)
            for _ in range(4):
                assert (await step(ctx, dut))[:2] == (None, now)
            # A loop after the other is popped; nothing is looked for until that is through.
            while True:
                look, pc, popping = await step(ctx, dut, leave=1)
                assert pc == now
                if not popping:
                    break
                assert look is None
                for _ in range(3):
                    assert (await step(ctx, dut))[:2] == (None, now)
            assert look == following
            assert ctx.get(dut.pc) == following
            assert ctx.get(dut.past_end) == (following >= length)

    World(dut).run(process)


def test_branches_and_loops_that_do_not_run():
    dut = ProgramCounter(CONFIG)

    async def process(ctx):
        async def goes(now, **values):
            assert await step(ctx, dut, fetch=1) == (now, now, 0)
            await step(ctx, dut, **values)
            for _ in range(3):
                await step(ctx, dut)
            look, pc, popping = await step(ctx, dut, leave=1)
            assert (pc, popping) == (now, 0)
            return look

        ctx.set(dut.length, 100)
        await step(ctx, dut, start=1)
        assert await goes(0) == 1
        assert await goes(1, branch=1, destination=50) == 50
        assert await goes(50, enter=1, end=70, count=0) == 70
        # An empty body is no loop, whatever its count.
        assert await goes(70, enter=1, end=71, count=9) == 71
        # One that runs has counts of 32 bits.
        assert await goes(71, enter=1, end=80, count=1 << 31) == 72
        assert await goes(72, branch=1, destination=79) == 79
        assert await goes(79) == 72
        assert await goes(72, branch=1, destination=99) == 99
        assert not ctx.get(dut.past_end)
        assert await goes(99) == 100
        assert ctx.get(dut.past_end)

    World(dut).run(process)


def test_so_many_loops_may_be_entered():
    dut, deep = ProgramCounter(CONFIG), []

    async def process(ctx):
        ctx.set(dut.length, 100)
        await step(ctx, dut, start=1)
        for _ in range(isa.LOOP_DEPTH + 2):
            await step(ctx, dut, fetch=1)
            await step(ctx, dut, enter=1, end=90, count=2)
            _, _, now = await ctx.tick().sample(dut.too_deep)
            deep.append(now)
            await ctx.tick().repeat(3)
            assert not ctx.get(dut.too_deep)
            await step(ctx, dut, leave=1)

    World(dut).run(process)
    assert deep == [0] * isa.LOOP_DEPTH + [1, 1]
