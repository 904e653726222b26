import pytest

from celosia.arch.lane import tree_latency
from celosia.arch.registers import Activity
from celosia.arch.vector import Dst, Post, Reduce, Src, VectorOp
from hw.vpu_bench import BOTH, INT8, WIDE_INT8, check
from hw.vpu_vectors import LOW, NONE, Operand, Vector, memories


@pytest.mark.parametrize(("config", "a", "b", "dst"), [
    *((INT8, Operand(Src.ACC, 0, LOW), Operand(Src.ACC, 4 + bank, LOW), Dst.UB_I8)
      for bank in range(4)),
    (BOTH, Operand(Src.ACC, 0, LOW), Operand(Src.UB_BF16, 0, LOW), Dst.ACC),
    (INT8, Operand(Src.SCALAR, 5), Operand(Src.UB_I8, 1, LOW), Dst.ACC),
    (INT8, Operand(Src.SCALAR, 5), Operand(Src.SCALAR, 7), Dst.ACC),
], ids=["0-banks-apart", "1-bank-apart", "2-banks-apart", "3-banks-apart", "two-memories",
        "one-stream", "no-stream"])
def test_a_row_a_cycle(config, a, b, dst):
    rows = 256
    vector = Vector(VectorOp.IADD, Operand(dst, 32, LOW), a, b, NONE, (16, rows // 16, 1))
    result = check(config, memories(config), [vector])
    busy = [i for i, what in enumerate(result.activities) if what == Activity.BUSY]
    assert len(busy) == rows
    assert rows / (busy[-1] - busy[0] + 1) >= 0.98


def test_a_row_of_requantise_a_cycle():
    vector = Vector(VectorOp.REQUANT, Operand(Dst.UB_I8, 32, LOW), Operand(Src.ACC, 0, LOW),
                    Operand(Src.ACC_ROW, 3), Operand(Src.ACC_ROW, 7), (16, 64, 1),
                    param=0x7F8003)
    result = check(INT8, memories(INT8), [vector])
    assert result.cycles <= 1024 / 0.98


TABLE, INDEXES, ONE_ROW = Operand(Src.ACC, 0), Operand(Src.ACC, 20, (0, 1, 0)), (0, 0, 0)


@pytest.mark.parametrize("vector", [
    Vector(VectorOp.IADD, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC_LANE, 0, LOW, 3),
           Operand(Src.UB_I8_LANE, 5, LOW, 1), counts=(16, 16, 1)),
    Vector(VectorOp.MOV, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW), counts=(16, 16, 1),
           reduce=Reduce.ROWS),
    Vector(VectorOp.MOV, Operand(Dst.ACC, 32, ONE_ROW), Operand(Src.ACC, 0, (0, 0, 0)),
           counts=(1, 256, 1), reduce=Reduce.ROWS),
    Vector(VectorOp.MOV, Operand(Dst.UB_I8, 32, LOW), Operand(Src.UB_I8, 0, LOW),
           counts=(16, 16, 1), reduce=Reduce.LANES),
    Vector(VectorOp.MOV, Operand(Dst.ACC, 32, ONE_ROW), Operand(Src.ACC, 0, LOW),
           counts=(4, 64, 1), reduce=Reduce.COLLECT),
    Vector(VectorOp.TRANSPOSE, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW),
           counts=(16, 16, 1)),
    Vector(VectorOp.ROTATE, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW),
           Operand(Src.SCALAR, 3), counts=(16, 16, 1)),
    Vector(VectorOp.GATHER, Operand(Dst.UB_I8, 32, LOW), TABLE, INDEXES, counts=(4, 8, 8), param=8),
    Vector(VectorOp.SCATTER, Operand(Dst.ACC, 32), Operand(Src.UB_I8, 0, LOW), INDEXES,
           counts=(4, 8, 8), param=8),
], ids=lambda v: f"{v.op.name}-{int(v.reduce)}")
def test_movements_and_reductions_take_a_row_a_cycle(vector):
    result = check(WIDE_INT8, memories(WIDE_INT8), [vector])
    busy = [i for i, what in enumerate(result.activities) if what == Activity.BUSY]
    assert len(busy) == 256
    assert 256 / (busy[-1] - busy[0] + 1) >= 0.98


def test_1024_rows_are_transposed_at_a_row_a_cycle_start_and_end_included():
    vector = Vector(VectorOp.TRANSPOSE, Operand(Dst.ACC, 32, LOW), Operand(Src.ACC, 0, LOW),
                    counts=(16, 64, 1))
    assert check(INT8, memories(INT8), [vector]).cycles <= 1024 / 0.95


def test_only_what_follows_a_joining_of_lanes_without_one_waits_for_the_tree():
    joins = Vector(VectorOp.MOV, Operand(Dst.ACC, 32), Operand(Src.ACC, 0), counts=(12, 1, 1),
                   reduce=Reduce.LANES)
    plain = Vector(VectorOp.MOV, Operand(Dst.ACC, 48), Operand(Src.ACC, 0), counts=(12, 1, 1))
    result = check(WIDE_INT8, memories(WIDE_INT8), [plain, joins, joins, plain, plain])
    busy = [i for i, what in enumerate(result.activities) if what == Activity.BUSY]
    gaps = [after - before - 1 for before, after in zip(busy, busy[1:], strict=False)]
    assert gaps == [tree_latency(WIDE_INT8) if i == 3 * 12 - 1 else 0 for i in range(59)]


@pytest.mark.parametrize("config", [INT8, BOTH], ids=lambda c: c.name)
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
