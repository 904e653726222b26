"""Where a lane takes its operands from. (What it makes of them: tests/rtl/test_lanes.py.)"""

import random

from amaranth.sim import Simulator

from celosia.arch.vector import Dst, VectorOp
from celosia_hw.vpu.control import Source, lane_latency
from celosia_hw.vpu.lane import Lane
from hw.vpu_bench import INT8

CYCLES = 300
NUMBER = 0x5A
HELD = (Source.P, Source.Q, Source.P_LANE, Source.Q_LANE, Source.SCALAR, Source.INDEX)
SELECTED = (Source.SELF, Source.P, Source.Q, Source.P_LANE, Source.Q_LANE, Source.INDEX)


def test_every_source_of_every_operand():
    rng = random.Random(0)
    dut, latency = Lane(INT8), lane_latency(INT8)
    history, results, expected = [], [], []

    async def bench(ctx):
        held = [0, 0, 0]
        ctx.set(dut.active, 1)
        ctx.set(dut.number, NUMBER)
        for _ in range(CYCLES + latency):
            ports = {name: rng.getrandbits(32) for name in ("p", "q", "p_lane", "q_lane")}
            for name, value in ports.items():
                ctx.set(getattr(dut, name), value)
            words = {Source.P: ports["p"], Source.Q: ports["q"], Source.P_LANE: ports["p_lane"],
                     Source.Q_LANE: ports["q_lane"]}
            operands, keep = [], list(held)
            for k in range(3):
                index = rng.getrandbits(32)
                scalar = rng.choice([0, rng.getrandbits(32), 0xFFFFFFFF])
                hold = rng.choice([*HELD, *[Source.SELF] * 6])
                select = rng.choice(SELECTED)
                for port, value in ((dut.scalars, scalar), (dut.indexes, index), (dut.hold, hold),
                                    (dut.select, select)):
                    ctx.set(port[k], value)
                sources = {**words, Source.SELF: held[k], Source.INDEX: index}
                operands.append(sources[select])
                kept = {**words, Source.SELF: held[k], Source.SCALAR: scalar,
                        Source.INDEX: (scalar + NUMBER) % (1 << 32)}
                keep[k] = kept[hold]
            held = keep
            a, b, c = operands
            # In most rows only one operand shows.
            op = rng.choice([VectorOp.MOV, VectorOp.XOR, VectorOp.SELECT])
            expected.append({VectorOp.MOV: a, VectorOp.XOR: a ^ b,
                             VectorOp.SELECT: b if a else c}[op])
            history.insert(0, op)
            for port, op in zip(dut.control, history, strict=False):
                ctx.set(port, {"valid": 1, "simple": 1, "op": op, "dst": Dst.ACC})
            await ctx.tick()
            results.append(ctx.get(dut.result))

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert results[latency - 1:][:CYCLES] == expected[:CYCLES]
