# amaranth: UnusedElaboratable=no
"""The matrix engine against NumPy: runs of any length, with and without accumulate."""

import random

import numpy as np
import pytest
from amaranth.sim import Simulator

from celosia.arch.config import preset
from celosia_hw.compact.matrix_engine import MatrixEngine
from celosia_hw.compact.memory_map import EngineRegister


@pytest.mark.parametrize("name", ["pico", "nano", "edge"])
def test_rows_times_a_tile(name):
    config = preset(name)
    dim = config.dim
    dut = MatrixEngine(config)
    rng, numbers = random.Random(name), np.random.default_rng(5)
    ub = numbers.integers(-128, 128, (config.ub_rows, dim)).astype(np.int8)
    acc = numbers.integers(-2**31, 2**31, (config.acc_rows, dim)).astype(np.int32)
    ub[:8] = -128
    wanted = acc.copy()

    def packed(row) -> int:
        return int.from_bytes(row.tobytes(), "little")

    async def buffer(ctx):
        late = 0
        async for _, _, read, row in ctx.tick().sample(dut.ub_read, dut.ub_row):
            # What is not asked for is of no meaning.
            ctx.set(dut.ub_data, late)
            late = packed(ub[row]) if read else rng.getrandbits(config.ub_row_bits)

    def lane(k: int):
        async def accumulators(ctx):
            late = [0, 0]
            async for _, _, read, row, write, write_row, word in ctx.tick().sample(
                    dut.acc_read[k], dut.acc_read_row[k], dut.acc_write[k], dut.acc_write_row[k],
                    dut.acc_sums[k]):
                ctx.set(dut.acc_data[k], late.pop(0))
                late.append(int(acc[row, k]) & 0xFFFF_FFFF if read else rng.getrandbits(32))
                if write:
                    acc[write_row, k] = (word ^ 1 << 31) - (1 << 31)
        return accumulators

    async def write(ctx, register, value):
        ctx.set(dut.word, register)
        ctx.set(dut.data, value)
        ctx.set(dut.write, 1)
        await ctx.tick()
        ctx.set(dut.write, 0)

    async def sequencer(ctx):
        tile = np.zeros((dim, dim), np.int8)
        for trial in range(60):
            if trial % 3 == 0:
                tile = numbers.integers(-128, 128, (dim, dim)).astype(np.int8)
                if trial == 0:
                    tile[:] = -128
                size = min(dim, 4)
                for i, word in enumerate(tile.reshape(-1, size)):
                    await write(ctx, EngineRegister.WEIGHTS + i, packed(word))
            rows = 1 if trial < 4 else rng.randrange(1, 40)
            accumulate = rng.random() < 0.6
            acts_step = rng.choice((0, 1, 1, 3))
            acc_step = rng.choice((1, 1, 2, 5)) if accumulate and rows > 1 else rng.randrange(3)
            acts_row = 0 if trial == 0 else rng.randrange(config.ub_rows - 3 * rows)
            acc_row = rng.randrange(config.acc_rows - 5 * rows)
            await write(ctx, EngineRegister.ACTS_ROW, acts_row)
            await write(ctx, EngineRegister.ACTS_STEP, acts_step)
            await write(ctx, EngineRegister.ACC_ROW, acc_row)
            await write(ctx, EngineRegister.ACC_STEP, acc_step)
            await write(ctx, EngineRegister.START, rows | accumulate << 16)
            for i in range(rows):
                total = ub[acts_row + i * acts_step].astype(np.int32) @ tile.astype(np.int32)
                row = acc_row + i * acc_step
                wanted[row] = wanted[row] + total if accumulate else total
            cycles = 0
            while ctx.get(dut.busy):
                cycles += 1
                await ctx.tick()
            assert cycles == rows + dim + 6
            assert (acc == wanted).all(), trial

    sim = Simulator(dut)
    sim.add_clock(1e-6)
    sim.add_process(buffer)
    for k in range(dim):
        sim.add_process(lane(k))
    sim.add_testbench(sequencer)
    sim.run()


def test_it_is_for_int8_alone():
    with pytest.raises(ValueError, match="int8 only, not core with bf16"):
        MatrixEngine(preset("core"))
