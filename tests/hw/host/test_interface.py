import dataclasses
import functools
import random

import pytest

from celosia.arch import registers
from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.arch.faults import Fault
from celosia.arch.registers import BY_NAME, AccessMode, Control, Status, link_register
from celosia_hw.bus.axi import OKAY, SLVERR
from celosia_hw.host.interface import HostInterface, constants
from hw.host.open_ram import OpenRam
from hw.simulation import World

NANO = preset("nano")
WINDOWS = [f"WINDOW{i}_{end}" for i in range(registers.NUM_WINDOWS) for end in ("BASE", "LAST")]
#: Writable registers of 32 bits.
WORDS = ["PROGRAM", "LENGTH", "WATCHDOG", *WINDOWS]
COUNTER_WORDS = {f"{name.upper()}_{half}" for name in registers.counter_names()
                 for half in ("LO", "HI")}
PROGRAM = 3 * registers.PROGRAM_ALIGN


class Host:
    """A host at the register port, and what stands for the chip behind it."""

    def __init__(self, ctx, dut):
        self.ctx, self.dut = ctx, dut

    async def access(self, address, value=None, strobes=0xF):
        """Write ``value``, or read; return data and response."""
        ctx, axil = self.ctx, self.dut.axil
        request, answer = (axil.ar, axil.r) if value is None else (axil.aw, axil.b)
        ctx.set(request.payload, address)
        ctx.set(request.valid, 1)
        if value is not None:
            ctx.set(axil.w.payload, {"data": value, "strb": strobes})
            ctx.set(axil.w.valid, 1)
        ctx.set(answer.ready, 1)
        await ctx.tick().until(request.ready)  # AW and W become ready in the same cycle here
        ctx.set(request.valid, 0)
        ctx.set(axil.w.valid, 0)
        payload, = await ctx.tick().sample(answer.payload).until(answer.valid)
        ctx.set(answer.ready, 0)
        return (payload.data, payload.resp) if value is None else (None, payload)

    async def write(self, name, value):
        _, response = await self.access(BY_NAME[name].offset, value)
        return response

    async def read(self, name):
        value, response = await self.access(BY_NAME[name].offset)
        assert response == OKAY
        return value

    async def status(self):
        return Status(await self.read("STATUS"))

    async def counter(self, name):
        low = await self.read(f"{name.upper()}_LO")
        return await self.read(f"{name.upper()}_HI") << 32 | low

    async def start(self):
        assert await self.write("PROGRAM", PROGRAM) == OKAY
        assert await self.write("CONTROL", Control.START) == OKAY

    async def pulse(self, *signals):
        for signal in signals:
            self.ctx.set(signal, 1)
        await self.ctx.tick()
        for signal in signals:
            self.ctx.set(signal, 0)

    async def fault(self, cause, pc, addr):
        self.ctx.set(self.dut.fault, {"cause": cause, "pc": pc, "addr": addr})
        await self.pulse(self.dut.fault_valid)

    async def last_fault(self):
        return tuple([await self.read(f"FAULT_{part}") for part in ("CAUSE", "PC", "ADDR")])


@functools.cache
def interface() -> World:
    """The interface of a chip, made once."""
    return World(HostInterface(NANO))


def simulate(testbench, world=None):
    world = world or interface()

    async def wrapped(ctx):
        ctx.set(world.component.drained, 1)
        await testbench(Host(ctx, world.component))

    world.run(wrapped)


@pytest.mark.parametrize("config", [
    *PRESETS.values(),
    TpuConfig("both", dim=2, int8=True, bf16=True, ub_rows=8, acc_rows=8, bus_bytes=16),
], ids=lambda config: config.name)
def test_chip_describes_itself(config):
    async def testbench(host):
        for name, value in constants(config).items():
            assert await host.read(name) == value, name

    simulate(testbench, World(HostInterface(config)))


def test_every_register_reads_its_initial_value():
    async def testbench(host):
        expected = constants(NANO)
        for register in registers.REGISTERS:
            assert await host.read(register.name) == expected.get(register.name, register.init), \
                register.name

    simulate(testbench)


