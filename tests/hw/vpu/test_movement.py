"""transpose, rotate, gather and scatter through the whole unit."""

import random

import numpy as np
import pytest

from celosia.arch.vector import Dst, Post, Reduce, Src, VectorOp
from hw.vpu_bench import WIDE, WIDE_INT8, check
from hw.vpu_vectors import INDEX_ROWS, NONE, Operand, Vector, memories, random_vector

MOVEMENTS = [VectorOp.TRANSPOSE, VectorOp.ROTATE, VectorOp.GATHER, VectorOp.SCATTER]
INDEXES = Operand(Src.ACC, INDEX_ROWS.start)


@pytest.mark.parametrize("noise", [0, 0.7])
@pytest.mark.parametrize("seed", [1, 2])
def test_movements_among_others(noise, seed):
    rng = random.Random(seed)
    vectors = [random_vector(WIDE_INT8, rng, rng.choice([*MOVEMENTS, VectorOp.IADD]))
               for _ in range(60)]
    check(WIDE_INT8, memories(WIDE_INT8, seed), vectors, noise=noise)


def test_movements_of_floating_point():
    rng = random.Random(3)
    check(WIDE, memories(WIDE), [random_vector(WIDE, rng, op) for op in MOVEMENTS * 6])


@pytest.mark.parametrize("noise", [0, 0.7])
def test_transpose_in_place(noise):
    vectors = [Vector(VectorOp.TRANSPOSE, Operand(Dst.ACC, base, strides),
                      Operand(Src.ACC, base, strides), counts=(16, 1, 1))
               for base, strides in ((3, None), (2, (3, 0, 0)))]
    check(WIDE_INT8, memories(WIDE_INT8), vectors, noise=noise, ordered=True)


def test_transposed_tiles_are_those_of_consecutive_rows():
    """Tiles go over the rows of the walk, whatever its strides are."""
    vector = Vector(VectorOp.TRANSPOSE, Operand(Dst.ACC, 32), Operand(Src.UB_I8, 1, (3, 1, 7)),
                    counts=(4, 3, 2))
    check(WIDE_INT8, memories(WIDE_INT8), [vector])


@pytest.mark.parametrize("amount", [0, 3, 4, 5, 0xFFFFFFFF])
def test_rotate_by_any_amount(amount):
    state = memories(WIDE_INT8)
    before = state.acc[5].copy()
    result = check(WIDE_INT8, state, [
        Vector(VectorOp.ROTATE, Operand(Dst.ACC, 40), Operand(Src.ACC, 5),
               Operand(Src.SCALAR, amount))])
    assert list(result.acc[40]) == [before[(lane + amount) % 4] for lane in range(4)]


def gather(table: int, rows: int, counts, dst: int = 40, **options) -> Vector:
    return Vector(VectorOp.GATHER, Operand(Dst.ACC, dst), Operand(Src.ACC, table), INDEXES, NONE,
                  counts, param=rows, **options)


def scatter(rows: int, counts) -> Vector:
    return Vector(VectorOp.SCATTER, Operand(Dst.ACC, 40), Operand(Src.ACC, 3), INDEXES, NONE,
                  counts, param=rows)


def with_indexes(indexes):
    state = memories(WIDE_INT8)
    indexes = np.resize(np.asarray(indexes, np.uint32), (len(INDEX_ROWS), 4))
    state.acc[INDEX_ROWS.start:INDEX_ROWS.stop] = indexes
    return state


def test_gather_with_bad_indexes_gives_zeros_and_the_first_of_them():
    state = with_indexes([3, 0x80000002, 0, 1, 8, 7, 9, 2])
    result = check(WIDE_INT8, state, [
        gather(2, 8, (4, 2, 1), post=Post.RELU_I), gather(2, 8, (1, 1, 1), dst=50)])
    assert result.errors == [0x80000002, None]
    assert not result.acc[[41, 44, 46]].any()
    assert result.acc[[40, 42, 43]].any(axis=1).all()


def test_lanes_of_an_index_row_beyond_the_group_are_not_indexes():
    result = check(WIDE_INT8, with_indexes([1, 2, 0xFFFFFFFF, 99]), [gather(2, 8, (2, 3, 1))])
    assert result.errors == [None]


def test_bad_rows_take_part_in_a_reduction_as_zeros():
    state = with_indexes([3, 8, 0, 1])
    state.acc[2:10] = 0xFFFFFFF0
    result = check(WIDE_INT8, state, [
        gather(2, 8, (4, 2, 1), reduce=Reduce.ROWS, reduce_op=1)])
    assert result.errors == [8]
    assert not result.acc[[40, 41]].any()


@pytest.mark.parametrize(("indexes", "error"), [
    ([0, 5, 0, 5], None),       # later rows win
    ([3, 9, 8, 1], 9),
    ([3, 2, 1, 70000], 70000),  # the last row is not written
    ([8, 65536, 65543, 1 << 31], 8),  # none is
])
@pytest.mark.parametrize("noise", [0, 0.7])
def test_scatter(indexes, error, noise):
    follower = Vector(VectorOp.MOV, Operand(Dst.ACC, 55), Operand(Src.ACC, 1), counts=(2, 1, 1))
    result = check(WIDE_INT8, with_indexes(indexes),
                   [scatter(8, (4, 2, 1)), follower, scatter(7, (1, 1, 1)), follower], noise=noise)
    assert result.errors[0] == error
