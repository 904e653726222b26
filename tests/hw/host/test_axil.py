import random

import pytest

from celosia_hw.bus.axi import OKAY, SLVERR
from celosia_hw.host.axil import READ_CYCLES, AxiLiteResponder
from hw.engine import Simulator


def simulate(dut, *testbenches, background=()):
    sim = Simulator(dut)
    sim.add_clock(1e-6)
    for testbench in testbenches:
        sim.add_testbench(testbench)
    for testbench in background:
        sim.add_testbench(testbench, background=True)
    sim.run()


async def put(ctx, channel, payload, idle=0):
    for _ in range(idle):
        await ctx.tick()
    ctx.set(channel.payload, payload)
    ctx.set(channel.valid, 1)
    await ctx.tick().until(channel.ready)
    ctx.set(channel.valid, 0)


async def get(ctx, channel, idle=0):
    for _ in range(idle):
        await ctx.tick()
    ctx.set(channel.ready, 1)
    payload, = await ctx.tick().sample(channel.payload).until(channel.valid)
    ctx.set(channel.ready, 0)
    return payload


def random_writes(rng, count):
    """Address, data, strobes; most of them whole words."""
    for _ in range(count):
        address = rng.randrange(1024) << 2 | (rng.randrange(4) if rng.random() < 0.2 else 0)
        strobes = rng.randrange(16) if rng.random() < 0.2 else 0xF
        yield address, rng.getrandbits(32), strobes


@pytest.mark.parametrize("most_idle", [0, 4])
def test_writes_in_any_channel_order(most_idle):
    dut = AxiLiteResponder()
    writes = list(random_writes(random.Random(1), 80))
    responses, seen = [], []

    def idle(seed):
        rng = random.Random(seed)
        return lambda: rng.randrange(most_idle + 1)

    async def addresses(ctx):
        gap = idle(2)
        for address, _, _ in writes:
            await put(ctx, dut.axil.aw, address, gap())

    async def words(ctx):
        gap = idle(3)
        for _, value, strobes in writes:
            await put(ctx, dut.axil.w, {"data": value, "strb": strobes}, gap())

    async def answers(ctx):
        gap = idle(4)
        for _ in writes:
            responses.append(await get(ctx, dut.axil.b, gap()))

    async def register_file(ctx):
        async for _, _, write, word, value in ctx.tick().sample(
                dut.write, dut.write_word, dut.write_data):
            if write:
                seen.append((word, value))

    async def refuse(ctx):  # every word whose lowest bit is set
        async for word, in ctx.changed(dut.write_word):
            ctx.set(dut.write_error, word & 1)

    simulate(dut, addresses, words, answers, background=(register_file, refuse))
    whole = [(address, value) for address, value, strobes in writes
             if address % 4 == 0 and strobes == 0xF]
    assert seen == [(address >> 2, value) for address, value in whole]
    assert responses == [OKAY if (address, value) in whole and address >> 2 & 1 == 0 else SLVERR
                         for address, value, _ in writes]


@pytest.mark.parametrize("most_idle", [0, 4])
def test_reads(most_idle):
    dut = AxiLiteResponder()
    rng = random.Random(5)
    reads = [rng.randrange(4096) if rng.random() < 0.3 else rng.randrange(1024) << 2
             for _ in range(80)]
    answers = []

    async def addresses(ctx):
        gap = random.Random(6)
        for address in reads:
            await put(ctx, dut.axil.ar, address, gap.randrange(most_idle + 1))

    async def collect(ctx):
        gap = random.Random(7)
        for _ in reads:
            answer = await get(ctx, dut.axil.r, gap.randrange(most_idle + 1))
            answers.append((answer.data, answer.resp))

    async def register_file(ctx):  # data are there in one cycle only
        since = READ_CYCLES
        async for _, _, read, word in ctx.tick().sample(dut.read, dut.read_word):
            since = 1 if read else since + 1
            ctx.set(dut.read_data, word * 0x1001 if since == READ_CYCLES else 0xDEAD)
            ctx.set(dut.read_error, since != READ_CYCLES or word % 3 == 0)

    simulate(dut, addresses, collect, background=(register_file,))
    assert answers == [
        (0, SLVERR) if address % 4 or address // 4 % 3 == 0 else (address // 4 * 0x1001, OKAY)
        for address in reads]


def test_payloads_are_stable_until_taken():
    dut = AxiLiteResponder()

    async def stall(ctx):
        await put(ctx, dut.axil.aw, 0x40)
        await put(ctx, dut.axil.w, {"data": 1, "strb": 0xF})
        await put(ctx, dut.axil.ar, 0x44)
        ctx.set(dut.read_data, 7)
        await ctx.tick().until(dut.axil.r.valid)
        ctx.set(dut.read_data, 8)
        ctx.set(dut.write_error, 1)
        for _ in range(10):
            await ctx.tick()
            assert ctx.get(dut.axil.b.valid)
            assert ctx.get(dut.axil.b.payload) == OKAY
            assert ctx.get(dut.axil.r.valid)
            assert ctx.get(dut.axil.r.payload.data) == 7
            assert not ctx.get(dut.axil.ar.ready)
        assert await get(ctx, dut.axil.b) == OKAY
        assert (await get(ctx, dut.axil.r)).data == 7
        await ctx.tick().repeat(2)
        assert not ctx.get(dut.axil.b.valid)
        assert not ctx.get(dut.axil.r.valid)

    simulate(dut, stall)


@pytest.mark.parametrize("waits", [0, 1, 5, 20])
def test_every_write_is_answered_however_late_its_response_is_taken(waits):
    dut = AxiLiteResponder()
    answers, seen = [], []

    async def addresses(ctx):
        for address in (0x40, 0x44, 0x48):
            await put(ctx, dut.axil.aw, address)

    async def words(ctx):
        for value in range(3):
            await put(ctx, dut.axil.w, {"data": value, "strb": 0xF})

    async def responses(ctx):
        for taken in range(3):
            await ctx.tick().until(dut.axil.b.valid)
            for _ in range(waits):
                await ctx.tick()
                assert len(seen) == taken + 1, "a write took effect before that was answered"
            answers.append(await get(ctx, dut.axil.b))

    async def register_file(ctx):
        async for _, _, write, word in ctx.tick().sample(dut.write, dut.write_word):
            ctx.set(dut.write_error, word == 0x11)  # while the next write is on its way
            if write:
                seen.append(word)

    simulate(dut, addresses, words, responses, background=(register_file,))
    assert seen == [0x10, 0x11, 0x12]
    assert answers == [OKAY, SLVERR, OKAY]