def test_what_links_tell_is_read_and_the_device_is_stored():
    world = World(HostInterface(dataclasses.replace(NANO, ports=2)))
    dut, rng = world.component, random.Random(2)

    async def testbench(host):
        wanted = {}
        for value in (0xFFFFFFFF, 0, rng.getrandbits(32)):
            for port in range(2):
                for i, name in enumerate(("status", *registers.LINK_COUNTERS)):
                    word = wanted[link_register(port, name)] = value ^ (value and i << 4 | port)
                    to = dut.link_counts[port][i - 1] if i else dut.link_status[port]
                    host.ctx.set(to, word)
            links = value & 3
            host.ctx.set(dut.links, links)
            for name, word in (wanted | {"LINKS": links}).items():
                assert await host.read(name) == word, name
            assert await host.write("DEVICE", value) == OKAY
            assert await host.read("DEVICE") == host.ctx.get(dut.device) == value

    simulate(testbench, world)


def test_windows_are_closed_at_first():
    async def testbench(host):
        for window in host.ctx.get(host.dut.windows):
            assert window.last < window.base

    simulate(testbench)


def test_words_are_stored_and_reach_the_chip():
    async def testbench(host):
        rng = random.Random(1)
        values = {name: rng.getrandbits(32) for name in WORDS}
        for name, value in values.items():
            assert await host.write(name, value) == OKAY
        for name, value in values.items():
            assert await host.read(name) == value
        get, dut = host.ctx.get, host.dut
        assert get(dut.program) == values["PROGRAM"]
        assert get(dut.length) == values["LENGTH"]
        for i, window in enumerate(get(dut.windows)):
            assert window.base == values[f"WINDOW{i}_BASE"]
            assert window.last == values[f"WINDOW{i}_LAST"]

    simulate(testbench)


def test_every_address_answers_as_the_map_says():
    access = {register.offset: register.access for register in registers.REGISTERS}

    async def testbench(host):
        for address in range(0, 1 << registers.ADDRESS_BITS, 4):
            value, response = await host.access(address)
            assert response == (OKAY if address in access else SLVERR), hex(address)
            assert response == OKAY or value == 0
            _, response = await host.access(address, 0)
            writable = access.get(address, AccessMode.RO) is not AccessMode.RO
            assert response == (OKAY if writable else SLVERR), hex(address)

    simulate(testbench)


def test_refused_accesses_do_nothing():
    async def testbench(host):
        offset = BY_NAME["LENGTH"].offset
        assert await host.write("LENGTH", 77) == OKAY
        for strobes in range(15):
            assert await host.access(offset, 5, strobes) == (None, SLVERR)
        for part in (1, 2, 3):
            assert await host.access(offset + part, 5) == (None, SLVERR)
            assert await host.access(offset + part) == (0, SLVERR)
        assert await host.write("CONTROL", 0) == OKAY
        assert await host.access(BY_NAME["CONTROL"].offset, Control.START, 0b0001) == (None, SLVERR)
        assert await host.read("LENGTH") == 77
        assert await host.status() is Status.IDLE

    simulate(testbench)


