import functools

import pytest

from celosia.arch.faults import Fault
from celosia.arch.registers import Status
from celosia_hw.host.run import RESET_CYCLES, RunControl
from hw.simulation import World

FAULT = {"cause": Fault.UB_RANGE, "pc": 17, "addr": 4096}


@functools.cache
def world() -> World:
    """The control, made once."""
    return World(RunControl())


def simulate(testbench):
    async def wrapped(ctx):
        await testbench(ctx, world().component)

    world().run(wrapped)


async def pulse(ctx, *signals):
    for signal in signals:
        ctx.set(signal, 1)
    await ctx.tick()
    for signal in signals:
        ctx.set(signal, 0)


def last_fault(ctx, dut):
    fault = ctx.get(dut.last_fault)
    return {name: fault[name] for name in ("cause", "pc", "addr")}


NO_FAULT = {"cause": Fault.NONE, "pc": 0, "addr": 0}


async def reset(ctx, dut):
    """Reset with the bus drained; end in IDLE."""
    ctx.set(dut.drained, 1)
    await pulse(ctx, dut.reset)
    await ctx.tick().until(dut.status == Status.IDLE)


def test_runs_and_halts():
    async def testbench(ctx, dut):
        assert ctx.get(dut.status) == Status.IDLE
        for _ in range(2):
            ctx.set(dut.start, 1)
            assert ctx.get(dut.started)
            assert not ctx.get(dut.running)
            await ctx.tick()
            assert ctx.get(dut.running)
            assert not ctx.get(dut.started)  # although start is still high
            ctx.set(dut.start, 0)
            for _ in range(5):
                assert ctx.get(dut.status) == Status.RUNNING
                assert not ctx.get(dut.ended)
                await ctx.tick()
            ctx.set(dut.halted, 1)
            assert ctx.get(dut.ended)
            await ctx.tick()
            ctx.set(dut.halted, 0)
            assert ctx.get(dut.status) == Status.DONE
            assert not ctx.get(dut.abort)
            assert last_fault(ctx, dut) == NO_FAULT

    simulate(testbench)


def test_fault_holds_abort_until_reset_and_is_cleared_by_it():
    async def testbench(ctx, dut):
        await pulse(ctx, dut.start)
        ctx.set(dut.fault, FAULT)
        await pulse(ctx, dut.fault_valid)
        ctx.set(dut.fault, {"cause": Fault.WINDOW, "pc": 1, "addr": 2})
        await pulse(ctx, dut.fault_valid)  # after the end: no effect
        await pulse(ctx, dut.halted)
        for _ in range(5):
            assert ctx.get(dut.status) == Status.FAULTED
            assert ctx.get(dut.abort)
            assert last_fault(ctx, dut) == FAULT
            ctx.set(dut.start, 1)
            assert not ctx.get(dut.can_start)
            assert not ctx.get(dut.started)
            await ctx.tick()
            ctx.set(dut.start, 0)
        await reset(ctx, dut)
        assert last_fault(ctx, dut) == NO_FAULT
        assert not ctx.get(dut.abort)
        assert ctx.get(dut.can_start)

    simulate(testbench)


@pytest.mark.parametrize("limit", [1, 2, 9])
def test_watchdog_expires_after_that_many_cycles(limit):
    async def testbench(ctx, dut):
        ctx.set(dut.watchdog, limit)
        await pulse(ctx, dut.start)
        ctx.set(dut.watchdog, 1000)  # read with start
        cycles = 0
        while ctx.get(dut.running):
            cycles += 1
            ctx.set(dut.pc, 100 + cycles)
            assert ctx.get(dut.ended) == (cycles == limit)
            await ctx.tick()
        assert cycles == limit
        assert ctx.get(dut.status) == Status.FAULTED
        assert ctx.get(dut.abort)
        assert last_fault(ctx, dut) == {"cause": Fault.WATCHDOG, "pc": 100 + limit, "addr": 0}

    simulate(testbench)


def test_watchdog_of_zero_never_expires():
    async def testbench(ctx, dut):
        await pulse(ctx, dut.start)
        await ctx.tick().repeat(300)
        assert ctx.get(dut.running)

    simulate(testbench)


