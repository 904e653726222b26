import random

import numpy as np
import pytest
from amaranth.hdl import Module, Signal

from celosia.arch.vector import FLOAT_REDUCES, ReduceOp
from celosia.model.lanes import JOINS as MODEL
from celosia_hw.vpu.joins import join
from hw.engine import Simulator
from hw.vpu_bench import BOTH, CORNERS, INT8


@pytest.mark.parametrize("config", [BOTH, INT8], ids=lambda c: c.name)
def test_joins_equal_the_model(config):
    rng = random.Random(1)
    left, right, op = Signal(32), Signal(32), Signal(3)
    m = Module()
    alone = Signal()
    joined = join(m, config, op, left, right, alone)
    pairs = [(rng.choice(CORNERS), rng.choice(CORNERS)) for _ in range(150)]
    pairs += [(a, a ^ rng.choice([0, 0x80000000, 1])) for a in CORNERS]
    pairs += [(rng.getrandbits(32), rng.getrandbits(32)) for _ in range(50)]
    words = [np.array(side, np.uint32) for side in zip(*pairs, strict=True)]
    found = {}

    async def bench(ctx):
        for item in [*ReduceOp, None]:
            ctx.set(op, ReduceOp.MAX_I if item is None else item)
            ctx.set(alone, item is None)
            found[item] = []
            for a, b in pairs:
                ctx.set(left, a)
                ctx.set(right, b)
                found[item].append(ctx.get(joined))

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    for item in ReduceOp:
        if config.bf16 or item not in FLOAT_REDUCES:
            assert found[item] == MODEL[item](*words).tolist(), item.name
    assert found[None] == words[1].tolist()
