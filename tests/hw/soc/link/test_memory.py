"""Reader and writer of external memory behind an AXI4 memory that checks the rules."""

import functools

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from celosia.arch.config import TpuConfig
from celosia_hw.soc.link.blocks import BlockWalker
from celosia_hw.soc.link.memory_reader import MemoryReader
from celosia_hw.soc.link.memory_writer import MemoryWriter
from hw.axi_agent import AxiMemory
from hw.simulation import World

SIZE = 1 << 14


class Engine(wiring.Component):
    """A reader or a writer with the walker that it needs."""

    def __init__(self, kind, bus_bytes: int):
        super().__init__({})
        config = config_of(bus_bytes)
        self.unit, self.walker = kind(config), BlockWalker(config)

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit, m.submodules.walker = self.unit, self.walker
        reads = isinstance(self.unit, MemoryReader)
        wiring.connect(m, self.walker.o_read if reads else self.walker.o_write, self.unit.blocks)
        m.d.comb += self.walker.start.eq(self.unit.start)
        if reads:
            m.d.comb += self.unit.count.eq(self.walker.count)
        return m

    async def start(self, ctx, address: int, count: int) -> None:
        ctx.set(self.walker.address, address)
        ctx.set(self.walker.count, count)
        ctx.set(self.unit.start, 1)
        await ctx.tick()
        ctx.set(self.unit.start, 0)


@functools.cache
def world(kind, bus_bytes: int) -> World:
    """The engine of a bus, made once."""
    return World(Engine(kind, bus_bytes))


def config_of(bus_bytes: int) -> TpuConfig:
    return TpuConfig("test", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64,
                     bus_bytes=bus_bytes)


def spans(rng: np.random.Generator, count: int) -> list[tuple[int, int]]:
    """Return addresses and counts, some across pages, some short, one as long as it can be."""
    drawn = [(int(rng.integers(0, SIZE - 512)), int(rng.integers(1, 200))) for _ in range(count)]
    return [*drawn, (4096 - 5, 10), (8192 - 64, 128), (63, 1), (1, 512), (4096, 512)]


@pytest.mark.parametrize(("bus_bytes", "busy"), [(4, 0), (4, 0.5), (8, 0.3), (32, 0), (128, 0.3)])
def test_writer(bus_bytes, busy):
    made, rng = world(MemoryWriter, bus_bytes), np.random.default_rng(bus_bytes)
    engine = made.component
    writer = engine.unit
    memory = AxiMemory(bus_bytes, SIZE, rng, None, writer.axi, busy=busy, early_data=True)
    wanted = memory.data.copy()

    async def bench(ctx):
        for address, count in spans(rng, 12):
            data = rng.integers(0, 256, count, dtype=np.uint8)
            wanted[address:address + count] = data
            await engine.start(ctx, address, count)
            for byte in data.tolist():
                while rng.random() < busy:
                    await ctx.tick()
                ctx.set(writer.i.payload, byte)
                ctx.set(writer.i.valid, 1)
                await ctx.tick().until(writer.i.ready)
                ctx.set(writer.i.valid, 0)
            await ctx.tick().until(writer.done)
            assert ctx.get(writer.response) == 0
            assert not memory.writes_open
            assert np.array_equal(memory.data, wanted)

    made.run(bench, memory.run)
    assert max(beats for _, beats, _ in memory.writes) * bus_bytes <= max(64, bus_bytes)


@pytest.mark.parametrize(("bus_bytes", "busy"), [(4, 0), (4, 0.5), (8, 0.3), (32, 0), (128, 0.3)])
def test_reader(bus_bytes, busy):
    made, rng = world(MemoryReader, bus_bytes), np.random.default_rng(bus_bytes)
    engine = made.component
    reader = engine.unit
    memory = AxiMemory(bus_bytes, SIZE, rng, reader.axi, latency=9, busy=busy)

    async def bench(ctx):
        for address, count in spans(rng, 12):
            await engine.start(ctx, address, count)
            heard = bytearray()
            while len(heard) < count:
                ready = rng.random() >= busy
                ctx.set(reader.o.ready, ready)
                _, _, valid, byte = await ctx.tick().sample(reader.o.valid, reader.o.payload)
                if valid and ready:
                    heard.append(byte)
            ctx.set(reader.o.ready, 1)
            assert ctx.get(reader.o.valid) == 0
            assert ctx.get(reader.response) == 0
            assert bytes(heard) == memory.data[address:address + count].tobytes()

    made.run(bench, memory.run)


def test_reader_asks_for_no_more_than_it_can_hold():
    made, rng = world(MemoryReader, 4), np.random.default_rng(0)
    engine = made.component
    reader = engine.unit
    memory = AxiMemory(4, SIZE, rng, reader.axi)

    async def bench(ctx):
        await engine.start(ctx, 0, 512)
        await ctx.tick().repeat(200)  # nobody takes a byte
        assert [beats for _, beats, _ in memory.reads] == [16, 16]
        assert not memory.reads_open

    made.run(bench, memory.run)


@pytest.mark.parametrize("bad", [0x120, 0x1FF])
@pytest.mark.parametrize("writes", [False, True])
def test_errors(writes, bad):
    made = world(MemoryWriter if writes else MemoryReader, 8)
    engine, rng = made.component, np.random.default_rng(1)
    unit = engine.unit
    memory = AxiMemory(8, SIZE, rng, *((None, unit.axi) if writes else (unit.axi,)), bad={bad},
                       early_data=True)

    async def bench(ctx):
        for address, wanted in ((0x100, 2), (0x400, 0)):
            await engine.start(ctx, address, 256)
            if writes:
                ctx.set(unit.i.valid, 1)
                await ctx.tick().until(unit.done)
                ctx.set(unit.i.valid, 0)
            else:
                ctx.set(unit.o.ready, 1)
                for _ in range(256):
                    await ctx.tick().until(unit.o.valid)
            assert ctx.get(unit.response) == wanted

    made.run(bench, memory.run)
