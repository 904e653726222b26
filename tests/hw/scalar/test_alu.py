"""Every operation and branch of the scalar unit, against Python's integers."""

import numpy as np
import pytest

from celosia.arch.isa import Opcode
from celosia_hw.scalar.alu import Alu
from hw.engine import Simulator

MASK = 0xFFFFFFFF
EDGES = (0, 1, 2, 7, 8, 0x7FFFFFFF, 0x80000000, 0x80000001, MASK - 1, MASK, 0x10000, 0xFFFF)


def signed(x):
    return x - (x >> 31 << 32)


RESULTS = {
    Opcode.MOV: lambda a, b: a, Opcode.ADD: lambda a, b: a + b, Opcode.SUB: lambda a, b: a - b,
    Opcode.AND: lambda a, b: a & b, Opcode.OR: lambda a, b: a | b, Opcode.XOR: lambda a, b: a ^ b,
}
LATE = {
    Opcode.SLT: lambda a, b: signed(a) < signed(b), Opcode.SLTU: lambda a, b: a < b,
    Opcode.MUL: lambda a, b: a * b, Opcode.SHL: lambda a, b: a << b % 32,
    Opcode.SHR: lambda a, b: a >> b % 32, Opcode.SAR: lambda a, b: signed(a) >> b % 32,
}
TAKEN = {
    Opcode.BEQ: lambda a, b: a == b, Opcode.BNE: lambda a, b: a != b,
    Opcode.BLT: lambda a, b: signed(a) < signed(b),
    Opcode.BGE: lambda a, b: signed(a) >= signed(b), Opcode.BLTU: lambda a, b: a < b,
    Opcode.BGEU: lambda a, b: a >= b,
}


def pairs():
    rng = np.random.default_rng(0)
    found = [(a, b) for a in EDGES for b in EDGES]
    found += [(int(a), int(b)) for a, b in rng.integers(0, 1 << 32, (60, 2))]
    return found + [(int(a), n) for a in rng.integers(0, 1 << 32, 2) for n in range(34)]


def run(opcode, passed=None):
    """Return result, what comes late and the condition, for each pair."""
    alu, found = Alu(), []

    async def bench(ctx):
        ctx.set(alu.opcode, opcode)
        for a, b in pairs():
            ctx.set(alu.a, a)
            ctx.set(alu.b, b)
            if passed is not None:
                ctx.set(alu.pass_valid, 1)
                ctx.set(alu.passed, passed ^ a)
            now = ctx.get(alu.result)
            await ctx.tick()
            found.append((now, ctx.get(alu.pipelined), ctx.get(alu.taken)))

    simulator = Simulator(alu)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return zip(pairs(), found, strict=True)


@pytest.mark.parametrize("opcode", RESULTS, ids=lambda opcode: opcode.name)
def test_results(opcode):
    for (a, b), (result, _, _) in run(opcode):
        assert result == RESULTS[opcode](a, b) & MASK, (a, b)


@pytest.mark.parametrize("opcode", LATE, ids=lambda opcode: opcode.name)
def test_what_comes_late(opcode):
    for (a, b), (_, late, _) in run(opcode):
        assert late == LATE[opcode](a, b) & MASK, (a, b)


@pytest.mark.parametrize("opcode", TAKEN, ids=lambda opcode: opcode.name)
def test_branches(opcode):
    for (a, b), (_, _, taken) in run(opcode):
        assert taken == TAKEN[opcode](a, b), (a, b)


@pytest.mark.parametrize("opcode", [Opcode.SHL, Opcode.SAR], ids=lambda opcode: opcode.name)
def test_what_is_passed_is_not_shifted(opcode):
    for (a, _), (_, late, _) in run(opcode, passed=0x12345678):
        assert late == a ^ 0x12345678
