"""The engines behind arbiter and guard: aborts at any time, and work as usual after the reset."""

import numpy as np
import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import wiring

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia_hw.bus.arbiter import ReadArbiter
from celosia_hw.bus.axi import FETCH_ID, LOAD_ID
from celosia_hw.bus.guard import AxiGuard
from celosia_hw.dma.load import LoadEngine
from celosia_hw.dma.store import StoreEngine
from hw.axi_agent import AxiMemory
from hw.engine import Simulator

CONFIG = TpuConfig("test", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=8)
SIZE = 1 << 14


class Chip(wiring.Component):
    """Both engines and a fetch port behind arbiter and guard."""

    def __init__(self):
        super().__init__({})
        self.load, self.store = LoadEngine(CONFIG), StoreEngine(CONFIG)
        self.arbiter, self.guard = ReadArbiter(CONFIG), AxiGuard(CONFIG)
        self.reset = Signal()

    def elaborate(self, platform):
        m = Module()
        for name in ("load", "store", "arbiter"):
            m.submodules[name] = ResetInserter(self.reset)(getattr(self, name))
        m.submodules.guard = self.guard
        wiring.connect(m, self.load.axi, self.arbiter.load)
        wiring.connect(m, self.arbiter.bus, self.guard.i_read)
        wiring.connect(m, self.store.axi, self.guard.i_write)
        return m


def dma(addr: int, rows: int, cols: int, pitch: int) -> dict[str, int]:
    return {"mem": Mem.ACC, "fmt": DmaFormat.W32, "row": 0, "addr": addr, "rows": rows,
            "cols": cols, "pitch": pitch, "row_step": 1, "group_step": 1}


async def feed(ctx, port, command, count):
    """Offer a command ``count`` times."""
    ctx.set(port.command.payload, command)
    ctx.set(port.command.valid, 1)
    while count:
        _, _, ready = await ctx.tick().sample(port.command.ready)
        count -= ready
    ctx.set(port.command.valid, 0)


@pytest.mark.parametrize("wants_data", [False, True])
@pytest.mark.parametrize("busy", [0, 0.5])
def test_abort_at_any_time(busy, wants_data):
    chip, rng = Chip(), np.random.default_rng(3)
    memory = AxiMemory(8, SIZE, rng, chip.guard.o_read, chip.guard.o_write, latency=9, busy=busy,
                       early_data=True, wants_data=wants_data)
    fetched, written = [], {}
    load, store, fetch, guard = chip.load, chip.store, chip.arbiter.fetch, chip.guard
    aborted_with_open, stuck = 0, False

    async def fetcher(ctx):
        """Fetch two beats now and then."""
        ctx.set(fetch.r.ready, 1)
        ctx.set(fetch.ar.payload, {"addr": 0x1000, "len": 1, "id": FETCH_ID})
        while True:
            ctx.set(fetch.ar.valid, 1)
            taken = 0
            while not taken:
                _, _, taken = await ctx.tick().sample(fetch.ar.ready)
            ctx.set(fetch.ar.valid, 0)
            for _ in range(20):
                _, _, valid, data = await ctx.tick().sample(fetch.r.valid, fetch.r.payload.data)
                if valid:
                    fetched.append(data)

    async def on_chip(ctx):
        ctx.set(store.acc.data, 0x44444444_33333333_22222222_11111111)
        while True:
            ready = not stuck and not ctx.get(guard.abort)
            ctx.set(load.acc.ready, ready)
            ctx.set(store.acc.ready, ready)
            _, _, valid, addr, data, *unseen = await ctx.tick().sample(
                load.acc.valid, load.acc.addr, load.acc.data, guard.i_read.r.valid,
                guard.i_write.b.valid)
            if valid and ready:
                written[addr] = data
            assert not (ctx.get(guard.abort) and any(unseen))

    async def main(ctx):
        nonlocal aborted_with_open, stuck
        for trial in range(8):
            before = memory.data.copy()
            ctx.set(load.port.command.payload, dma(4, 3, 40, 0x300))
            ctx.set(store.port.command.payload, dma(0x2004, 3, 40, 0x300))
            ctx.set(load.port.command.valid, 1)
            ctx.set(store.port.command.valid, 1)
            for cycle in range(trial * 11):
                # Every other time the managers, stuck, give no data and take none.
                stuck = trial % 2 == 1 and cycle > trial * 5
                await ctx.tick()
            stuck = False
            aborted_with_open += memory.writes_open > 0
            ctx.set(guard.abort, 1)
            await ctx.tick()
            seen = len(memory.reads), len(memory.writes)
            offered = ctx.get(guard.o_read.ar.valid), ctx.get(guard.o_write.aw.valid)
            for _ in range(3000):
                if ctx.get(guard.drained):
                    break
                await ctx.tick()
            assert ctx.get(guard.drained)
            assert not memory.reads_open
            assert not memory.writes_open
            assert not memory.held
            assert len(memory.reads) - seen[0] <= offered[0]
            assert len(memory.writes) - seen[1] <= offered[1]
            # Stores wrote what they were to write, or nothing.
            changed = np.flatnonzero(memory.data != before)
            assert set(memory.data[changed].tolist()) <= {0x11, 0x22, 0x33, 0x44}
            assert all(0x2004 <= at < 0x2004 + 0x600 + 160 for at in changed)
            ctx.set(load.port.command.valid, 0)
            ctx.set(store.port.command.valid, 0)
            ctx.set(chip.reset, 1)
            await ctx.tick()
            ctx.set(chip.reset, 0)
            ctx.set(guard.abort, 0)
            # The chip works as usual.
            written.clear()
            memory.data[0x2000:0x2100] = rng.integers(0, 256, 0x100, dtype=np.uint8)
            before = memory.data.copy()
            await feed(ctx, load.port, dma(12, 2, 4, 20), 1)
            await feed(ctx, store.port, dma(0x200C, 2, 4, 20), 1)
            pending = {"load": load.port, "store": store.port}
            for _ in range(1000):
                for name, port in list(pending.items()):
                    if ctx.get(port.done):
                        assert not ctx.get(port.error)
                        del pending[name]
                if not pending:
                    break
                await ctx.tick()
            assert not pending
            words = before.view(np.uint32)
            assert written == {m: sum(int(words[3 + 5 * m + k]) << 32 * k for k in range(4))
                               for m in range(2)}
            for m in range(2):
                at = 0x200C + 20 * m
                before[at:at + 16] = np.repeat([0x11, 0x22, 0x33, 0x44], 4)
            np.testing.assert_array_equal(memory.data, before)
            await ctx.tick()

    simulator = Simulator(chip)
    simulator.add_clock(1e-6)
    for bench in (memory.run, fetcher, on_chip):
        simulator.add_testbench(bench, background=True)
    simulator.add_testbench(main)
    simulator.run()
    assert aborted_with_open > 5
    assert fetched
    instruction = memory.data[0x1000:0x1010].view(np.uint64).tolist()
    assert set(fetched) == set(instruction)
    assert {ident for _, _, ident in memory.reads} == {LOAD_ID, FETCH_ID}


