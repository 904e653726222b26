"""A vector unit between two memories, compared with the model."""

import functools
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring

from celosia.arch.config import TpuConfig
from celosia.arch.registers import Activity
from celosia_hw.memory.banked import BankedMemory
from celosia_hw.memory.ports import READ_LATENCY, row_bits
from celosia_hw.vpu.unit import VectorUnit
from hw.simulation import World
from hw.vpu_vectors import BOUNDS, CORNERS, NOISE_ROWS, Memories, Vector

__all__ = ["BOTH", "BOUNDS", "CORNERS", "INT8", "WIDE", "WIDE_INT8", "Result", "check", "run"]

INT8 = TpuConfig("int8", dim=2, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4)
BOTH = TpuConfig("both", dim=2, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=4)
WIDE_INT8 = TpuConfig("wide_int8", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64,
                      bus_bytes=4)
WIDE = TpuConfig("wide", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=4)


#: Readers of a memory.
_READERS = "test", "p", "q"


class Bench(wiring.Component):
    """The unit and both memories, with a port of the test's each way: before those of the unit, but
    behind its writes of the unified buffer.
    """

    def __init__(self, config: TpuConfig):
        super().__init__({})
        bits = row_bits(config)
        self.config = config
        self.unit = VectorUnit(config)
        folded: Any = {"narrow": dict.fromkeys(("p", "q", "unit"), config.fold)}
        self.ub = BankedMemory(config.ub_rows, bits, config.ub_row_bits, _READERS,
                               ("unit", "test"), **folded)
        self.acc = BankedMemory(config.acc_rows, bits, config.acc_row_bits, _READERS,
                                ("test", "unit"), knowing=("write_unit",), **folded)

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit = unit = self.unit
        m.submodules.ub = self.ub
        m.submodules.acc = self.acc
        for memory, p, q, write in ((self.ub, unit.ub_p, unit.ub_q, unit.ub_write),
                                    (self.acc, unit.acc_p, unit.acc_q, unit.acc_write)):
            wiring.connect(m, p, memory.read_p)
            wiring.connect(m, q, memory.read_q)
            wiring.connect(m, write, memory.write_unit)
        first = self.acc.write_test
        m.d.comb += [unit.first.valid.eq(first.valid), unit.first.row.eq(first.addr)]
        return m


@functools.cache
def world(config: TpuConfig) -> World:
    """The bench of a configuration, made once."""
    return World(Bench(config))


@dataclass
class Result:
    """What a run left behind and how long it took."""

    ub: np.ndarray
    acc: np.ndarray
    cycles: int
    activities: list[int] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    errors: list[int | None] = field(default_factory=list)  # of each instruction: its detail


