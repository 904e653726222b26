import random
from dataclasses import replace

import numpy as np
import pytest

from celosia.arch import numerics
from celosia.arch.lane import tree_latency
from celosia.arch.vector import Dst, ReduceOp
from celosia.model.lanes import JOINS
from celosia_hw.vpu.tree import LaneTree
from hw.engine import Simulator
from hw.vpu_bench import BOTH, CORNERS, INT8


@pytest.mark.parametrize("config", [replace(BOTH, dim=8, lanes=0), replace(INT8, dim=16, lanes=0)],
                         ids=lambda c: f"{c.name}-{c.dim}")
def test_rows_of_words_with_gaps(config):
    tree, rng = LaneTree(config), random.Random(1)
    latency = tree_latency(config)
    ops = list(ReduceOp) if config.bf16 else list(ReduceOp)[:5]
    rows, collected = [], np.zeros(config.dim, np.uint32)
    meant = np.zeros(config.dim, np.uint32)  # bits of each lane that have a meaning
    for i in range(60):
        words = np.array([rng.choice([*CORNERS, rng.getrandbits(32)]) for _ in range(config.dim)],
                         np.uint32)
        target = {"reduce_op": rng.choice(ops), "collect": rng.randrange(2), "row": i,
                  "first": int(rng.random() < 0.3), "lane": rng.randrange(config.dim),
                  "dst": rng.choice([Dst.ACC, Dst.UB_I8])}
        word = numerics.lane_tree(JOINS[target["reduce_op"]], words[np.newaxis])[0]
        if target["dst"] == Dst.UB_I8:
            word = int(numerics.saturate_i8(word.view(np.int32))) & 0xFFFFFFFF
        bits = 0xFFFFFFFF
        if target["dst"] == Dst.UB_I8:
            bits = (1 << config.lane_bits) - 1
        if target["collect"] and target["first"]:
            collected[:], meant[:] = 0, 0xFFFFFFFF
        lanes = target["lane"] if target["collect"] else slice(None)
        collected[lanes], meant[lanes] = word, bits
        rows.append((words.tolist(), target, (collected & meant).tolist(), meant.tolist()))
    sent, seen = [], []

    async def source(ctx):
        for words, target, *_ in rows:
            while rng.random() < 0.3:
                sent.append(False)
                await ctx.tick()
            sent.append(True)
            ctx.set(tree.i_valid, 1)
            ctx.set(tree.i_words, words)
            ctx.set(tree.i_target, target)
            await ctx.tick()
            ctx.set(tree.i_valid, 0)
            ctx.set(tree.i_target, {})
        await ctx.tick().repeat(latency)

    async def sink(ctx):
        cycle, announced, target = 0, 0, None
        while True:
            _, _, valid, words, coming, following = await ctx.tick().sample(
                tree.o_valid, tree.o_words.as_value(), tree.coming, tree.target)
            assert valid == announced == (cycle >= latency and sent[cycle - latency])
            if valid:
                assert target.row == len(seen)
                seen.append([words >> 32 * lane & 0xFFFFFFFF for lane in range(config.dim)])
            announced, target = coming, following
            cycle += 1

    simulator = Simulator(tree)
    simulator.add_clock(1e-6)
    simulator.add_testbench(source)
    simulator.add_testbench(sink, background=True)
    simulator.run()
    for words, (_, _, expected, bits) in zip(seen, rows, strict=True):
        assert [word & mask for word, mask in zip(words, bits, strict=True)] == expected