def test_write_burst_and_data_in_step():
    """A burst a cycle passes, and data follow without a gap."""
    guard = AxiGuard(CONFIG)
    memory = AxiMemory(8, SIZE, np.random.default_rng(1), write=guard.o_write, early_data=True)

    async def addresses(ctx):
        aw = guard.i_write.aw
        for i in range(40):
            ctx.set(aw.payload, {"addr": 64 * i, "len": i % 3, "id": 0})
            ctx.set(aw.valid, 1)
            ready = 0
            while not ready:
                _, _, ready = await ctx.tick().sample(aw.ready)
        ctx.set(aw.valid, 0)

    async def beats(ctx):
        w = guard.i_write.w
        ctx.set(guard.i_write.b.ready, 1)
        ctx.set(w.valid, 1)
        for i in range(40):
            for k in range(i % 3 + 1):
                ctx.set(w.payload, {"data": 100 * i + k, "strb": 0xFF, "last": k == i % 3})
                ready = 0
                while not ready:
                    _, _, ready = await ctx.tick().sample(w.ready)
        ctx.set(w.valid, 0)
        await ctx.tick().repeat(10)
        assert ctx.get(guard.drained)

    simulator = Simulator(guard)
    simulator.add_clock(1e-6)
    simulator.add_testbench(memory.run, background=True)
    simulator.add_testbench(addresses)
    simulator.add_testbench(beats)
    simulator.run()
    words = memory.data.view(np.uint64)
    for i in range(40):
        assert words[8 * i:8 * i + i % 3 + 1].tolist() == [100 * i + k for k in range(i % 3 + 1)]
    cycles = memory.write_cycles
    assert cycles == list(range(cycles[0], cycles[0] + len(cycles)))


def test_at_most_255_reads_are_outstanding():
    guard = AxiGuard(CONFIG)
    memory = AxiMemory(8, SIZE, np.random.default_rng(1), read=guard.o_read, latency=300)
    most = 0

    async def addresses(ctx):
        ar = guard.i_read.ar
        for i in range(300):
            ctx.set(ar.payload, {"addr": 8 * i, "len": 0, "id": 0})
            ctx.set(ar.valid, 1)
            ready = 0
            while not ready:
                _, _, ready = await ctx.tick().sample(ar.ready)
        ctx.set(ar.valid, 0)

    async def beats(ctx):
        nonlocal most
        ctx.set(guard.i_read.r.ready, 1)
        received = 0
        while received < 300:
            _, _, valid = await ctx.tick().sample(guard.i_read.r.valid)
            received += valid
            most = max(most, memory.reads_open)
        assert ctx.get(guard.drained)

    simulator = Simulator(guard)
    simulator.add_clock(1e-6)
    simulator.add_testbench(memory.run, background=True)
    simulator.add_testbench(addresses)
    simulator.add_testbench(beats)
    simulator.run()
    assert most == 255
