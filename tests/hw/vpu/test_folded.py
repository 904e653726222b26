"""A vector unit with fewer lanes than a row has words."""

import random
from dataclasses import replace

import pytest

from celosia.arch.lane import boundary_latency, lane_latency, tree_latency
from celosia.arch.registers import Activity
from celosia.arch.vector import Dst, Reduce, ReduceOp, Src, VectorOp
from hw.vpu_bench import INT8, WIDE, WIDE_INT8, check
from hw.vpu_vectors import LOW, NONE, Operand, Vector, memories, random_vector

HALF, QUARTER = replace(WIDE_INT8, lanes=2), replace(WIDE_INT8, lanes=1)
#: One lane of two, two lanes of four with floating point, and one of four with it and one bank.
OTHERS = [replace(INT8, lanes=1), replace(WIDE, lanes=2), replace(WIDE, lanes=1, banks=1)]
MOVEMENTS = [VectorOp.TRANSPOSE, VectorOp.ROTATE, VectorOp.GATHER, VectorOp.SCATTER]
INDEXES = Operand(Src.ACC, 20, (0, 1, 0))

foldings = pytest.mark.parametrize("config", [HALF, QUARTER], ids=lambda c: f"{c.fold}-beats")


def busy(result):
    """First and last cycle in which a beat enters the lanes, and how many do."""
    cycles = [i for i, what in enumerate(result.activities) if what == Activity.BUSY]
    return cycles[0], cycles[-1], len(cycles)


@pytest.mark.parametrize("noise", [0, 0.6])
@foldings
def test_random_instructions_back_to_back(config, noise):
    rng = random.Random(11)
    vectors = [random_vector(config, rng) for _ in range(40)]
    check(config, memories(config), vectors, noise=noise)


@pytest.mark.parametrize("config", OTHERS, ids=lambda c: f"{c.name}-{c.lanes}-of-{c.dim}")
def test_every_operation_on_corners(config):
    rng = random.Random(12)
    ops = [op for op in VectorOp if config.bf16 or op < 32]
    check(config, memories(config), [random_vector(config, rng, op) for op in ops])


@pytest.mark.parametrize("noise", [0, 0.7])
@foldings
def test_movements_among_others(config, noise):
    rng = random.Random(13)
    vectors = [random_vector(config, rng, rng.choice([*MOVEMENTS, VectorOp.IADD]))
               for _ in range(40)]
    check(config, memories(config), vectors, noise=noise)


@pytest.mark.parametrize("amount", [0, 1, 2, 3, 6])
@foldings
def test_rotate_over_the_beats(config, amount):
    state = memories(config)
    before = state.acc[5].copy()
    result = check(config, state, [
        Vector(VectorOp.ROTATE, Operand(Dst.ACC, 40), Operand(Src.ACC, 5),
               Operand(Src.SCALAR, amount), counts=(3, 1, 1))])
    assert list(result.acc[40]) == [before[(lane + amount) % 4] for lane in range(4)]


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
@foldings
def test_collect_writes_each_beat_of_its_row(config, rows):
    vector = Vector(VectorOp.MOV, Operand(Dst.ACC, 40), Operand(Src.ACC, 0),
                    counts=(rows, 3, 2), reduce=Reduce.COLLECT)
    check(config, memories(config), [vector] * 2)


@pytest.mark.parametrize("reduce", [Reduce.LANES, Reduce.COLLECT])
def test_floating_point_joins_in_the_order_of_the_tree(reduce):
    config = OTHERS[2]
    vector = Vector(VectorOp.MOV, Operand(Dst.ACC, 40), Operand(Src.ACC, 0), counts=(4, 2, 1),
                    reduce=reduce, reduce_op=ReduceOp.SUM_F)
    check(config, memories(config), [vector])


@pytest.mark.parametrize(("vector", "more"), [
    (Vector(VectorOp.IADD, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW),
            Operand(Src.ACC, 0, LOW), counts=(16, 8, 1)), 0),
    (Vector(VectorOp.IADD, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC_LANE, 0, LOW, 3),
            Operand(Src.UB_I8_LANE, 5, LOW, 1), counts=(16, 8, 1)), 0),
    (Vector(VectorOp.MOV, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW), counts=(16, 8, 1),
            reduce=Reduce.ROWS), 0),
    (Vector(VectorOp.TRANSPOSE, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW),
            counts=(16, 8, 1)), 0),
    (Vector(VectorOp.GATHER, Operand(Dst.UB_I8, 32, LOW), Operand(Src.ACC, 0), INDEXES,
            counts=(4, 8, 4), param=8), 0),
    (Vector(VectorOp.SCATTER, Operand(Dst.ACC, 32), Operand(Src.UB_I8, 0, LOW), INDEXES,
            counts=(4, 8, 4), param=8), 0),
    (Vector(VectorOp.ROTATE, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW),
            Operand(Src.SCALAR, 3), counts=(16, 8, 1)), 1),
], ids=lambda v: f"{v.op.name}-{int(v.reduce)}" if isinstance(v, Vector) else "")
@foldings
def test_a_beat_a_cycle(config, vector, more):
    """``more``: cycles of a row beside its beats."""
    first, last, count = busy(check(config, memories(config), [vector]))
    assert count == 128 * config.fold
    assert 128 * (config.fold + more) / (last - first + 1) >= 0.97


@foldings
def test_latency_is_as_documented(config):
    for reduce, more in ((Reduce.NONE, 0), (Reduce.LANES, tree_latency(config) + config.fold - 1)):
        vector = Vector(VectorOp.MOV, Operand(Dst.ACC, 40), Operand(Src.ACC, 0), NONE, NONE,
                        reduce=reduce)
        result = check(config, memories(config), [vector])
        taken = next(i for i, what in enumerate(result.activities) if what != Activity.IDLE) - 1
        written = result.done[0] - 1
        # The activity is that of the cycle before, and the cycle of the offer shows none.
        assert written - taken == (lane_latency(config) + boundary_latency(config) + 3
                                   + config.fold - 1 + more - 1)
