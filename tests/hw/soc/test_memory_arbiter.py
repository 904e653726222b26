# amaranth: UnusedElaboratable=no

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from celosia.arch.config import TpuConfig, preset
from celosia_hw.bus.axi import AxiReadSignature, AxiWriteSignature
from celosia_hw.soc.memory_arbiter import MemoryArbiter
from celosia_hw.soc.on_chip_memory import OnChipMemory
from hw.axi_agent import AxiMemory
from hw.engine import Simulator
from hw.soc.axi_manager import AxiManager

CONFIG = TpuConfig("test", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=8)
SIZE = 1 << 14


class OnChip(wiring.Component):
    """Arbiter and block RAM."""

    def __init__(self, config, memory_bytes):
        read, write = AxiReadSignature(config.bus_bytes), AxiWriteSignature(config.bus_bytes)
        super().__init__({"chip_read": In(read), "chip_write": In(write), "link_read": In(read),
                          "link_write": In(write)})
        self.arbiter = MemoryArbiter(config, memory_bytes)
        self.memory = OnChipMemory(config, memory_bytes)

    def elaborate(self, platform):
        m = Module()
        m.submodules.arbiter, m.submodules.memory = self.arbiter, self.memory
        for name in self.signature.members:
            inner = getattr(self.arbiter, name)
            wiring.connect(m, wiring.flipped(getattr(self, name)), inner)
        wiring.connect(m, self.arbiter.read, self.memory.read)
        wiring.connect(m, self.arbiter.write, self.memory.write)
        return m


def managers(dut, bus_bytes, bursts, **options):
    """The chip in the lower half, the link in the upper, which reaches beyond the memory."""
    rng = np.random.default_rng(5)
    chip = AxiManager(bus_bytes, dut.chip_read, dut.chip_write, 0, SIZE // 2, bursts, rng,
                      longest=32, limit=SIZE, **options)
    link = AxiManager(bus_bytes, dut.link_read, dut.link_write, SIZE // 2, SIZE, bursts, rng,
                      longest=8, limit=SIZE, ids=(0,), **options)
    return chip, link


def until_done(users):
    async def wait(ctx):
        for _ in range(20_000):
            await ctx.tick()
            if all(user.done for user in users):
                return
        raise AssertionError(f"{[user.answered for user in users]} bursts were answered")
    return wait


@pytest.mark.parametrize("busy", [0, 0.5])
def test_random_traffic_of_two_managers(busy):
    dut = MemoryArbiter(CONFIG, SIZE)
    memory = AxiMemory(8, 2 * SIZE, np.random.default_rng(1), dut.read, dut.write, latency=4,
                       busy=busy, early_data=True)
    users = managers(dut, 8, 50, busy=busy)

    async def wait(ctx):
        await until_done(users)(ctx)
        # Nothing of the link's bursts beyond the memory was written.
        content = np.concatenate([users[0].content, users[1].content])
        known = np.concatenate([users[0].known, users[1].known])
        assert (memory.data[:len(content)] == content)[known].all()
        assert not known[SIZE:].any()

    asked = [getattr(port, name) for port, name in (
        (dut.chip_read, "ar"), (dut.chip_write, "aw"), (dut.link_read, "ar"),
        (dut.link_write, "aw"))]
    beyond = [0] * len(asked)

    async def watch(ctx):
        """Bursts beyond the memory are told in the cycle in which they are taken."""
        async for _, _, told, *seen in ctx.tick().sample(dut.beyond, *(
                each.valid & each.ready & (each.payload.addr >= SIZE) for each in asked)):
            assert told == any(seen)
            for which, taken in enumerate(seen):
                beyond[which] += taken

    before = memory.data[SIZE:].copy()
    sim = Simulator(dut)
    sim.add_clock(1e-8)
    sim.add_testbench(memory.run, background=True)
    sim.add_testbench(watch, background=True)
    for user in users:
        user.add_to(sim)
    sim.add_testbench(wait)
    sim.run()
    assert (memory.data[SIZE:] == before).all()
    assert min(beyond[2:]) > 3
    assert all(min(user.reads, user.writes) > 12 for user in users)


@pytest.mark.parametrize("busy", [0, 0.4])
@pytest.mark.parametrize("bus_bytes", [4, 8])
def test_on_chip_memory_behind_the_arbiter(bus_bytes, busy):
    config = TpuConfig("test", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64,
                       bus_bytes=bus_bytes)
    dut = OnChip(config, SIZE)
    users = managers(dut, bus_bytes, 40, busy=busy)
    sim = Simulator(dut)
    sim.add_clock(1e-8)
    for user in users:
        user.add_to(sim)
    sim.add_testbench(until_done(users))
    sim.run()
    assert all(min(user.reads, user.writes) > 10 for user in users)


