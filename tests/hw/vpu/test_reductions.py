"""Reductions of rows and lanes through the whole unit."""

import random

import numpy as np
import pytest

from celosia.arch.vector import FLOAT_REDUCES, Dst, Reduce, ReduceOp, Src, VectorOp
from hw.vpu_bench import WIDE, WIDE_INT8, check
from hw.vpu_vectors import Operand, Vector, memories, random_vector

REDUCTIONS = [Reduce.ROWS, Reduce.LANES, Reduce.COLLECT]


def reduction(reduce, op=ReduceOp.SUM_I, counts=(4, 3, 2), dst=None, a=None) -> Vector:
    return Vector(VectorOp.MOV, dst or Operand(Dst.ACC, 34), a or Operand(Src.ACC, 1),
                  counts=counts, reduce=reduce, reduce_op=op)


def test_every_join_on_corners():
    vectors = [reduction(reduce, op, (4, 2, 1), Operand(Dst.ACC, 34 + 8 * (op % 2)),
                         Operand(Src.ACC, 1 + 3 * op)) for reduce in REDUCTIONS for op in ReduceOp]
    check(WIDE, memories(WIDE), vectors)


def test_joins_of_integers_without_floating_point():
    vectors = [reduction(reduce, op) for reduce in REDUCTIONS
               for op in set(ReduceOp) - FLOAT_REDUCES]
    check(WIDE_INT8, memories(WIDE_INT8), vectors)


@pytest.mark.parametrize("noise", [0, 0.7])
@pytest.mark.parametrize("seed", [1, 2])
def test_reductions_among_others(noise, seed):
    rng = random.Random(seed)
    vectors = [random_vector(WIDE_INT8, rng, rng.choice([VectorOp.MOV, VectorOp.IADD]),
                             rng.choice(list(Reduce))) for _ in range(60)]
    check(WIDE_INT8, memories(WIDE_INT8, seed), vectors, noise=noise)


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("dst", [Dst.UB_I8, Dst.UB_BF16])
def test_conversion_comes_after_the_reduction(reduce, dst):
    op = ReduceOp.SUM_F if dst == Dst.UB_BF16 else ReduceOp.SUM_I
    state = memories(WIDE)
    state.acc[1:25] %= 100  # subnormal as fp32
    if dst == Dst.UB_BF16:
        state.acc[1:25] = np.linspace(0.3, 7, 96, dtype=np.float32).view(np.uint32).reshape(24, 4)
    check(WIDE, state, [reduction(reduce, op, dst=Operand(dst, 34))])


def test_rows_of_groups_of_one_pass():
    state = memories(WIDE)
    rows = state.acc[1:7].copy()
    result = check(WIDE, state, [reduction(Reduce.ROWS, ReduceOp.SUM_F, (1, 2, 3))])
    assert (result.acc[34:40] == rows).all()  # NaN payloads and subnormals too


def test_destination_of_groups_walks_the_outer_dimensions():
    check(WIDE_INT8, memories(WIDE_INT8), [
        reduction(reduce, counts=(3, 3, 2), dst=Operand(Dst.ACC, 36, (9, 2, 7)))
        for reduce in REDUCTIONS[::2]])


def test_collect_clears_the_lanes_beyond_the_group():
    result = check(WIDE_INT8, memories(WIDE_INT8), [reduction(Reduce.COLLECT, counts=(3, 2, 2))])
    assert not result.acc[34:38, 3].any()
    assert result.acc[34:38, :3].any(axis=1).all()


@pytest.mark.parametrize("noise", [0, 0.7])
def test_lanes_in_place(noise):
    vector = reduction(Reduce.LANES, counts=(20, 1, 1), dst=Operand(Dst.ACC, 1, (2, 0, 0)),
                       a=Operand(Src.ACC, 1, (2, 0, 0)))
    check(WIDE_INT8, memories(WIDE_INT8), [vector] * 2, noise=noise, ordered=True)
