import random

import numpy as np
import pytest
from hw.vpu_bench import BOTH, INT8, Memories, Operand, Vector, check, random_vector

from celosia.arch.isa import Dst, Post, Src, VectorOp
from celosia.arch.registers import Activity

NONE = Operand()
LOW = (1, 0, 0)  # rows base .. base + 15, again and again


def both_configs(function):
    return pytest.mark.parametrize("config", [INT8, BOTH], ids=lambda c: c.name)(function)


def memories(config, seed=1):
    return Memories(config, np.random.default_rng(seed))


@both_configs
@pytest.mark.parametrize("noise", [0, 0.5])
def test_random_instructions_one_after_another(config, noise):
    rng = random.Random(1)
    vectors = [random_vector(config, rng) for _ in range(80)]
    check(config, memories(config), vectors, noise=noise, ordered=True)


@both_configs
@pytest.mark.parametrize("noise", [0, 0.3, 0.9])
def test_random_instructions_back_to_back(config, noise):
    rng = random.Random(2)
    vectors = [random_vector(config, rng) for _ in range(80)]
    check(config, memories(config), vectors, noise=noise)


@pytest.mark.parametrize("op", list(VectorOp))
def test_every_operation_on_corners(op):
    rng = random.Random(int(op))
    vectors = []
    for _ in range(12):
        vector = random_vector(BOTH, rng)
        while vector.op != op:
            vector = random_vector(BOTH, rng)
        vectors.append(vector)
    check(BOTH, memories(BOTH, int(op)), vectors)


@both_configs
@pytest.mark.parametrize(("a", "b"), [
    (Operand(Src.ACC, 0, LOW), Operand(Src.ACC, 4, LOW)),  # the same bank at first
    (Operand(Src.ACC, 0, LOW), Operand(Src.UB_I8, 0, LOW)),
    (Operand(Src.SCALAR, 5), Operand(Src.UB_I8, 1, LOW)),
    (Operand(Src.SCALAR, 5), Operand(Src.SCALAR, 7)),
])
@pytest.mark.parametrize("dst", [Dst.ACC, Dst.UB_I8])
def test_a_row_a_cycle(config, a, b, dst):
    vector = Vector(VectorOp.IADD, Operand(dst, 32, LOW), a, b, NONE, (16, 64, 1))
    result = check(config, memories(config), [vector])
    busy = [i for i, what in enumerate(result.activities) if what == Activity.BUSY]
    assert len(busy) == 1024
    assert 1024 / (busy[-1] - busy[0] + 1) >= 0.98


@both_configs
def test_a_row_of_requantise_a_cycle(config):
    vector = Vector(VectorOp.REQUANT, Operand(Dst.UB_I8, 32, LOW), Operand(Src.ACC, 0, LOW),
                    Operand(Src.ACC_ROW, 3), Operand(Src.ACC_ROW, 7), (16, 64, 1),
                    param=0x7F8003)
    result = check(config, memories(config), [vector])
    assert result.cycles <= 1024 / 0.98 + 20


@both_configs
def test_instructions_follow_one_another_with_short_gaps(config):
    row = Operand(Src.ACC_ROW, 3)
    vectors = [
        Vector(VectorOp.REQUANT, Operand(Dst.UB_I8, 32), Operand(Src.ACC, 0), row, row, (16, 1, 1)),
        Vector(VectorOp.IADD, Operand(Dst.ACC, 32), Operand(Src.ACC, 0), Operand(Src.SCALAR, 1),
               NONE, (16, 1, 1)),
        Vector(VectorOp.IADD, Operand(Dst.ACC, 32), Operand(Src.ACC, 0), Operand(Src.ACC, 8),
               NONE, (16, 1, 1)),
        Vector(VectorOp.REQUANT, Operand(Dst.ACC, 48), row, row, row, (8, 1, 1)),
        Vector(VectorOp.MOV, Operand(Dst.ACC, 40), Operand(Src.UB_I8, 0), NONE, NONE, (8, 1, 1),
               post=Post.RELU_I),
    ]
    result = check(config, memories(config), vectors * 4)
    busy = [i for i, what in enumerate(result.activities) if what == Activity.BUSY]
    assert len(busy) == 4 * 64
    gaps = [after - before - 1 for before, after in zip(busy, busy[1:], strict=False)]
    assert max(gaps) <= 4
    assert sum(gaps) <= 4 * len(vectors) * 2


def test_refused_ports_show_in_the_activity():
    vector = Vector(VectorOp.MOV, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW), NONE, NONE,
                    (16, 16, 1))
    quiet = check(INT8, memories(INT8), [vector])
    noisy = check(INT8, memories(INT8), [vector], noise=0.8)
    assert Activity.WAIT_MEMORY not in quiet.activities
    assert noisy.activities.count(Activity.WAIT_MEMORY) > 10
    assert {Activity.IDLE, Activity.WAIT_UNIT} <= set(quiet.activities)


def test_first_write_comes_soon_after_the_command():
    vector = Vector(VectorOp.MOV, Operand(Dst.ACC, 40), Operand(Src.ACC, 0), NONE, NONE)
    for config, latency in ((INT8, 8), (BOTH, 10)):
        # done is seen in the cycle after the write
        assert check(config, memories(config), [vector]).cycles <= latency + 8
