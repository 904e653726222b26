import numpy as np

from celosia.arch.config import TpuConfig
from celosia_hw.bus.arbiter import ReadArbiter
from celosia_hw.bus.axi import FETCH_ID, LOAD_ID
from hw.axi_agent import AxiMemory
from hw.engine import Simulator

CONFIG = TpuConfig("test", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=8)


def test_beats_reach_their_manager():
    arbiter, rng = ReadArbiter(CONFIG), np.random.default_rng(5)
    memory = AxiMemory(8, 4096, rng, read=arbiter.bus, busy=0.3, latency=5)
    words = memory.data.view(np.uint64).tolist()
    received = {"load": [], "fetch": []}
    asked = {name: [(int(rng.integers(0, 400)), int(rng.integers(0, 8))) for _ in range(60)]
             for name in received}

    def manager(name: str, ident: int):
        port = getattr(arbiter, name)

        async def ask(ctx):
            for word, length in asked[name]:
                while rng.random() < (0.8 if name == "fetch" else 0.1):
                    await ctx.tick()
                ctx.set(port.ar.payload, {"addr": 8 * word, "len": length, "id": ident})
                ctx.set(port.ar.valid, 1)
                ready = 0
                while not ready:
                    _, _, ready = await ctx.tick().sample(port.ar.ready)
                ctx.set(port.ar.valid, 0)

        async def receive(ctx):
            expected = [words[word + k] for word, length in asked[name] for k in range(length + 1)]
            while len(received[name]) < len(expected):
                ctx.set(port.r.ready, rng.random() < 0.6)
                _, _, valid, ready, data = await ctx.tick().sample(
                    port.r.valid, port.r.ready, port.r.payload.data)
                if valid and ready:
                    received[name].append(data)
            assert received[name] == expected

        return ask, receive

    simulator = Simulator(arbiter)
    simulator.add_clock(1e-6)
    simulator.add_testbench(memory.run, background=True)
    for bench in (*manager("load", LOAD_ID), *manager("fetch", FETCH_ID)):
        simulator.add_testbench(bench)
    simulator.run()


def test_fetch_goes_first():
    arbiter = ReadArbiter(CONFIG)
    order = []

    async def bench(ctx):
        for port, ident in ((arbiter.load, LOAD_ID), (arbiter.fetch, FETCH_ID)):
            ctx.set(port.ar.payload, {"addr": 64, "len": 0, "id": ident})
            ctx.set(port.ar.valid, 1)
        for cycle in range(6):
            ctx.set(arbiter.bus.ar.ready, cycle > 1)
            _, _, valid, ident, taken = await ctx.tick().sample(
                arbiter.bus.ar.valid, arbiter.bus.ar.payload.id, arbiter.fetch.ar.ready)
            if valid:
                order.append(ident)
            if taken:
                ctx.set(arbiter.fetch.ar.valid, 0)

    simulator = Simulator(arbiter)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert order == [FETCH_ID, FETCH_ID, FETCH_ID, LOAD_ID, LOAD_ID, LOAD_ID]


def test_a_load_that_is_offered_stays():
    arbiter = ReadArbiter(CONFIG)
    order = []

    async def bench(ctx):
        for port, ident in ((arbiter.load, LOAD_ID), (arbiter.fetch, FETCH_ID)):
            ctx.set(port.ar.payload, {"addr": 64, "len": 0, "id": ident})
        ctx.set(arbiter.load.ar.valid, 1)
        for cycle in range(5):
            ctx.set(arbiter.bus.ar.ready, cycle > 1)
            ctx.set(arbiter.fetch.ar.valid, cycle > 0)
            _, _, ident = await ctx.tick().sample(arbiter.bus.ar.payload.id)
            order.append(ident)

    simulator = Simulator(arbiter)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert order == [LOAD_ID, LOAD_ID, LOAD_ID, FETCH_ID, FETCH_ID]
