"""The loop stack, stepped as the fetcher does, against loops in Python."""

import random

import pytest

from celosia.arch import isa
from celosia_hw.scalar.encoding import BLOCK
from celosia_hw.scalar.loops import LoopStack
from hw.engine import Simulator
from hw.vpu_bench import BOTH


def nest(rng, depth=0):
    """A random program: counts with bodies, and numbers of plain instructions."""
    found = []
    for _ in range(rng.randint(1, 3)):
        if depth < isa.LOOP_DEPTH and rng.random() < 0.6:
            found.append((rng.choice((1, 1, 2, 3)), nest(rng, depth + 1)))
        else:
            found.append(rng.randint(1, 3))
    return found


def place(program, at=0):
    """Return loops by the index of their instruction, (count, start, end), and the length."""
    loops = {}
    for item in program:
        if isinstance(item, int):
            at += item
            continue
        inside, end = place(item[1], at + 1)
        loops |= {at: (item[0], at + 1, end), **inside}
        at = end
    return loops, at


def run_in_python(loops, length):
    """Return the indices of the instructions as they run."""
    pc, stack, found = 0, [], []
    while pc < length:
        found.append(pc)
        if pc in loops:
            count, start, end = loops[pc]
            stack.append([count, start, end])
        pc += 1
        while stack and stack[-1][2] == pc:
            stack[-1][0] -= 1
            if stack[-1][0]:
                pc = stack[-1][1]
                break
            stack.pop()
    return found


@pytest.mark.parametrize("seed", range(8))
def test_loops_turn(seed):
    rng = random.Random(seed)
    loops, length = place(nest(rng))
    stack, found, full = LoopStack(BOTH), [], []

    async def bench(ctx):
        pc, depth = 0, 0
        while True:
            ctx.set(stack.pc, pc)  # the stack looks at it in the cycle before
            ctx.set(stack.push, 0)
            ctx.set(stack.step, 0)
            await ctx.tick()
            full.append((ctx.get(stack.full), depth == isa.LOOP_DEPTH))
            if ctx.get(stack.at_end):
                again, start = ctx.get(stack.again), ctx.get(stack.start)
                ctx.set(stack.step, 1)
                await ctx.tick()
                depth -= not again
                pc = start if again else pc
                if not again:
                    continue
            if pc == length:
                return
            found.append(pc)
            if pc in loops:
                count, start, end = loops[pc]
                ctx.set(stack.step, 0)
                ctx.set(stack.pc, start)
                ctx.set(stack.new_end, end)
                ctx.set(stack.new_count, count)
                await ctx.tick()
                ctx.set(stack.push, 1)
                await ctx.tick()
                depth += 1
            pc += 1

    simulator = Simulator(stack)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert found == run_in_python(loops, length)
    assert all(here == wanted for here, wanted in full)


@pytest.mark.parametrize(("length", "kept"), [
    (1, True), (BOTH.ibuf - BLOCK, True), (BOTH.ibuf - BLOCK + 1, False), (5000, False)])
def test_the_outermost_loop_that_fits_is_kept(length, kept):
    stack = LoopStack(BOTH)

    async def push(ctx, start, end):
        ctx.set(stack.pc, start)
        ctx.set(stack.new_end, end)
        ctx.set(stack.new_count, 2)
        await ctx.tick()
        ctx.set(stack.push, 1)
        await ctx.tick()
        ctx.set(stack.push, 0)
        await ctx.tick().repeat(2)

    async def pop(ctx):
        for _ in range(2):  # the second turn ends, then there is one loop less
            ctx.set(stack.step, 1)
            await ctx.tick()
            ctx.set(stack.step, 0)
            await ctx.tick().repeat(2)

    async def bench(ctx):
        await push(ctx, 10, 10 + length)
        assert ctx.get(stack.keep_valid) == kept
        if kept:
            assert ctx.get(stack.keep) == 10
        await push(ctx, 10, 10 + 1)  # within it: the outer one stays, if there is one
        assert ctx.get(stack.keep_valid) == 1
        assert ctx.get(stack.keep) == 10
        await push(ctx, 11, 11 + 1)
        assert ctx.get(stack.keep) == 10
        await pop(ctx)
        assert ctx.get(stack.keep_valid) == 1
        await pop(ctx)
        assert ctx.get(stack.keep_valid) == kept
        await pop(ctx)
        assert ctx.get(stack.keep_valid) == 0

    simulator = Simulator(stack)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def test_loops_are_forgotten():
    stack = LoopStack(BOTH)

    async def bench(ctx):
        ctx.set(stack.pc, 4)
        ctx.set(stack.new_end, 4 + 4)
        ctx.set(stack.new_count, 3)
        await ctx.tick()
        ctx.set(stack.push, 1)
        await ctx.tick()
        ctx.set(stack.push, 0)
        await ctx.tick().repeat(2)
        assert ctx.get(stack.keep_valid) == 1
        ctx.set(stack.clear, 1)
        await ctx.tick()
        ctx.set(stack.clear, 0)
        assert ctx.get(stack.keep_valid) == 0
        ctx.set(stack.pc, 8)
        await ctx.tick().repeat(2)
        assert ctx.get(stack.at_end) == 0
        assert ctx.get(stack.keep_valid) == 0

    simulator = Simulator(stack)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
