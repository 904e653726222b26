"""The engines behind the memory port: aborts at any time, and work as usual after the reset."""

import numpy as np
import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import wiring

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia_hw.bus.axi import FETCH_ID, LOAD_ID
from celosia_hw.bus.port import MemoryPort
from celosia_hw.dma.load import LoadEngine
from celosia_hw.dma.store import StoreEngine
from hw.axi_agent import AxiMemory
from hw.engine import Simulator
from hw.keeper import Keeper

CONFIG = TpuConfig("test", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=8)
SMALL = TpuConfig("small", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=8,
                  banks=1)
SIZE = 1 << 14


class Chip(wiring.Component):
    """Both engines and a fetch behind the memory port."""

    def __init__(self, config: TpuConfig):
        super().__init__({})
        self.load, self.store = LoadEngine(config), StoreEngine(config)
        self.bus, self.reset = MemoryPort(config), Signal()

    def elaborate(self, platform):
        m = Module()
        m.submodules.bus = self.bus
        for name in ("load", "store"):
            engine = getattr(self, name)
            m.submodules[name] = ResetInserter(self.reset)(engine)
            wiring.connect(m, engine.axi, getattr(self.bus, name))
            m.d.comb += engine.abort.eq(self.bus.abort)
        return m


def dma(addr: int, rows: int, cols: int, pitch: int, row_step: int = 1) -> dict[str, int]:
    return {"mem": Mem.ACC, "fmt": DmaFormat.W32, "row": 0, "addr": addr, "rows": rows,
            "cols": cols, "pitch": pitch, "row_step": row_step, "group_step": 1}


async def feed(ctx, port, command, count):
    """Offer a command ``count`` times."""
    ctx.set(port.command.payload, command)
    ctx.set(port.command.valid, 1)
    while count:
        _, _, ready = await ctx.tick().sample(port.command.ready)
        count -= ready
    ctx.set(port.command.valid, 0)


@pytest.mark.parametrize("config", [CONFIG, SMALL], ids=lambda config: config.name)
@pytest.mark.parametrize("wants_data", [False, True])
@pytest.mark.parametrize("busy", [0, 0.5])
def test_abort_at_any_time(busy, wants_data, config):
    chip, rng = Chip(config), np.random.default_rng(3)
    bus = chip.bus
    memory = AxiMemory(8, SIZE, rng, bus.read, bus.write, latency=9, busy=busy,
                       early_data=True, wants_data=wants_data)
    fetched, written = [], {}
    load, store, fetch = chip.load, chip.store, bus.fetch
    aborted_with_open, stuck = 0, False

    async def fetcher(ctx):
        """Fetch two beats now and then."""
        ctx.set(fetch.ar.payload, {"addr": 0x1000, "len": 1, "id": FETCH_ID})
        while True:
            ctx.set(fetch.ar.valid, 1)
            taken = 0
            while not taken:
                _, _, taken = await ctx.tick().sample(fetch.ar.ready)
            ctx.set(fetch.ar.valid, 0)
            for _ in range(20):
                _, _, valid, beat = await ctx.tick().sample(fetch.r.valid, fetch.r.payload)
                if valid and beat.id == FETCH_ID:
                    fetched.append(beat.data)

    async def on_chip(ctx):
        aborted = 0
        keeper = Keeper(store.acc, lambda: stuck)
        ctx.set(store.acc.data, 0x44444444_33333333_22222222_11111111)
        for port in (store.acc, store.ub):
            ctx.set(port.ready, 1)
        while True:
            refused = stuck
            ctx.set(load.before.acc[0], {"valid": refused, "row": ctx.get(load.acc.addr)})
            _, _, done, aborting, reset, reads, writes, addr, data = await ctx.tick().sample(
                store.port.done, bus.abort, chip.reset, store.acc.valid & store.acc.ready,
                load.acc.valid, load.acc.addr, load.acc.data)
            keeper.answer(ctx, reads or None, reset=reset)
            if writes and not refused:
                written[addr] = data
            # What was answered before the abort is done two cycles later; nothing is after that.
            aborted = aborted + 1 if aborting else 0
            assert not (done and aborted > 2)

    async def main(ctx):
        nonlocal aborted_with_open, stuck
        for trial in range(8):
            before = memory.data.copy()
            written.clear()
            ctx.set(load.port.command.payload, dma(4, 3, 40, 0x300, row_step=10))
            ctx.set(store.port.command.payload, dma(0x2004, 3, 40, 0x300, row_step=10))
            ctx.set(load.port.command.valid, 1)
            ctx.set(store.port.command.valid, 1)
            for cycle in range(trial * 11):
                # Every other time the managers, stuck, give no data and take none.
                stuck = trial % 2 == 1 and cycle > trial * 5
                await ctx.tick()
            stuck &= trial % 4 == 1  # of those, every other time, only until the abort
            aborted_with_open += memory.writes_open > 0
            ctx.set(bus.abort, 1)
            await ctx.tick()
            seen = len(memory.reads), len(memory.writes)
            offered = ctx.get(bus.read.ar.valid), ctx.get(bus.write.aw.valid)
            for _ in range(3000):
                if ctx.get(bus.drained):
                    break
                await ctx.tick()
            assert ctx.get(bus.drained)
            assert not memory.reads_open
            assert not memory.writes_open
            assert not memory.held
            assert len(memory.reads) - seen[0] <= offered[0]
            assert len(memory.writes) - seen[1] <= offered[1]
            # Loads wrote what they were to write, however long they go on: row 10 m + g, of which
            # every command writes the same.
            stuck = False
            await ctx.tick().repeat(20)
            words = before.view(np.uint32)
            for at, row in written.items():
                first = 1 + at // 10 * (0x300 // 4) + at % 10 * 4
                assert row == sum(int(words[first + k]) << 32 * k for k in range(4))
            assert ctx.get(bus.drained)
            # Stores wrote what they were to write, or nothing.
            changed = np.flatnonzero(memory.data != before)
            assert set(memory.data[changed].tolist()) <= {0x11, 0x22, 0x33, 0x44}
            assert all(0x2004 <= at < 0x2004 + 0x600 + 160 for at in changed)
            ctx.set(load.port.command.valid, 0)
            ctx.set(store.port.command.valid, 0)
            ctx.set(chip.reset, 1)
            await ctx.tick()
            ctx.set(chip.reset, 0)
            ctx.set(bus.abort, 0)
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
