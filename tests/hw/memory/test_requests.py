"""Requests of both memories, which keep what they refuse: their order, their cycles, their tags."""

import random

import pytest

from celosia.arch.config import TpuConfig
from celosia_hw.memory.ports import READ_LATENCY
from celosia_hw.memory.requests import ReadRequests, WriteRequests
from hw.engine import Simulator
from hw.keeper import Keeper

CONFIG = TpuConfig("requests", dim=2, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4)
LANES, BITS = CONFIG.dim, CONFIG.lane_bits
PATTERNS = [(1, 1), (0.5, 1), (1, 0.4), (0.3, 0.7)]


def run(component, *testbenches):
    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    *background, last = testbenches
    for each in background:
        simulator.add_testbench(each, background=True)
    simulator.add_testbench(last)
    simulator.run()


def feed(component, payloads, offers=1.0, seed=1):
    """Offer payloads in order; returns the testbench and the cycles in which they were taken."""
    rng, taken, stream = random.Random(seed), [], component.i

    async def process(ctx):
        cycle = 0
        for payload in payloads:
            while rng.random() >= offers:
                await ctx.tick()
                cycle += 1
            ctx.set(stream.payload, payload)
            ctx.set(stream.valid, 1)
            ready = 0
            while not ready:
                *_, ready = await ctx.tick().sample(stream.ready)
                cycle += 1
            taken.append(cycle - 1)
            ctx.set(stream.valid, 0)

    return process, taken


def read(requests, grants=1.0, offers=1.0):
    """Return cycles in which requests were taken, and (cycle, memory, tag, row) as they arrive."""
    dut, rng, arrived = ReadRequests(6, LANES * BITS, LANES * 32, 8), random.Random(2), []
    process, taken = feed(dut, requests, offers)

    def memory(port, said):
        async def serve(ctx):
            pipeline = [0] * (READ_LATENCY - 1)
            keeper = Keeper(port, lambda: rng.random() >= grants)
            ctx.set(port.ready, 1)
            while True:
                *_, valid, ready, row = await ctx.tick().sample(port.valid, port.ready, port.addr)
                row = keeper.answer(ctx, row if valid and ready else None)
                pipeline.append(0 if row is None else said + row)
                ctx.set(port.data, pipeline.pop(0))
        return serve

    async def watch(ctx):
        for cycle in range(40 * len(requests)):
            _, _, arrives, ub, acc, tag, *data, granted, refused = await ctx.tick().sample(
                dut.arrives, dut.from_ub, dut.from_acc, dut.tag, dut.ub.data, dut.acc.data,
                dut.granted, dut.refused)
            assert not granted or not refused
            if arrives:
                assert not (ub and acc)
                assert not data[0] or not data[1]
                arrived.append((cycle, "ub" if ub else "acc" if acc else "", tag, sum(data)))
            if len(arrived) == len(requests):
                break

    run(dut, process, memory(dut.ub, 100), memory(dut.acc, 200), watch)
    return taken, arrived


def asked(*memories):
    return [{"ub": memory == "ub", "acc": memory == "acc", "addr": 3 * i % 64, "tag": i}
            for i, memory in enumerate(memories)]


@pytest.mark.parametrize(("grants", "offers"), PATTERNS)
def test_rows_arrive_in_the_order_of_their_requests(grants, offers):
    rng = random.Random(7)
    memories = [rng.choice(["ub", "acc", ""]) for _ in range(20)] + ["ub"] * 9 + ["acc"] * 9
    taken, arrived = read(asked(*memories), grants, offers)
    assert [row for _, *row in arrived] == [
        [memory, i, {"ub": 100, "acc": 200}[memory] + 3 * i % 64 if memory else 0]
        for i, memory in enumerate(memories)]
    assert all(cycle >= at + READ_LATENCY for at, (cycle, *_) in zip(taken, arrived, strict=True))


def test_a_row_a_cycle_and_a_cycle_between_the_memories():
    taken, arrived = read(asked("ub", "ub", "ub", "acc", "acc", "ub"))
    assert taken == [0, 1, 2, 4, 5, 7]
    assert [cycle for cycle, *_ in arrived] == [cycle + READ_LATENCY for cycle in taken]
    # A row of neither waits for the memory as well, but nothing waits for it.
    assert read(asked("acc", "", "", "ub"))[0] == [0, 2, 3, 4]


def write(rows, grants=1.0, offers=1.0):
    """Return cycles in which rows were taken, rows as they are written, and what was said."""
    dut, rng = WriteRequests(CONFIG), random.Random(2)
    process, taken = feed(dut, rows, offers)
    written, said, cycles, pending = [], [], [], []

    def memory(port, name, bits):
        async def serve(ctx):
            keeper, cycle = Keeper(port, lambda: rng.random() >= grants), 0
            ctx.set(port.ready, 1)
            while True:
                _, _, valid, ready, *row = await ctx.tick().sample(
                    port.valid, port.ready, port.addr, port.data)
                granted = keeper.answer(ctx, row if valid and ready else None)
                if granted:
                    address, value = granted
                    written.append((name, address, [value >> bits * k & (1 << bits) - 1
                                                    for k in range(LANES)]))
                    cycles.append(cycle)
                cycle += 1
        return serve

    async def watch(ctx):
        for cycle in range(40 * len(rows)):
            _, _, wrote, last, error, waits, row = await ctx.tick().sample(
                dut.wrote, dut.last, dut.error, dut.pending, dut.row)
            if wrote:
                said.append((last, error))
                assert cycles[len(said) - 1] == cycle - 1
            if waits:
                pending.append(row)
            if len(said) == len(rows):
                break

    run(dut, process, memory(dut.ub, "ub", BITS), memory(dut.acc, "acc", 32), watch)
    return taken, written, said, pending


def brought(memories, rng):
    return [{"ub": memory == "ub", "address": rng.randrange(64), "last": rng.random() < 0.3,
             "error": rng.random() < 0.3, "lanes": rng.getrandbits(32 * LANES)}
            for memory in memories]


@pytest.mark.parametrize(("grants", "offers"), PATTERNS)
def test_rows_are_written_in_their_order_and_told_of(grants, offers):
    rng = random.Random(3)
    memories = [rng.choice(["ub", "acc"]) for _ in range(20)] + ["acc"] * 9 + ["ub"] * 9
    rows = brought(memories, rng)
    _, written, said, pending = write(rows, grants, offers)
    bits = {"ub": BITS, "acc": 32}
    assert written == [
        (memory, row["address"], [row["lanes"] >> 32 * k & (1 << bits[memory]) - 1
                                  for k in range(LANES)])
        for memory, row in zip(memories, rows, strict=True)]
    assert said == [(row["last"], row["error"]) for row in rows]
    # Rows of the accumulators may not have been written in the cycle after they were taken.
    found = iter(pending)
    assert all(row["address"] in found
               for memory, row in zip(memories, rows, strict=True) if memory == "acc")


def test_a_row_is_written_in_each_cycle_and_none_between_the_memories():
    rows = brought(["ub", "ub", "acc", "acc", "ub"], random.Random(4))
    taken, *_ = write(rows)
    assert taken == [0, 1, 3, 4, 6]
