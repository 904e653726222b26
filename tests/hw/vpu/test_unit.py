import random

import pytest

from celosia.arch.isa import Dst, Src, VectorOp
from celosia.arch.registers import Activity
from hw.vpu_bench import BOTH, INT8, LOW, NONE, Operand, Vector, check, memories, random_vector


def both_configs(function):
    return pytest.mark.parametrize("config", [INT8, BOTH], ids=lambda c: c.name)(function)


@both_configs
@pytest.mark.parametrize("noise", [0, 0.5])
def test_random_instructions_one_after_another(config, noise):
    rng = random.Random(1)
    vectors = [random_vector(config, rng) for _ in range(40)]
    check(config, memories(config), vectors, noise=noise, ordered=True)


@both_configs
@pytest.mark.parametrize("noise", [0, 0.5])
def test_random_instructions_back_to_back(config, noise):
    rng = random.Random(2)
    vectors = [random_vector(config, rng) for _ in range(40)]
    check(config, memories(config), vectors, noise=noise)


@pytest.mark.parametrize("op", list(VectorOp))
def test_every_operation_on_corners(op):
    rng = random.Random(int(op))
    vectors = []
    for _ in range(8):
        vector = random_vector(BOTH, rng)
        while vector.op != op:
            vector = random_vector(BOTH, rng)
        vectors.append(vector)
    check(BOTH, memories(BOTH, int(op)), vectors)


def test_refused_ports_show_in_the_activity():
    vector = Vector(VectorOp.MOV, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW), NONE, NONE,
                    (16, 16, 1))
    quiet = check(INT8, memories(INT8), [vector])
    noisy = check(INT8, memories(INT8), [vector], noise=0.8)
    assert Activity.WAIT_MEMORY not in quiet.activities
    assert noisy.activities.count(Activity.WAIT_MEMORY) > 10
    assert {Activity.IDLE, Activity.WAIT_UNIT} <= set(quiet.activities)


@pytest.mark.parametrize(("kinds", "extra"), [
    ((Src.ACC, Src.ACC, Src.SCALAR), 0),
    ((Src.ACC, Src.ACC_ROW, Src.UB_I8_ROW), 1),
    ((Src.ACC_ROW, Src.ACC_ROW, Src.ACC_ROW), 2),
])
def test_latency_is_as_documented(kinds, extra):
    vector = Vector(VectorOp.REQUANT, Operand(Dst.ACC, 40), *(Operand(kind, i)
                      for i, kind in enumerate(kinds)))
    for config, lanes in ((INT8, 8), (BOTH, 10)):
        result = check(config, memories(config), [vector])
        taken = next(i for i, what in enumerate(result.activities) if what != Activity.IDLE) - 1
        written = result.done[0] - 1
        assert written - taken == lanes + 6 + extra