def test_program_must_be_aligned_at_start():
    async def testbench(host):
        for wrong in (4, registers.PROGRAM_ALIGN // 2, PROGRAM + 32, PROGRAM - 1):
            assert await host.write("PROGRAM", wrong) == OKAY
            assert await host.write("CONTROL", Control.START) == SLVERR
            assert await host.status() is Status.IDLE
        await host.start()
        assert await host.status() is Status.RUNNING

    simulate(testbench)


def test_start_is_refused_unless_idle_or_done():
    async def testbench(host):
        dut, ctx = host.dut, host.ctx
        for _ in range(2):
            await host.start()
            assert await host.write("CONTROL", Control.START) == SLVERR
            assert await host.status() is Status.RUNNING
            await host.pulse(dut.halted)
            assert await host.status() is Status.DONE
        await host.start()
        await host.fault(Fault.WINDOW, 3, 0xABC)
        assert await host.write("CONTROL", Control.START) == SLVERR
        assert await host.status() is Status.FAULTED
        assert await host.last_fault() == (Fault.WINDOW, 3, 0xABC)
        ctx.set(dut.drained, 0)
        assert await host.write("CONTROL", Control.RESET) == OKAY
        assert await host.write("CONTROL", Control.START) == SLVERR
        assert await host.status() is Status.RESETTING
        ctx.set(dut.drained, 1)
        await ctx.tick().until(dut.unit_reset)
        await ctx.tick().until(~dut.unit_reset)
        assert await host.status() is Status.IDLE
        assert await host.last_fault() == (Fault.NONE, 0, 0)
        await host.start()

    simulate(testbench)


def test_start_clears_the_last_fault_after_a_reset_only():
    async def testbench(host):
        await host.start()
        await host.fault(Fault.UB_RANGE, 1, 2)
        await host.write("CONTROL", Control.RESET)
        await host.start()
        await host.fault(Fault.BUS_READ, 3, 4)
        assert await host.last_fault() == (Fault.BUS_READ, 3, 4)

    simulate(testbench)


@pytest.mark.parametrize("running", [False, True])
def test_reset_wins_over_start_in_one_write(running):
    async def testbench(host):
        await host.write("PROGRAM", PROGRAM)
        if running:
            await host.start()
        host.ctx.set(host.dut.drained, 0)
        assert await host.write("CONTROL", Control.START | Control.RESET) == OKAY
        assert await host.status() is Status.RESETTING
        assert host.ctx.get(host.dut.abort)
        host.ctx.set(host.dut.drained, 1)
        await host.ctx.tick().repeat(10)
        assert await host.status() is Status.IDLE

    simulate(testbench)


def test_configuration_of_a_run_is_fixed_while_it_runs():
    async def testbench(host):
        for name in WORDS:
            assert await host.write(name, PROGRAM) == OKAY
        await host.start()
        for name in WORDS:
            assert await host.write(name, 0) == SLVERR
            assert await host.read(name) == PROGRAM
        assert await host.write("IRQ_ENABLE", 1) == OKAY
        await host.pulse(host.dut.halted)
        for name in WORDS:
            assert await host.write(name, 1) == OKAY
            assert await host.read(name) == 1

    simulate(testbench)


def test_registers_outlive_a_reset():
    async def testbench(host):
        for name in WORDS:
            await host.write(name, 5 * PROGRAM)
        await host.write("IRQ_ENABLE", 1)
        await host.write("CONTROL", Control.RESET)
        await host.ctx.tick().repeat(10)
        assert await host.read("IRQ_ENABLE") == 1
        for name in WORDS:
            assert await host.read(name) == 5 * PROGRAM

    simulate(testbench)


def test_interrupt():
    async def testbench(host):
        dut, get = host.dut, host.ctx.get
        await host.start()
        await host.pulse(dut.halted)
        assert await host.read("IRQ_STATUS") == 1
        assert not get(dut.irq)  # not enabled
        await host.write("IRQ_ENABLE", 0xFFFFFFFF)
        assert await host.read("IRQ_ENABLE") == 1
        assert get(dut.irq)
        await host.write("IRQ_STATUS", 0xFFFFFFFE)
        assert get(dut.irq)
        await host.write("IRQ_STATUS", 1)
        assert not get(dut.irq)
        assert await host.read("IRQ_STATUS") == 0
        await host.start()
        assert not get(dut.irq)
        await host.fault(Fault.OVERLAP, 0, 0)
        await host.ctx.tick()
        assert get(dut.irq)
        await host.write("CONTROL", Control.RESET)
        assert not get(dut.irq)
        assert await host.read("IRQ_STATUS") == 0

    simulate(testbench)


@pytest.mark.parametrize("delay", range(6))
def test_end_of_a_run_that_meets_a_write_to_irq_status_is_kept(delay):
    async def testbench(host):
        dut, ctx = host.dut, host.ctx
        await host.start()
        axil = dut.axil
        ctx.set(axil.aw.payload, BY_NAME["IRQ_STATUS"].offset)
        ctx.set(axil.w.payload, {"data": 1, "strb": 0xF})
        for cycle in range(8):
            ctx.set(axil.aw.valid, cycle == 3)
            ctx.set(axil.w.valid, cycle == 3)
            ctx.set(dut.halted, cycle == delay)
            await ctx.tick()
        # The write takes effect in cycle 5.
        assert await host.read("IRQ_STATUS") == (1 if delay >= 5 else 0)

    simulate(testbench)


def test_watchdog_through_the_registers():
    async def testbench(host):
        dut, ctx = host.dut, host.ctx
        await host.write("WATCHDOG", 40)
        ctx.set(dut.pc, 123)
        await host.start()
        await ctx.tick().until(dut.abort)
        assert await host.status() is Status.FAULTED
        assert await host.last_fault() == (Fault.WATCHDOG, 123, 0)
        assert await host.counter("cycles") == 40
        assert ctx.get(dut.abort)
        ctx.set(dut.drained, 0)
        await host.write("CONTROL", Control.RESET)
        await ctx.tick().repeat(50)
        assert ctx.get(dut.abort)
        assert await host.status() is Status.RESETTING
        ctx.set(dut.drained, 1)
        await ctx.tick().repeat(10)
        assert await host.status() is Status.IDLE
        assert not ctx.get(dut.abort)
        assert await host.counter("cycles") == 40  # kept over the reset

    simulate(testbench)


def test_pc_is_live():
    async def testbench(host):
        for pc in (0, 5, 0xFFFFFFFF):
            host.ctx.set(host.dut.pc, pc)
            assert await host.read("PC") == pc

    simulate(testbench)


def test_counters_count_the_cycles_of_the_run_and_restart():
    async def testbench(host):
        dut, ctx = host.dut, host.ctx
        for cycles in (60, 7):
            ctx.set(dut.events.retired, 1)
            ctx.set(dut.events.read_beat, 1)
            ctx.set(dut.events.activity.mxu, registers.Activity.BUSY)
            ctx.set(dut.events.conflicts.acc_write_vpu, 1)
            await host.write("PROGRAM", PROGRAM)

            async def count(cycles=cycles):
                await ctx.tick().until(dut.start)
                await ctx.tick().repeat(cycles - 1)
                await host.pulse(dut.halted)

            ctx.set(dut.axil.aw.payload, BY_NAME["CONTROL"].offset)
            ctx.set(dut.axil.w.payload, {"data": Control.START, "strb": 0xF})
            ctx.set(dut.axil.b.ready, 1)
            ctx.set(dut.axil.aw.valid, 1)
            ctx.set(dut.axil.w.valid, 1)
            await ctx.tick()
            ctx.set(dut.axil.aw.valid, 0)
            ctx.set(dut.axil.w.valid, 0)
            await count()
            counts = {name: await host.counter(name) for name in registers.counter_names()}
            idle = {f"{unit}_idle": cycles for unit in registers.UNIT_NAMES if unit != "mxu"}
            assert {name: value for name, value in counts.items() if value} == {
                "cycles": cycles, "instructions": cycles, "bytes_read": cycles * NANO.bus_bytes,
                "mxu_busy": cycles, "conflicts_acc_write_vpu": cycles, **idle}

    simulate(testbench)


def test_halves_of_a_counter_belong_together(monkeypatch):
    monkeypatch.setattr("celosia_hw.host.counters.Ram", OpenRam)

    async def testbench(host):
        await host.start()
        near = (1 << 32) - 30
        await host.ctx.tick().repeat(100)
        host.ctx.set(host.dut._counters._totals.memory.data[0], near)
        before = 0
        carried = False
        for _ in range(20):
            value = await host.counter("cycles")
            assert before < value < near + 600
            carried |= before >> 32 != value >> 32
            before = value
        assert carried

    simulate(testbench, World(HostInterface(NANO)))
