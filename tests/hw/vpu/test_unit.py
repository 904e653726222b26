import random

import pytest

from celosia.arch.lane import lane_latency, tree_latency
from celosia.arch.registers import Activity
from celosia.arch.vector import Dst, Reduce, Src, VectorOp
from hw.vpu_bench import BOTH, INT8, WIDE_INT8, check
from hw.vpu_vectors import LOW, NONE, Operand, Vector, memories, random_vector


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


def test_every_operation_and_source_on_corners():
    rng = random.Random(3)
    vectors = [random_vector(BOTH, rng, op) for op in VectorOp for _ in range(2)]
    kinds = {operand.kind for vector in vectors for operand in (vector.a, vector.b, vector.c)}
    assert kinds == set(Src)
    check(BOTH, memories(BOTH), vectors)


@pytest.mark.parametrize(("dst", "a", "b"), [
    (Operand(Dst.ACC, 5), Operand(Src.ACC, 5), Operand(Src.ACC_ROW, 7)),
    (Operand(Dst.UB_I8, 5), Operand(Src.UB_I8, 5), Operand(Src.ACC, 5)),
    (Operand(Dst.ACC, 5, (3, 0, 0)), Operand(Src.UB_I8, 20), Operand(Src.ACC, 5, (3, 0, 0))),
    (Operand(Dst.ACC, 5), Operand(Src.ACC_LANE, 5, None, 1), Operand(Src.ACC, 5)),
])
@pytest.mark.parametrize("noise", [0, 0.6])
def test_destination_in_the_place_of_a_source(dst, a, b, noise):
    check(INT8, memories(INT8), [Vector(VectorOp.ISUB, dst, a, b, counts=(18, 1, 1))] * 2,
          noise=noise, ordered=True)


def test_row_index_counts_over_all_dimensions_and_wraps():
    vector = Vector(VectorOp.IADD, Operand(Dst.ACC, 32), Operand(Src.ROW_INDEX, 0xFFFFFFFA),
                    Operand(Src.LANE_INDEX, 0x7FFFFFFF), counts=(2, 3, 2))
    result = check(WIDE_INT8, memories(WIDE_INT8), [vector])
    assert result.acc[32 + 7, 2] == 0x80000002  # the seventh row after 0, in lane 2


def test_three_lanes_of_single_rows():
    rows = [Operand(kind, row, None, lane) for kind, row, lane in (
        (Src.ACC_LANE_ROW, 3, 2), (Src.UB_I8_LANE_ROW, 5, 1), (Src.ACC_LANE_ROW, 9, 3))]
    check(WIDE_INT8, memories(WIDE_INT8),
          [Vector(VectorOp.SELECT, Operand(Dst.ACC, 40), *rows, counts=(3, 1, 1)),
           Vector(VectorOp.SELECT, Operand(Dst.ACC, 44), *rows[::-1], counts=(3, 1, 1))])


def test_refused_ports_show_in_the_activity():
    vector = Vector(VectorOp.MOV, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW), NONE, NONE,
                    (16, 16, 1))
    quiet = check(INT8, memories(INT8), [vector])
    noisy = check(INT8, memories(INT8), [vector], noise=0.8)
    assert Activity.WAIT_MEMORY not in quiet.activities
    assert noisy.activities.count(Activity.WAIT_MEMORY) > 10
    assert {Activity.IDLE, Activity.WAIT_UNIT} <= set(quiet.activities)


def test_no_row_is_lost_where_a_memory_takes_none_for_long():
    """Each row is another sum of itself: one that was not written once is missing in the end."""
    vector = Vector(VectorOp.IADD, Operand(Dst.ACC, 4), Operand(Src.ACC, 4),
                    Operand(Src.ROW_INDEX, 1), counts=(50, 1, 1))
    check(INT8, memories(INT8), [vector] * 10, noise=0.3, ordered=True)


@pytest.mark.parametrize(("kinds", "extra"), [
    ((Src.ACC, Src.ACC, Src.SCALAR), 0),
    ((Src.ACC, Src.ACC_ROW, Src.UB_I8_ROW), 1),
    ((Src.ACC_ROW, Src.ACC_ROW, Src.ACC_ROW), 2),
])
def test_latency_is_as_documented(kinds, extra):
    vector = Vector(VectorOp.REQUANT, Operand(Dst.ACC, 40), *(Operand(kind, i)
                      for i, kind in enumerate(kinds)))
    for config in (INT8, BOTH):
        result = check(config, memories(config), [vector])
        taken = next(i for i, what in enumerate(result.activities) if what != Activity.IDLE) - 2
        written = result.done[0] - 1
        assert written - taken == lane_latency(config) + 3 + extra


@pytest.mark.parametrize(("vector", "extra"), [
    (Vector(VectorOp.MOV, Operand(Dst.ACC, 40), Operand(Src.ACC, 0), reduce=Reduce.LANES),
     tree_latency(WIDE_INT8)),
    (Vector(VectorOp.TRANSPOSE, Operand(Dst.ACC, 40), Operand(Src.ACC, 0), counts=(4, 1, 1)), 5),
    (Vector(VectorOp.GATHER, Operand(Dst.ACC, 40), Operand(Src.ACC, 0), Operand(Src.ACC, 20),
            param=8), 4),
])
def test_latency_of_reductions_and_movements_is_as_documented(vector, extra):
    result = check(WIDE_INT8, memories(WIDE_INT8), [vector])
    taken = next(i for i, what in enumerate(result.activities) if what != Activity.IDLE) - 2
    first = result.done[0] - 1 - (vector.counts[0] - 1)
    assert first - taken == lane_latency(WIDE_INT8) + 3 + extra
