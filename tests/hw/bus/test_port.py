import numpy as np
import pytest

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import FETCH_ID, LOAD_ID
from celosia_hw.bus.port import MemoryPort
from hw.axi_agent import AxiMemory
from hw.engine import Simulator

CONFIG = TpuConfig("test", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=8)
SMALL = TpuConfig("small", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=8,
                  banks=1)
SIZE = 1 << 14


async def offer(ctx, channel, payload) -> None:
    """Offer a payload until it is taken."""
    ctx.set(channel.payload, payload)
    ctx.set(channel.valid, 1)
    ready = 0
    while not ready:
        _, _, ready = await ctx.tick().sample(channel.ready)
    ctx.set(channel.valid, 0)


def simulate(port: MemoryPort, *benches, memory: AxiMemory | None = None) -> None:
    simulator = Simulator(port)
    simulator.add_clock(1e-6)
    if memory is not None:
        simulator.add_testbench(memory.run, background=True)
    for bench in benches:
        simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("config", [CONFIG, SMALL], ids=lambda config: config.name)
def test_beats_reach_their_manager(config):
    port, rng = MemoryPort(config), np.random.default_rng(5)
    memory = AxiMemory(8, 4096, rng, read=port.read, busy=0.3, latency=5)
    words = memory.data.view(np.uint64).tolist()
    asked = {name: [(int(rng.integers(0, 400)), int(rng.integers(0, 8))) for _ in range(60)]
             for name in ("load", "fetch")}

    def manager(name: str, ident: int):
        axi, received = getattr(port, name), []

        async def ask(ctx):
            for word, length in asked[name]:
                while rng.random() < (0.8 if name == "fetch" else 0.1):
                    await ctx.tick()
                await offer(ctx, axi.ar, {"addr": 8 * word, "len": length, "id": ident})

        async def receive(ctx):
            """Take beats; fetch takes all that are its own."""
            expected = [words[word + k] for word, length in asked[name] for k in range(length + 1)]
            while len(received) < len(expected):
                takes = name == "fetch" or rng.random() < 0.6
                ctx.set(axi.r.ready, takes if name == "load" else 0)  # fetch's is not looked at
                _, _, valid, beat = await ctx.tick().sample(axi.r.valid, axi.r.payload)
                if valid and takes and beat.id == ident:
                    received.append(beat.data)
            assert received == expected

        return ask, receive

    simulate(port, *manager("load", LOAD_ID), *manager("fetch", FETCH_ID), memory=memory)


def test_fetch_goes_first():
    port, order = MemoryPort(CONFIG), []

    async def ask(ctx):
        ctx.set(port.load.ar.payload, {"addr": 64, "len": 0, "id": LOAD_ID})
        ctx.set(port.load.ar.valid, 1)
        await offer(ctx, port.fetch.ar, {"addr": 64, "len": 0, "id": FETCH_ID})

    async def bench(ctx):
        for cycle in range(6):
            ctx.set(port.read.ar.ready, cycle > 1)
            _, _, valid, ident = await ctx.tick().sample(
                port.read.ar.valid, port.read.ar.payload.id)
            if valid:
                order.append(ident)

    simulate(port, ask, bench)
    assert order == [FETCH_ID, FETCH_ID, LOAD_ID, LOAD_ID, LOAD_ID]


def test_a_load_that_is_offered_stays():
    """And one that is taken, but not yet offered on the bus, does not go before fetch."""
    port, order = MemoryPort(CONFIG), []

    async def bench(ctx):
        for channel, ident in ((port.load.ar, LOAD_ID), (port.fetch.ar, FETCH_ID)):
            ctx.set(channel.payload, {"addr": 64, "len": 0, "id": ident})
        taken = 0
        for cycle in range(7):
            ctx.set(port.read.ar.ready, cycle > 3)
            ctx.set(port.load.ar.valid, taken < 2)
            ctx.set(port.fetch.ar.valid, cycle in (2, 3, 4, 5))
            _, _, valid, ident, ready, told = await ctx.tick().sample(
                port.read.ar.valid, port.read.ar.payload.id, port.load.ar.ready,
                port.fetch.ar.ready)
            taken += ready and taken < 2
            order.append(ident if valid else None)
            assert told == (cycle == 5)

    simulate(port, bench)
    assert order == [None, LOAD_ID, LOAD_ID, LOAD_ID, LOAD_ID, FETCH_ID, LOAD_ID]


