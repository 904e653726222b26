"""Where a lane takes its operands from. (What it makes of them: tests/rtl/test_lanes.py.)"""

import random
from dataclasses import replace

import pytest

from celosia.arch.lane import lane_latency
from celosia.arch.vector import Dst, VectorOp
from celosia_hw.vpu.control import LaneSource
from celosia_hw.vpu.lane import Lane
from hw.engine import Simulator
from hw.vpu_bench import INT8, WIDE_INT8

CYCLES = 300
VALUES = (LaneSource.VALUE, LaneSource.INDEX)


@pytest.mark.parametrize("config", [INT8, replace(WIDE_INT8, lanes=2), replace(WIDE_INT8, lanes=1)],
                         ids=lambda config: f"{config.fold}-beats")
def test_every_source_of_every_operand(config):
    rng = random.Random(0)
    dut, latency = Lane(config), lane_latency(config)
    history, results, expected = [], [], {}

    async def bench(ctx):
        # The word of each operand that was taken for each beat, the oldest first.
        kept = [[0] * config.fold for _ in range(3)]
        ctx.set(dut.active, 1)
        for cycle in range(CYCLES + latency):
            number = rng.randrange(config.dim)
            ctx.set(dut.number, number)
            ports = {name: rng.getrandbits(32) for name in ("p", "q", "p_lane", "q_lane")}
            for name, value in ports.items():
                ctx.set(getattr(dut, name), value)
            # In one cycle, P is a row or a lane for all operands, and so is Q.
            p, q = rng.choice(["p", "p_lane"]), rng.choice(["q", "q_lane"])
            rows = {LaneSource[p.upper()]: ports[p], LaneSource[q.upper()]: ports[q]}
            valid = rng.random() < 0.7
            holds = not valid and rng.random() < 0.6
            ctx.set(dut.holds, holds)
            for k in range(3):
                flows = [source for source in rows if k or source.name.startswith("P")]
                index = rng.choice([0, rng.getrandbits(32), 0xFFFFFFFF])
                source = rng.choice([*[LaneSource.SELF] * 3, *flows, *(() if holds else VALUES)])
                for port, value in ((dut.indexes, index), (dut.sources, source)):
                    ctx.set(port[k], value)
                word = {LaneSource.SELF: kept[k][0], LaneSource.VALUE: index,
                        LaneSource.INDEX: (index + number) % (1 << 32), **rows}[source]
                if valid or (holds and source != LaneSource.SELF):
                    kept[k] = [*kept[k][1:], word]
            # In most rows only one operand shows.
            op = rng.choice([VectorOp.MOV, VectorOp.XOR, VectorOp.SELECT])
            a, b, c = (words[-1] for words in kept)
            if valid:
                expected[cycle] = {VectorOp.MOV: a, VectorOp.XOR: a ^ b,
                                   VectorOp.SELECT: b if a else c}[op]
            history.insert(0, {"valid": valid, "op": op, "dst": Dst.ACC})
            for port, control in zip(dut.control, history, strict=False):
                ctx.set(port, control)
            await ctx.tick()
            results.append(ctx.get(dut.result))

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    found = {cycle: results[cycle + latency - 1] for cycle in expected if cycle < CYCLES}
    assert found == {cycle: word for cycle, word in expected.items() if cycle < CYCLES}
