import dataclasses
import re

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia_hw.soc.sdram import SdramController
from celosia_hw.soc.sdram_timers import SdramCommand
from celosia_hw.soc.sdram_timing import SdramTiming
from hw.engine import Simulator
from hw.soc.axi_manager import AxiManager
from hw.soc.sdram_device import SdramDevice

CLOCK, SLOW = 100_000_000, 20_000_000
#: Power-up is most of a test's cycles.
QUICK = dataclasses.replace(SdramTiming(), power_up=2_000)


def run(dut, process, device, managers=()):
    sim = Simulator(dut)
    sim.add_clock(1e-8)
    sim.add_testbench(device.run, background=True)
    for manager in managers:
        manager.add_to(sim)
    sim.add_testbench(process)
    sim.run()


def config(bus_bytes):
    return dataclasses.replace(preset("nano"), bus_bytes=bus_bytes)


@pytest.mark.parametrize(("bus_bytes", "clock", "cas", "pad_cycles", "busy"), [
    (4, CLOCK, 3, 0, 0.3), (8, CLOCK, 3, 2, 0.3), (8, 133_000_000, 3, 2, 0),
    (8, 25_000_000, 2, 1, 0.6), (32, CLOCK, 3, 2, 0.1),
])
def test_random_bursts(bus_bytes, clock, cas, pad_cycles, busy):
    timing = dataclasses.replace(QUICK, cas=cas)
    dut = SdramController(config(bus_bytes), clock, timing, pad_cycles=pad_cycles)
    device = SdramDevice(dut, clock, timing, pad_cycles)
    # Few rows and all banks, around the end of one page after another.
    manager = AxiManager(bus_bytes, dut.read, dut.write, 0, 1 << 14, 60,
                         np.random.default_rng(bus_bytes + cas),
                         longest=max(4, 128 // bus_bytes), busy=busy)

    async def wait(ctx):
        for _ in range(50_000):
            await ctx.tick()
            if manager.done:
                return
        raise AssertionError(f"{manager.answered} of {manager.bursts} bursts were answered")

    run(dut, wait, device, [manager])
    assert min(manager.reads, manager.writes) > 15
    assert {command for _, command in device.commands} >= set(SdramCommand) - {SdramCommand.NOP}
    after_mode = device.refreshes[8:]
    gaps = np.diff(after_mode) / clock
    # A refresh waits for a beat and the closing of rows at most; none is lost.
    assert max(gaps, default=0) <= 64e-3 / 8192 + 60 / clock
    assert sum(gaps) <= len(gaps) * 64e-3 / 8192 + 60 / clock


def test_power_up():
    dut = SdramController(config(4), SLOW)
    device = SdramDevice(dut, SLOW)

    async def wait(ctx):
        while device.mode is None:
            await ctx.tick()

    run(dut, wait, device)
    kinds = [command for _, command in device.commands]
    assert kinds == [SdramCommand.PRECHARGE, *[SdramCommand.REFRESH] * 8, SdramCommand.MODE]
    assert 200e-6 * SLOW <= device.cycle <= 225e-6 * SLOW


def test_an_idle_device_is_refreshed_in_time():
    dut = SdramController(config(4), SLOW, QUICK)
    device = SdramDevice(dut, SLOW, QUICK)

    async def wait(ctx):
        await ctx.tick().repeat(4000)

    run(dut, wait, device)
    gaps = np.diff(device.refreshes[8:])
    assert len(gaps) >= 23
    assert set(gaps) == {156}


@pytest.mark.parametrize("clock", [25_000_000, 60_000_000, 80_000_000, 126_000_000])
def test_rows_are_in_time_where_a_refresh_waits(clock):
    """At 80 MHz a row's part of the time is a whole number of cycles: nothing is left over."""
    timing = SdramTiming()
    all_rows = timing.cycles(clock).interval << timing.row_bits
    have = timing.refresh * clock / 1e9
    assert all_rows + 64 <= have
    assert all_rows + 64 > have - (1 << timing.row_bits)  # and no more often than that


def stream(bus_bytes, direction, beats, bursts):
    """Cycles from the first to the last word of bursts one after another from address 0 on."""
    dut = SdramController(config(bus_bytes), CLOCK, QUICK, pad_cycles=2)
    device = SdramDevice(dut, CLOCK, QUICK, 2)

    async def addresses(ctx):
        port = dut.read.ar if direction == "read" else dut.write.aw
        for burst in range(bursts):
            ctx.set(port.payload, {"addr": burst * beats * bus_bytes, "len": beats - 1, "id": 0})
            ctx.set(port.valid, 1)
            await ctx.tick().until(port.ready)
        ctx.set(port.valid, 0)

    async def data(ctx):
        w = dut.write.w
        ctx.set(dut.write.b.ready, 1)
        ctx.set(dut.read.r.ready, 1)
        ctx.set(w.valid, direction == "write")
        for beat in range(beats * bursts):
            ctx.set(w.payload, {"data": beat, "strb": (1 << bus_bytes) - 1,
                                "last": beat % beats == beats - 1})
            if direction == "write":
                await ctx.tick().until(w.ready)
            else:
                await ctx.tick().until(dut.read.r.valid)
        ctx.set(w.valid, 0)
        for _ in range(100):
            await ctx.tick()

    sim = Simulator(dut)
    sim.add_clock(1e-8)
    sim.add_testbench(device.run, background=True)
    sim.add_testbench(addresses, background=True)
    sim.add_testbench(data)
    sim.run()
    kind = SdramCommand.READ if direction == "read" else SdramCommand.WRITE
    cycles = [cycle for cycle, command in device.commands if command is kind]
    assert len(cycles) == beats * bursts * bus_bytes // 2
    return cycles


@pytest.mark.parametrize("direction", ["read", "write"])
@pytest.mark.parametrize("bus_bytes", [4, 8])
def test_a_burst_streams_a_word_a_cycle(direction, bus_bytes):
    cycles = stream(bus_bytes, direction, 64 // bus_bytes, 1)
    assert cycles[-1] - cycles[0] == 31


@pytest.mark.parametrize("direction", ["read", "write"])
def test_bursts_of_a_page_follow_without_a_pause_but_for_rows(direction):
    cycles = stream(8, direction, 8, 36)  # 2304 bytes: two more rows to open
    pauses = [b - a for a, b in zip(cycles, cycles[1:], strict=False) if b - a > 1]
    # Two rows are opened; refreshes close them every 781 cycles.
    assert len(pauses) <= 4
    assert cycles[-1] - cycles[0] < 1152 * 1.04


@pytest.mark.parametrize(("make", "message"), [
    (lambda: SdramTiming(cas=4), "SdramTiming.cas must be 2 or 3, not 4"),
    (lambda: SdramTiming().cycles(200_000_000),
     "clock_hz of an SDRAM must be from 2000000 to 133000000, not 200000000"),
])
def test_errors(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()