@pytest.mark.parametrize("direction", ["read", "write"])
def test_a_manager_that_always_asks_does_not_starve_the_other(direction):
    dut = MemoryArbiter(CONFIG, SIZE)
    memory = AxiMemory(8, SIZE, np.random.default_rng(1), dut.read, dut.write, latency=2,
                       early_data=True)
    served = {"chip": 0, "link": 0}

    def ask(name, beats):
        port = getattr(dut, f"{name}_{direction}")
        channel = port.ar if direction == "read" else port.aw

        async def process(ctx):
            ctx.set(channel.payload, {"addr": 0, "len": beats - 1, "id": 0})
            ctx.set(channel.valid, 1)
            ctx.set((port.r if direction == "read" else port.b).ready, 1)
            while True:
                _, _, ready = await ctx.tick().sample(channel.ready)
                served[name] += ready
        return process

    def data(name, beats):
        w = getattr(dut, f"{name}_write").w

        async def process(ctx):
            ctx.set(w.valid, 1)
            sent = 0
            while True:
                ctx.set(w.payload, {"data": 0, "strb": 0, "last": sent % beats == beats - 1})
                _, _, ready = await ctx.tick().sample(w.ready)
                sent += ready
        return process

    async def wait(ctx):
        await ctx.tick().repeat(1000)

    sim = Simulator(dut)
    sim.add_clock(1e-8)
    sim.add_testbench(memory.run, background=True)
    for name, beats in (("chip", 16), ("link", 8)):
        sim.add_testbench(ask(name, beats), background=True)
        if direction == "write":
            sim.add_testbench(data(name, beats), background=True)
    sim.add_testbench(wait)
    sim.run()
    assert abs(served["chip"] - served["link"]) <= 1
    assert served["chip"] >= 1000 // 24 - 8


@pytest.mark.parametrize("names", [("chip",), ("link",), ("chip", "link")])
@pytest.mark.parametrize("direction", ["read", "write"])
def test_four_bursts_may_be_unanswered(direction, names):
    dut, channel = MemoryArbiter(CONFIG, SIZE), "ar" if direction == "read" else "aw"
    ports = [getattr(dut, f"{name}_{direction}") for name in names]
    memory, given = getattr(dut, direction), []

    async def bench(ctx):
        ctx.set(getattr(memory, channel).ready, 1)
        for port in ports:
            ctx.set(getattr(port, channel).valid, 1)
            if direction == "write":
                ctx.set(memory.w.ready, 1)
                ctx.set(port.w.valid, 1)
                ctx.set(port.w.payload.last, 1)
        for cycle in range(60):  # of bursts of a beat; the memory answers one of them after a while
            answer = memory.r if direction == "read" else memory.b
            ctx.set(answer.valid, cycle == 40)
            if direction == "read":
                ctx.set(answer.payload.last, 1)
            for port in ports:
                ctx.set((port.r if direction == "read" else port.b).ready, 1)
            _, _, valid = await ctx.tick().sample(getattr(memory, channel).valid)
            given.append(valid)

    sim = Simulator(dut)
    sim.add_clock(1e-8)
    sim.add_testbench(bench)
    sim.run()
    assert (sum(given[:41]), sum(given)) == (4, 5)


@pytest.mark.parametrize(("size", "address", "is_beyond"), [
    (1 << 14, 0x3FF8, 0), (1 << 14, 0x4000, 1), (1 << 14, 0xFFFFFFF8, 1), (1 << 31, 0x7FFFFFF8, 0),
    (1 << 31, 0x80000000, 1), (1 << 32, 0, 0), (1 << 32, 0xFFFFFFF8, 0)])
def test_what_is_beyond_a_memory(size, address, is_beyond):
    dut, seen = MemoryArbiter(CONFIG, size), []

    async def bench(ctx):
        for channel in (dut.chip_read.ar, dut.chip_write.aw, dut.link_read.ar, dut.link_write.aw):
            ctx.set(channel.payload.addr, address)
            ctx.set(channel.valid, 1)
            _, _, ready, beyond = await ctx.tick().sample(channel.ready, dut.beyond)
            seen.append((ready, beyond))
            ctx.set(channel.valid, 0)
            ctx.set(dut.read.ar.ready, 1)
            ctx.set(dut.write.aw.ready, 1)
            await ctx.tick()

    sim = Simulator(dut)
    sim.add_clock(1e-8)
    sim.add_testbench(bench)
    sim.run()
    assert seen == [(1, is_beyond)] * 4


@pytest.mark.parametrize("kind", [MemoryArbiter, OnChipMemory])
@pytest.mark.parametrize("size", [2048, 12288])
def test_wrong_sizes(kind, size):
    message = f"memory_bytes must be a power of two, at least 4096, not {size}"
    with pytest.raises(ValueError, match=f"^{message}$"):
        kind(preset("nano"), size)
