"""Where a lane takes its operands from. (What it makes of them: tests/rtl/test_lanes.py.)"""

import random

from amaranth.sim import Simulator

from celosia.arch.lane import lane_latency
from celosia.arch.vector import Dst, VectorOp
from celosia_hw.vpu.control import LaneSource
from celosia_hw.vpu.lane import Lane
from hw.vpu_bench import INT8

CYCLES = 300
NUMBER = 1
VALUES = (LaneSource.SCALAR, LaneSource.INDEX)


def test_every_source_of_every_operand():
    rng = random.Random(0)
    dut, latency = Lane(INT8), lane_latency(INT8)
    history, results, expected = [], [], {}

    async def bench(ctx):
        words = [0, 0, 0]
        kinds = [LaneSource.SELF] * 3  # values that the next row brings
        ctx.set(dut.active, 1)
        ctx.set(dut.number, NUMBER)
        for cycle in range(CYCLES + latency):
            ports = {name: rng.getrandbits(32) for name in ("p", "q", "p_lane", "q_lane")}
            for name, value in ports.items():
                ctx.set(getattr(dut, name), value)
            # In one cycle, P is a row or a lane for all operands, and so is Q.
            p, q = rng.choice(["p", "p_lane"]), rng.choice(["q", "q_lane"])
            rows = {LaneSource[p.upper()]: ports[p], LaneSource[q.upper()]: ports[q]}
            valid = rng.random() < 0.7
            for k in range(3):
                flows = [source for source in rows if k or source.name.startswith("P")]
                index = rng.choice([0, rng.getrandbits(32), 0xFFFFFFFF])
                hold = rng.choice([*VALUES, *[LaneSource.SELF] * 4] if valid else
                                  [*VALUES, *flows, *[LaneSource.SELF] * 4])
                select = rng.choice([LaneSource.SELF, LaneSource.INDEX, *flows])
                if kinds[k] != LaneSource.SELF:
                    select = LaneSource.SELF
                    if not valid and hold in flows:
                        hold = LaneSource.SELF
                for port, value in ((dut.indexes, index), (dut.hold, hold), (dut.select, select)):
                    ctx.set(port[k], value)
                if valid:
                    number = NUMBER if kinds[k] == LaneSource.INDEX else 0
                    index = (index + number) % (1 << 32)
                    source = LaneSource.INDEX if kinds[k] != LaneSource.SELF else select
                    words[k] = {LaneSource.SELF: words[k], LaneSource.INDEX: index, **rows}[source]
                elif hold in rows:
                    words[k] = rows[hold]
                if hold in VALUES:
                    kinds[k] = hold
                elif valid:
                    kinds[k] = LaneSource.SELF
            # In most rows only one operand shows.
            op = rng.choice([VectorOp.MOV, VectorOp.XOR, VectorOp.SELECT])
            a, b, c = words
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