def test_watchdog_starts_anew_with_each_run():
    async def testbench(ctx, dut):
        ctx.set(dut.watchdog, 10)
        for _ in range(3):
            await pulse(ctx, dut.start)
            await ctx.tick().repeat(8)
            await pulse(ctx, dut.halted)
            assert ctx.get(dut.status) == Status.DONE

    simulate(testbench)


@pytest.mark.parametrize("delay", [8, 9])
@pytest.mark.parametrize(("ends", "status", "cause"), [
    (("halted",), Status.DONE, Fault.NONE),
    (("fault_valid",), Status.FAULTED, Fault.UB_RANGE),
    (("halted", "fault_valid"), Status.FAULTED, Fault.UB_RANGE),
])
def test_end_in_the_last_cycle_of_the_watchdog_wins(delay, ends, status, cause):
    async def testbench(ctx, dut):
        ctx.set(dut.fault, FAULT)
        ctx.set(dut.watchdog, 10)
        await pulse(ctx, dut.start)
        await ctx.tick().repeat(delay)
        await pulse(ctx, *(getattr(dut, name) for name in ends))
        assert ctx.get(dut.status) == status
        assert last_fault(ctx, dut)["cause"] == cause
        await ctx.tick().repeat(20)
        assert ctx.get(dut.status) == status

    simulate(testbench)


@pytest.mark.parametrize("together", [(), ("halted",), ("fault_valid",), ("start",)])
def test_reset_wins_over_the_end_of_a_run(together):
    async def testbench(ctx, dut):
        ctx.set(dut.fault, FAULT)
        await pulse(ctx, dut.start)
        await ctx.tick().repeat(3)
        for name in (*together, "reset"):
            ctx.set(getattr(dut, name), 1)
        assert not ctx.get(dut.ended)
        assert not ctx.get(dut.started)
        await ctx.tick()
        for name in (*together, "reset"):
            ctx.set(getattr(dut, name), 0)
        assert ctx.get(dut.status) == Status.RESETTING
        assert last_fault(ctx, dut) == NO_FAULT

    simulate(testbench)


@pytest.mark.parametrize("before", ["idle", "running", "done", "faulted", "resetting"])
@pytest.mark.parametrize("drain", [0, 1, 30])
def test_reset_waits_for_the_bus(before, drain):
    async def testbench(ctx, dut):
        ctx.set(dut.drained, 1)  # stale: of the time before abort
        if before in ("running", "done", "faulted"):
            await pulse(ctx, dut.start)
        if before == "done":
            await pulse(ctx, dut.halted)
        if before == "faulted":
            await pulse(ctx, dut.fault_valid)
        await pulse(ctx, dut.reset)
        if before == "resetting":
            await pulse(ctx, dut.reset)
        await ctx.tick()
        ctx.set(dut.drained, 0)
        for _ in range(drain):
            assert ctx.get(dut.status) == Status.RESETTING
            assert ctx.get(dut.abort)
            assert not ctx.get(dut.unit_reset)
            await pulse(ctx, dut.halted, dut.fault_valid, dut.start)
        ctx.set(dut.drained, 1)
        resets = 0
        while ctx.get(dut.status) == Status.RESETTING:
            assert ctx.get(dut.abort)
            assert last_fault(ctx, dut) == NO_FAULT
            resets += ctx.get(dut.unit_reset)
            await ctx.tick()
        assert resets == RESET_CYCLES
        assert ctx.get(dut.status) == Status.IDLE
        assert not ctx.get(dut.abort)
        assert not ctx.get(dut.unit_reset)
        await pulse(ctx, dut.start)
        assert ctx.get(dut.running)

    simulate(testbench)


def test_reset_in_the_cycle_of_start_wins():
    async def testbench(ctx, dut):
        ctx.set(dut.start, 1)
        ctx.set(dut.reset, 1)
        assert not ctx.get(dut.started)
        await ctx.tick()
        assert ctx.get(dut.status) == Status.RESETTING

    simulate(testbench)


def test_units_are_reset_for_a_cycle_behind_a_reset_of_all():
    """The first register is written in the next one at the earliest, see AxiLiteResponder."""
    @simulate
    async def testbench(ctx, dut):
        assert ctx.get(dut.unit_reset)
        assert not ctx.get(dut.abort)
        await ctx.tick()
        for _ in range(3):
            assert not ctx.get(dut.unit_reset)
            await ctx.tick()
