"""Unified buffer and accumulators between sequencer and engine, cycle by cycle against arrays."""

import random

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia_hw.soc.compact.row_memories import Accumulators, SharedMemory, UnifiedBuffer
from hw.engine import Simulator

CYCLES = 600


def run(dut, drive, wanted) -> None:
    """Drive in each cycle, and compare what comes with what was ``wanted`` so many cycles ago."""
    expected: list[list] = [[], [], []]

    async def process(ctx):
        for cycle in range(CYCLES):
            drive(ctx, cycle)
            for item in wanted(ctx):
                expected[item[0] - 1].append((cycle + item[0], *item[1:]))
            await ctx.tick()
            for queue in expected:
                while queue and queue[0][0] == cycle + 1:
                    _, signal, value = queue.pop(0)
                    assert ctx.get(signal) == value, (cycle, signal)

    sim = Simulator(dut)
    sim.add_clock(1e-6)
    sim.add_testbench(process)
    sim.run()


def sequencer(ctx, dut, rng: random.Random, words: int, content, *, whole: bool = False) -> int:
    """Ask for a word; sometimes write one that is not wanted soon. Return its number."""
    addr, strobes, data = rng.randrange(words), 0, rng.getrandbits(32)
    if rng.random() < 0.3:
        strobes = 15 if whole else rng.randrange(16)
    ctx.set(dut.addr, addr)
    ctx.set(dut.strobes, strobes)
    ctx.set(dut.data, data)
    for k in range(4):
        if strobes >> k & 1:
            content[4 * addr + k] = data >> 8 * k & 255
    return addr


@pytest.mark.parametrize(("name", "spram"), [
    ("pico", False), ("nano", False), ("edge", False), ("core4", False), ("pico", True),
    ("nano", True)])
def test_rows_of_the_unified_buffer(name, spram):
    config, rng = preset(name), random.Random(name)
    dut = SharedMemory(config, 1 << 12) if spram else UnifiedBuffer(config)
    # Few words, so that they meet; and the last of all.
    size, row_bytes = 96, config.ub_row_bits // 8
    content, outside = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    state = {"addr": 0, "row": None, "written": {}, "cycle": 0}

    def drive(ctx, cycle):
        state["cycle"] = cycle
        external = spram and rng.random() < 0.3
        if spram:
            ctx.set(dut.external, external)
        memory = outside if external else content
        before = memory.copy()
        state["row"] = rng.randrange(size // row_bytes) if rng.random() < 0.5 else None
        state["addr"] = sequencer(ctx, dut, rng, size // 4, memory)
        if spram and ctx.get(dut.strobes) and state["row"] is not None:
            state["row"] = None  # it has one port
        ctx.set(dut.ub_read, state["row"] is not None)
        ctx.set(dut.ub_row, state["row"] or 0)
        for at in np.flatnonzero(before != memory):
            state["written"][(external, int(at) // 4)] = cycle
        state["memory"], state["external"] = memory, external

    def settled(first: int, last: int, external: bool) -> bool:
        return all(state["cycle"] - state["written"].get((external, word), -9) > 2
                   for word in range(first // 4, last // 4 + 1))

    def wanted(ctx):
        if state["row"] is not None:
            at = state["row"] * row_bytes
            row = content[at:at + row_bytes]
            if settled(at, at + row_bytes - 1, False):
                yield 2, dut.ub_data, int.from_bytes(row.tobytes(), "little")
        elif settled(4 * state["addr"], 4 * state["addr"], state["external"]) and not (
                spram and ctx.get(dut.strobes)):
            at = 4 * state["addr"]
            yield 3, dut.found, int.from_bytes(state["memory"][at:at + 4].tobytes(), "little")

    run(dut, drive, wanted)


@pytest.mark.parametrize("name", ["pico", "nano", "edge"])
def test_words_of_the_accumulators(name):
    config, rng = preset(name), random.Random(name)
    dut, dim, rows = Accumulators(config), config.dim, 12
    content = np.zeros((rows, dim), np.uint32)
    written: dict[tuple[int, int], int] = {}
    state = {"addr": 0, "reads": [], "cycle": 0}

    def drive(ctx, cycle):
        state["cycle"] = cycle
        data, writes = rng.getrandbits(32), rng.random() < 0.3
        state["addr"] = rng.randrange(rows * dim)
        ctx.set(dut.addr, state["addr"])
        ctx.set(dut.data, data)
        ctx.set(dut.strobes, 15 * writes)
        place = divmod(state["addr"], dim)
        if writes:
            content[place] = data
            written[place] = cycle
        state["reads"] = [rng.randrange(rows) if rng.random() < 0.4 else None for _ in range(dim)]
        for k, row in enumerate(state["reads"]):
            ctx.set(dut.acc_read[k], row is not None)
            ctx.set(dut.acc_read_row[k], row or 0)
            # Its write goes before one that the sequencer has waiting.
            free = max((when for (_, lane), when in written.items() if lane == k), default=-9)
            sums, put = rng.getrandbits(32), rng.random() < 0.3 and cycle - free > 2
            target = rng.randrange(rows)
            ctx.set(dut.acc_write[k], put)
            ctx.set(dut.acc_write_row[k], target)
            ctx.set(dut.acc_sums[k], sums)
            if put:
                content[target, k] = sums
                written[target, k] = cycle

    def wanted(ctx):
        row, lane = divmod(state["addr"], dim)
        for k, read in enumerate(state["reads"]):
            if read is not None and state["cycle"] - written.get((read, k), -9) > 2:
                yield 3, dut.acc_data[k], int(content[read, k])
        if state["reads"][lane] is None and state["cycle"] - written.get((row, lane), -9) > 2:
            yield 3, dut.found, int(content[row, lane])

    run(dut, drive, wanted)
