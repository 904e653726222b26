"""Tests of units end where the unit never does what they wait for, and say where they are."""

import re

import pytest
from amaranth.hdl import Module, Signal

from hw.engine import Simulator
from hw.limits import WaitedTooLong, processor_time
from hw.simulation import World


def clocked() -> tuple[Module, Signal]:
    """Return a circuit with a clock, and a signal of it that stays 0."""
    m, never = Module(), Signal()
    m.d.sync += never.eq(0)
    return m, never


def fails(run, message: str) -> None:
    """Check the whole message, in which a line number is ``N``."""
    with pytest.raises(WaitedTooLong) as caught:
        run()
    assert re.sub(r"py:\d+", "py:N", str(caught.value)) == message


@pytest.mark.parametrize("cycles", [20, 50])
def test_what_is_waited_for_and_where_is_said(cycles):
    m, never = clocked()
    seen = 0

    async def wait_for_it(ctx):
        await ctx.tick().until(never)

    async def main(ctx):
        await ctx.tick()
        await wait_for_it(ctx)

    async def monitor(ctx):
        nonlocal seen
        async for _ in ctx.tick():
            seen += 1

    here = "tests/hw/test_limits.py:N: test_what_is_waited_for_and_where_is_said.<locals>"
    fails(lambda: World(m).run(main, monitor, cycles=cycles),
          f"testbenches must end within {cycles} cycles, but wait here:\n"
          f"{here}.main: await wait_for_it(ctx)\n"
          f"{here}.wait_for_it: await ctx.tick().until(never)")
    assert seen == cycles


def test_a_loop_around_a_wait_is_named():
    m, never = clocked()

    async def bench(ctx):
        for _ in range(3):
            await ctx.tick()
        while not ctx.get(never):

            # Something else.
            await ctx.tick()

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    fails(lambda: simulator.run(9),
          "testbenches must end within 9 cycles, but wait here:\n"
          "tests/hw/test_limits.py:N: test_a_loop_around_a_wait_is_named.<locals>.bench: "
          "while not ctx.get(never): await ctx.tick()")


def test_a_run_of_just_so_many_cycles_ends_and_another_one_after_a_failure():
    m, never = clocked()

    async def bench(ctx):
        await ctx.tick().repeat(20)

    async def longer(ctx):
        await ctx.tick().until(never)

    world = World(m)
    with pytest.raises(WaitedTooLong):
        world.run(longer, cycles=20)
    world.run(bench, cycles=20)
    with pytest.raises(WaitedTooLong):
        world.run(bench, cycles=19)


def test_a_circuit_that_does_not_settle_is_named():
    m, go, loop = Module(), Signal(), Signal(name="loop")
    m.d.comb += loop.eq(go & ~loop)

    async def bench(ctx):
        ctx.set(go, 1)
        ctx.get(loop)

    async def quiet(ctx):
        assert ctx.get(loop) == 0

    world = World(m)
    fails(lambda: world.run(bench),
          "a circuit must settle within 1000 rounds, but these signals go on: loop")
    world.run(quiet)


def test_testbenches_that_wake_one_another_for_ever_are_named():
    m, a, b = Module(), Signal(), Signal()
    m.d.comb += Signal().eq(a ^ b)
    simulator = Simulator(m)

    def toggles(seen, told):
        async def bench(ctx):
            async for _ in ctx.changed(seen):
                ctx.set(told, not ctx.get(told))

        return bench

    simulator.add_testbench(toggles(a, b))
    simulator.add_testbench(toggles(b, a), background=True)
    fails(simulator.run,
          "testbenches must come to wait for a clock within 1000 rounds, but wait here:\n"
          "tests/hw/test_limits.py:N: test_testbenches_that_wake_one_another_for_ever_are_named"
          ".<locals>.toggles.<locals>.bench: async for _ in ctx.changed(seen):")


def for_ever():
    with processor_time(0.05):
        while True:
            pass


def test_a_loop_without_a_clock_is_ended_too():
    fails(for_ever, "a test must end within 0.05 s of the processor, but this one is here")
