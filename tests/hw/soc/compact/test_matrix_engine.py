# amaranth: UnusedElaboratable=no
"""The matrix engine against NumPy: runs of any length and format, with and without accumulate."""

import random

import numpy as np
import pytest

from celosia.arch import numerics
from celosia.arch.config import preset
from celosia.arch.isa import MatmulFormat
from celosia_hw.soc.compact.matrix_engine import MatrixEngine
from celosia_hw.soc.compact.memory_map import EngineRegister
from hw.engine import Simulator


def bf16(numbers, shape):
    """bf16 numbers of which many cancel, round or are none."""
    lanes = numbers.integers(0x3F00, 0x4100, shape) | numbers.integers(0, 2, shape) << 15
    odd = numbers.random(shape) < 0.15
    special = (0, 0x8000, 1, 0x80, 0x8081, 0x7F7F, 0x7F80, 0xFF80, 0x7FC1, 0x1F80, 0x2000, 0x5F00)
    lanes[odd] = numbers.choice(np.array(special), int(odd.sum()))
    return lanes.astype(np.uint16)


def sums(fmt, acts, tile, old):
    """A row of sums: bit patterns, as ``old`` is, which is added to."""
    if fmt == MatmulFormat.INT8:
        return (acts.astype(np.int8).astype(np.int32) @ tile.astype(np.int8).astype(np.int32)
                ).view(np.uint32) + old
    total = np.zeros(tile.shape[1], np.uint32)
    for act, weights in zip(acts, tile, strict=True):
        total = numerics.f32_add(total, numerics.f32_mul(
            numerics.bf16_to_f32(act), numerics.bf16_to_f32(weights)))
    return numerics.f32_add(old, total)


@pytest.mark.parametrize("name", [
    "nano", "core4", *(pytest.param(name, marks=pytest.mark.slow) for name in ("pico", "edge"))])
def test_rows_times_a_tile(name):
    config = preset(name)
    dim, lane_type = config.dim, np.uint16 if config.bf16 else np.uint8
    dut = MatrixEngine(config)
    rng, numbers = random.Random(name), np.random.default_rng(5)
    ub = numbers.integers(0, 256, (config.ub_rows, dim)).astype(lane_type)
    acc = numbers.integers(0, 2**32, (config.acc_rows, dim)).astype(np.uint32)
    ub[:8] = 128
    if config.bf16:
        ub[8:] = bf16(numbers, (config.ub_rows - 8, dim))
        acc[:] = bf16(numbers, acc.shape).astype(np.uint32) << 16 | acc & 0xFFFF
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
                late.append(int(acc[row, k]) if read else rng.getrandbits(32))
                if write:
                    acc[write_row, k] = word
        return accumulators

    async def write(ctx, register, value):
        ctx.set(dut.word, register)
        ctx.set(dut.data, value)
        ctx.set(dut.write, 1)
        await ctx.tick()
        ctx.set(dut.write, 0)

    async def sequencer(ctx):
        tile = np.zeros((dim, dim), lane_type)
        for trial in range(16 if config.bf16 else 30):
            if trial % 3 == 0:
                tile = numbers.integers(0, 256, (dim, dim)).astype(lane_type)
                if config.bf16:
                    tile = bf16(numbers, (dim, dim))
                if trial == 0:
                    tile[:] = 128
                size = min(dim, 4 // tile.itemsize)
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
            fmt = MatmulFormat.BF16 if config.bf16 and trial % 4 else MatmulFormat.INT8
            await write(ctx, EngineRegister.START, rows | accumulate << 16 | fmt << 17)
            for i in range(rows):
                row = acc_row + i * acc_step
                old = wanted[row] if accumulate else np.zeros(dim, np.uint32)
                wanted[row] = sums(fmt, ub[acts_row + i * acts_step], tile, old)
            cycles = 0
            while ctx.get(dut.busy):
                cycles += 1
                await ctx.tick()
            assert cycles == rows + dim + dut.latency
            assert (acc == wanted).all(), trial

    sim = Simulator(dut)
    sim.add_clock(1e-6)
    sim.add_process(buffer)
    for k in range(dim):
        sim.add_process(lane(k))
    sim.add_testbench(sequencer)
    sim.run()


def test_latencies():
    engines = [MatrixEngine(preset(name)) for name in ("nano", "edge", "core4")]
    assert [(engine.latency, engine.acc_latency) for engine in engines] == [
        (7, 4), (7, 4), (51, 12)]


def test_chips_that_it_is_not_for():
    with pytest.raises(ValueError, match="must be a chip with int8, not v2 with bf16"):
        MatrixEngine(preset("v2"))
    with pytest.raises(ValueError, match="with int8 alone, not core4 with int8 and bf16"):
        MatrixEngine(preset("core4"), mac16=True)
