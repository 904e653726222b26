"""What runs lose, counted, and that counting changes nothing."""

import numpy as np
import pytest

from celosia.arch.config import PRESETS
from celosia.model import Machine, PlainMachine
from celosia.model.losses import CountingRun
from celosia.program.asm import assemble
from celosia_sim.randprog import random_program

NANO, CORE4 = PRESETS["nano"], PRESETS["core4"]


def lost(text, rows=()):
    """Run text on accumulators that begin with rows; return what was lost, by instruction."""
    program = assemble(text)
    machine = PlainMachine(PRESETS[text.split()[1]])
    machine.memory.write(0, program.code(0))
    machine.acc[:len(rows)] = np.array(rows).view(np.uint32)
    run = CountingRun(machine, 0, len(program.insns), (), 0)
    run.go(None, None)
    return {pc: (each.overflowed, each.clamped, each.flushed, each.of)
            for pc, each in run.losses.items()}


def test_floats():
    big, small = np.full(4, 3e38, np.float32), np.full(4, 1e-30, np.float32)
    one = np.array([1, 2, 0, -3], np.float32)
    found = lost(""".chip core4
        vector fadd, acc[8], acc[0], acc[0], n0=1
        vector fmul, acc[8], acc[1], acc[1], n0=1
        vector fmul, acc[8], acc[1], acc[2], n0=1
        vector fadd, acc[8], acc[2], acc[2], n0=1, post=square
        vector mov, acc[8], acc[3], n0=1, post=exp2
        vector fadd, acc[8], acc[4], acc[4], n0=1
        halt""", [big, small, one, np.array([200, -200, 0, 1], np.float32),
                  np.array([np.inf, np.nan, -np.inf, 0], np.float32)])
    assert found == {0: (4, 0, 0, 4), 1: (0, 0, 4, 4), 2: (0, 0, 0, 4), 3: (0, 0, 0, 8),
                     4: (1, 0, 1, 4), 5: (0, 0, 0, 4)}


def test_bf16():
    rows = [np.array([3.4e38, -3.4e38, 1, np.inf], np.float32)]
    assert lost(""".chip core4
        vector mov, ub_bf16[0], acc[0], n0=1
        halt""", rows) == {0: (2, 0, 0, 4)}


def test_int8():
    rows = [np.array([128, -129, 127, -128], np.int32), np.array([1000, -5, 3, -1000], np.int32)]
    assert lost(""".chip nano
        vector mov, ub_i8[0], acc[0], n0=2
        halt""", rows) == {0: (0, 4, 0, 8)}


@pytest.mark.parametrize("config", [NANO, CORE4], ids=lambda config: config.name)
def test_counting_changes_nothing(config):
    total = 0
    for seed in range(12):
        program = random_program(config, seed)
        fast, counted = Machine(config), PlainMachine(config)
        wanted = program.run(fast)
        program.load(counted.memory)
        run = CountingRun(counted, program.program_addr, program.length, program.windows, 0)
        assert run.go(None, None) == wanted, f"seed {seed}"
        np.testing.assert_array_equal(counted.acc, fast.acc)
        np.testing.assert_array_equal(counted.ub, fast.ub)
        total += sum(each.of for each in run.losses.values())
    assert total