def run(config: TpuConfig, memories: Memories, vectors: list[Vector], *, noise: float = 0,
        ordered: bool = False, seed: int = 0) -> Result:
    """Run ``vectors`` on the hardware.

    ``noise`` is how often each of the test's ports asks, in some stretches always or never;
    ``ordered`` offers an instruction only when the one before has finished.
    """
    made = world(config)
    bench = made.component
    unit, rng = bench.unit, random.Random(seed)
    result = Result(np.zeros_like(memories.ub), np.zeros_like(memories.acc), 0)
    depth, over = max(config.ub_rows, config.acc_rows), False

    def pack(row, bits):
        return sum(int(word) << (bits * i) for i, word in enumerate(row))

    async def main(ctx):
        nonlocal over
        for row in range(depth):  # of both at once: it is the greater part of most runs
            for memory, rows, bits in ((bench.ub, memories.ub, config.lane_bits),
                                       (bench.acc, memories.acc, 32)):
                port = memory.write_test
                ctx.set(port.valid, row < len(rows))
                if row < len(rows):
                    ctx.set(port.addr, row)
                    ctx.set(port.data, pack(rows[row], bits))
            await ctx.tick()
        for memory in (bench.ub, bench.acc):
            ctx.set(memory.write_test.valid, 0)
        begin = len(result.activities) - 1  # the monitor has seen this cycle
        command = unit.port.command
        for sent, vector in enumerate(vectors):
            while ordered and len(result.done) < sent:
                await ctx.tick()
            ctx.set(command.payload, vector.payload(config))
            ctx.set(command.valid, 1)
            await ctx.tick().until(command.ready)
            ctx.set(command.valid, 0)
        for _ in range(10_000):
            if len(result.done) == len(vectors):
                break
            await ctx.tick()
        assert len(result.done) == len(vectors)
        result.cycles = result.done[-1] - begin
        over = True
        await ctx.tick().repeat(2)
        assert ctx.get(unit.port.activity) == Activity.IDLE
        for row in range(depth + READ_LATENCY - 1):
            for memory, rows in ((bench.ub, result.ub), (bench.acc, result.acc)):
                ctx.set(memory.read_test.valid, 1)
                ctx.set(memory.read_test.addr, min(row, len(rows) - 1))
            await ctx.tick()
            done = row - READ_LATENCY + 1
            for memory, rows, bits in ((bench.ub, result.ub, config.lane_bits),
                                       (bench.acc, result.acc, 32)):
                if 0 <= done < len(rows):
                    data = ctx.get(memory.read_test.data)
                    rows[done] = [data >> (bits * i) & ((1 << bits) - 1)
                                  for i in range(config.dim)]

    async def monitor(ctx):
        cycle = 0
        async for _, reset, done, error, detail, activity in ctx.tick().sample(
                unit.port.done, unit.port.error, unit.port.detail, unit.port.activity):
            assert not reset
            result.activities.append(activity)
            if done:
                result.done.append(cycle)
                result.errors.append(detail if error else None)
            cycle += 1

    async def traffic(ctx):
        await ctx.tick().repeat(depth)
        left, reads, writes, still = 0, noise, noise, 0
        while not over:
            if not left:
                # Long enough that all before a port fills: it waits where it comes to a row's bank.
                left, still = rng.randrange(20, 60), rng.randrange(NOISE_ROWS)
                reads, writes = rng.choice((0, noise, 1)), rng.choice((0, noise, 1))
            left -= 1
            for memory, end in ((bench.ub, config.ub_rows), (bench.acc, config.acc_rows)):
                for port, often in ((memory.read_test, reads), (memory.write_test, writes)):
                    row = still if often == 1 else rng.randrange(NOISE_ROWS)
                    ctx.set(port.addr, end - 1 - row)
                    ctx.set(port.valid, rng.random() < often)
            await ctx.tick()
        for memory in (bench.ub, bench.acc):
            ctx.set(memory.read_test.valid, 0)
            ctx.set(memory.write_test.valid, 0)

    made.run(main, monitor, *([traffic] if noise else []))
    return result


def check(config: TpuConfig, memories: Memories, vectors: list[Vector], **options) -> Result:
    """Run on hardware and reference and compare every row."""
    result = run(config, memories, vectors, **options)
    errors = [memories.run(vector) for vector in vectors]
    assert [error is None for error in result.errors] == [error is None for error in errors]
    # What a later instruction with an error says is not defined.
    assert next(filter(_is_error, result.errors), None) == next(filter(_is_error, errors), None)
    for name in ("ub", "acc"):
        got, wanted = getattr(result, name)[:-NOISE_ROWS], getattr(memories, name)[:-NOISE_ROWS]
        wrong = np.argwhere(got != wanted)
        assert not len(wrong), (
            f"{name} row {wrong[0][0]} lane {wrong[0][1]}: {got[tuple(wrong[0])]:#x}, "
            f"not {wanted[tuple(wrong[0])]:#x}; {len(wrong)} lanes differ")
    return result


def _is_error(detail: int | None) -> bool:
    return detail is not None
