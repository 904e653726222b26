import random

import pytest
from amaranth.hdl import Value

from celosia.arch import registers
from celosia.arch.config import preset
from celosia_hw.host.counters import PAUSE, READ_LATENCY, PerfCounters
from celosia_hw.verilog.emit import VerilogWriter
from hw.host.open_ram import OpenRam
from hw.simulation import World

CONFIG = preset("core")
NAMES = registers.counter_names()
STATES = len(registers.Activity)


class SimulatedCounters(PerfCounters):
    """In the form that is written for simulators of Verilog."""

    def elaborate(self, platform):
        return super().elaborate(VerilogWriter(simulated=True))


@pytest.fixture(scope="module", params=[PerfCounters, SimulatedCounters])
def world(request):
    """The counters, made once in each form."""
    return World(request.param(CONFIG))


def simulate(testbench, world):
    async def wrapped(ctx):
        await testbench(ctx, world.component)

    world.run(wrapped)


class Reference:
    """What the counters have to hold."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.values = dict.fromkeys(NAMES, 0)
        self.signals, self.states = {}, {}

    def drive(self, ctx, dut):
        """Set random events and count them."""
        rng, signals = self.rng, self.signals
        if not signals:  # to look one up takes longer than to set it
            for within, names in ((dut.events, ("retired", "read_beat", "write_beat")),
                                  (dut.events.activity, registers.UNIT_NAMES),
                                  (dut.events.conflicts, registers.PORTS)):
                signals.update((name, Value.cast(within[name])) for name in names)
        flags = {name: rng.random() < 0.5 for name in ("retired", "read_beat", "write_beat")}
        for name, flag in flags.items():
            ctx.set(signals[name], flag)
        counted = ["cycles"]
        counted += ["instructions"] if flags["retired"] else []
        for unit in registers.UNIT_NAMES:
            # Rarely another state, so that one counter counts in every cycle of a long time.
            if rng.random() < 0.02 or unit not in self.states:
                self.states[unit] = registers.Activity(rng.randrange(STATES))
                ctx.set(signals[unit], self.states[unit].value)
            state = self.states[unit]
            counted.append(f"{unit}_{state.name.lower()}")
        for port in registers.PORTS:
            flag = rng.random() < 0.9
            ctx.set(signals[port], flag)
            counted += [f"conflicts_{port}"] if flag else []
        for name in counted:
            self.values[name] += 1
        self.values["bytes_read"] += CONFIG.bus_bytes * flags["read_beat"]
        self.values["bytes_written"] += CONFIG.bus_bytes * flags["write_beat"]


async def run(ctx, dut, reference, cycles):
    ctx.set(dut.run, 1)
    for _ in range(cycles):
        reference.drive(ctx, dut)
        await ctx.tick()
    ctx.set(dut.run, 0)


async def read(ctx, dut, name):
    ctx.set(dut.index, NAMES.index(name))
    ctx.set(dut.read, 1)
    await ctx.tick()
    ctx.set(dut.read, 0)
    await ctx.tick().repeat(READ_LATENCY - 1)
    value = ctx.get(dut.value)
    await ctx.tick().repeat(2 * PAUSE - READ_LATENCY)
    return value


async def read_all(ctx, dut):
    await ctx.tick()  # nobody can know of the end of a run earlier
    return {name: await read(ctx, dut, name) for name in NAMES}


async def clear(ctx, dut):
    ctx.set(dut.clear, 1)
    await ctx.tick()
    ctx.set(dut.clear, 0)


@pytest.mark.parametrize("cycles", [0, 1, 2, 45, 46, 47, 500])
def test_counts_every_event(world, cycles):
    async def testbench(ctx, dut):
        reference = Reference(cycles)
        await clear(ctx, dut)
        await run(ctx, dut, reference, cycles)
        values = await read_all(ctx, dut)
        assert values == reference.values
        for unit in registers.UNIT_NAMES:
            assert sum(values[f"{unit}_{state.name.lower()}"]
                       for state in registers.Activity) == cycles
        assert await read_all(ctx, dut) == values

    simulate(testbench, world)


def test_clear_forgets_runs_of_any_length(world):
    async def testbench(ctx, dut):
        for cycles in (200, 3, 46, 0, 60, 1):
            reference = Reference(cycles)
            await clear(ctx, dut)
            await run(ctx, dut, reference, cycles)
            assert await read_all(ctx, dut) == reference.values
            await ctx.tick().repeat(50)
            assert await read_all(ctx, dut) == reference.values

    simulate(testbench, world)


def test_counts_resume_without_a_clear(world):
    async def testbench(ctx, dut):
        reference = Reference(1)
        for cycles in (30, 70, 5):
            await run(ctx, dut, reference, cycles)
            assert await read_all(ctx, dut) == reference.values

    simulate(testbench, world)


@pytest.mark.parametrize("pause", [2 * PAUSE - READ_LATENCY, 2 * PAUSE - READ_LATENCY + 1, 12])
def test_reads_in_a_run_are_exact_and_lose_nothing(world, pause):
    async def testbench(ctx, dut):
        reference = Reference(pause)
        rng = random.Random(pause)
        await clear(ctx, dut)
        ctx.set(dut.run, 1)
        for number in range(120):
            # One counter again and again, then any.
            name = "cycles" if number < 60 else rng.choice(NAMES)
            expected = reference.values[name]
            ctx.set(dut.index, NAMES.index(name))
            ctx.set(dut.read, 1)
            for _ in range(READ_LATENCY):
                reference.drive(ctx, dut)
                await ctx.tick()
                ctx.set(dut.read, 0)
            assert ctx.get(dut.value) == expected
            for _ in range(pause):
                reference.drive(ctx, dut)
                await ctx.tick()
        ctx.set(dut.run, 0)
        assert await read_all(ctx, dut) == reference.values

    simulate(testbench, world)


@pytest.mark.parametrize("form", [PerfCounters, SimulatedCounters])
def test_carries_into_the_upper_word(monkeypatch, form):
    # 48 bits cannot be reached by counting, so the total is put into the RAM.
    monkeypatch.setattr("celosia_hw.host.counters.Ram", OpenRam)

    async def testbench(ctx, dut):
        reference = Reference(9)
        await run(ctx, dut, reference, 100)  # one sweep: totals are taken from the RAM
        await ctx.tick().repeat(PAUSE)  # and the sweep is at rest
        totals = dut._totals.memory.data
        for i, name in enumerate(NAMES):
            before = ctx.get(totals[i])
            ctx.set(totals[i], before + (1 << 32) - 40)
            reference.values[name] += (1 << 32) - 40
        await run(ctx, dut, reference, 200)
        assert await read_all(ctx, dut) == reference.values

    simulate(testbench, World(form(CONFIG)))