def offered(name: str, ident: int, count: int, cycles: int) -> list[int | None]:
    """Return what the bus is offered in each cycle of so many bursts by a manager: which one."""
    port, bursts = MemoryPort(CONFIG), []

    async def ask(ctx):
        for i in range(count):
            await offer(ctx, getattr(port, name).ar, {"addr": 64 * i, "len": 0, "id": ident})

    async def bench(ctx):
        ctx.set(port.read.ar.ready, 1)
        for _ in range(cycles):
            _, _, valid, address = await ctx.tick().sample(
                port.read.ar.valid, port.read.ar.payload.addr)
            bursts.append(address // 64 if valid else None)

    simulate(port, ask, bench)
    return bursts


def test_fetch_asks_every_other_cycle():
    assert offered("fetch", FETCH_ID, 5, 12) == [
        None, 0, None, 1, None, 2, None, 3, None, 4, None, None]


def test_a_read_burst_a_cycle():
    assert offered("load", LOAD_ID, 20, 22) == [None, *range(20), None]


@pytest.mark.parametrize("config", [CONFIG, SMALL], ids=lambda config: config.name)
@pytest.mark.parametrize("busy", [0, 0.4])
def test_write_burst_and_data_in_step(config, busy):
    """A burst a cycle passes, and data follow without a gap."""
    port = MemoryPort(config)
    memory = AxiMemory(8, SIZE, np.random.default_rng(1), write=port.write, early_data=True,
                       busy=busy)

    async def addresses(ctx):
        for i in range(40):
            await offer(ctx, port.store.aw, {"addr": 64 * i, "len": i % 3, "id": 0})

    async def beats(ctx):
        for i in range(40):
            for k in range(i % 3 + 1):
                await offer(ctx, port.store.w,
                            {"data": 100 * i + k, "strb": 0xFF, "last": k == i % 3})
        for _ in range(100):
            if ctx.get(port.drained):
                break
            await ctx.tick()
        assert ctx.get(port.drained)

    simulate(port, addresses, beats, memory=memory)
    words = memory.data.view(np.uint64)
    for i in range(40):
        assert words[8 * i:8 * i + i % 3 + 1].tolist() == [100 * i + k for k in range(i % 3 + 1)]
    cycles = memory.write_cycles
    assert len(cycles) == sum(i % 3 + 1 for i in range(40))
    assert busy or cycles == list(range(cycles[0], cycles[0] + len(cycles)))


def test_at_most_255_reads_are_outstanding():
    port = MemoryPort(CONFIG)
    memory = AxiMemory(8, SIZE, np.random.default_rng(1), read=port.read, latency=300)
    most = 0

    async def addresses(ctx):
        for i in range(300):
            await offer(ctx, port.load.ar, {"addr": 8 * i, "len": 0, "id": LOAD_ID})

    async def beats(ctx):
        nonlocal most
        ctx.set(port.load.r.ready, 1)
        received = 0
        while received < 300:
            _, _, valid = await ctx.tick().sample(port.load.r.valid)
            received += valid
            most = max(most, memory.reads_open)
        assert ctx.get(port.drained)

    simulate(port, addresses, beats, memory=memory)
    assert most == 255


def test_beats_are_told_a_cycle_later():
    port, rng = MemoryPort(CONFIG), np.random.default_rng(2)
    memory = AxiMemory(8, SIZE, rng, port.read, port.write, busy=0.4,
                       early_data=True)
    told = {"read": [], "write": []}

    async def ask(ctx):
        for i in range(20):
            await offer(ctx, port.load.ar, {"addr": 64 * i, "len": 1, "id": LOAD_ID})

    async def send(ctx):
        for i in range(20):
            await offer(ctx, port.store.aw, {"addr": 64 * i, "len": 0, "id": 0})
            await offer(ctx, port.store.w, {"data": i, "strb": 0xFF, "last": 1})

    async def watch(ctx):
        for cycle in range(400):
            ctx.set(port.load.r.ready, rng.random() < 0.7)
            _, _, read, write = await ctx.tick().sample(port.read_beat, port.write_beat)
            for name, moved in (("read", read), ("write", write)):
                if moved:
                    told[name].append(cycle - 1)

    simulate(port, ask, send, watch, memory=memory)
    assert told == {"read": memory.read_cycles, "write": memory.write_cycles}
    assert [len(cycles) for cycles in told.values()] == [40, 20]
