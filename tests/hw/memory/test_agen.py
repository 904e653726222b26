import itertools
import random

import pytest

from celosia.arch.config import TpuConfig
from celosia_hw.memory.agen import AddressGenerator
from celosia_hw.memory.ports import row_bits
from hw.engine import Simulator

CONFIG = TpuConfig("small", dim=2, int8=True, bf16=False, ub_rows=64, acc_rows=32, bus_bytes=4)
MASK = (1 << row_bits(CONFIG)) - 1


def rows(counts, base, strides):
    """Rows of a walk; strides of None: consecutive."""
    if strides is None:
        return [(base + i) & MASK for i in range(counts[0] * counts[1] * counts[2])]
    return [(base + i0 * strides[0] + i1 * strides[1] + i2 * strides[2]) & MASK
            for i2, i1, i0 in itertools.product(*map(range, reversed(counts)))]


def walk(walks, rng=None):
    """Rows and last flags that the hardware gives for each walk, one right after another."""
    generator = AddressGenerator(CONFIG)
    out = []

    async def main(ctx):
        for index, (counts, base, strides) in enumerate(walks):
            s0, s1, s2 = strides or (MASK, MASK, MASK)  # ignored where rows are consecutive
            ctx.set(generator.counts, dict(zip(("n0", "n1", "n2"), counts, strict=True)))
            ctx.set(generator.stream, {"base": base, "linear": strides is None,
                                       "s0": s0, "s1": s1, "s2": s2})
            ctx.set(generator.start, 1)
            await ctx.tick()  # with the last step of the walk before, or alone
            ctx.set(generator.start, 0)
            ctx.set(generator.step, 0)
            found = []
            while True:
                while rng and rng.random() < 0.4:
                    row = ctx.get(generator.row)
                    await ctx.tick()
                    assert ctx.get(generator.row) == row
                found.append(ctx.get(generator.row))
                ctx.set(generator.step, 1)
                if ctx.get(generator.last):
                    break
                await ctx.tick()
                ctx.set(generator.step, 0)
            out.append(found)
            if index % 2:
                await ctx.tick()
                ctx.set(generator.step, 0)
                await ctx.tick()

    simulator = Simulator(generator)
    simulator.add_clock(1e-6)
    simulator.add_testbench(main)
    simulator.run()
    return out


@pytest.mark.parametrize("idle", [False, True])
def test_random_walks_one_after_another(idle):
    rng = random.Random(7)
    walks = []
    for _ in range(60):
        counts = rng.choice([(rng.randint(1, 20), 1, 1), (1, rng.randint(1, 9), 1),
                             (1, 1, rng.randint(1, 5)), tuple(rng.randint(1, 4) for _ in "abc")])
        strides = None if rng.random() < 0.3 else tuple(rng.randint(0, MASK) for _ in "abc")
        walks.append((counts, rng.randint(0, MASK), strides))
    found = walk(walks, rng if idle else None)
    assert found == [rows(*item) for item in walks]


def test_consecutive_rows_ignore_the_strides():
    assert walk([((2, 3, 2), 5, None)]) == [list(range(5, 17))]


def test_innermost_dimension_first():
    assert walk([((2, 2, 2), 1, (1, 4, 10))]) == [[1, 2, 5, 6, 11, 12, 15, 16]]


def test_a_long_dimension():
    assert walk([((300, 1, 1), 0, (3, 0, 0))]) == [rows((300, 1, 1), 0, (3, 0, 0))]
