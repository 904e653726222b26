import pytest

from celosia.arch.isa import Dst, Post, Src, VectorOp
from celosia.arch.registers import Activity
from hw.vpu_bench import BOTH, INT8, LOW, NONE, Operand, Vector, check, memories


@pytest.mark.parametrize(("config", "a", "b", "dst"), [
    *((INT8, Operand(Src.ACC, 0, LOW), Operand(Src.ACC, 4 + bank, LOW), Dst.UB_I8)
      for bank in range(4)),
    (BOTH, Operand(Src.ACC, 0, LOW), Operand(Src.UB_BF16, 0, LOW), Dst.ACC),
    (INT8, Operand(Src.SCALAR, 5), Operand(Src.UB_I8, 1, LOW), Dst.ACC),
    (INT8, Operand(Src.SCALAR, 5), Operand(Src.SCALAR, 7), Dst.ACC),
], ids=str)
def test_a_row_a_cycle(config, a, b, dst):
    vector = Vector(VectorOp.IADD, Operand(dst, 32, LOW), a, b, NONE, (16, 64, 1))
    result = check(config, memories(config), [vector])
    busy = [i for i, what in enumerate(result.activities) if what == Activity.BUSY]
    assert len(busy) == 1024
    assert 1024 / (busy[-1] - busy[0] + 1) >= 0.98


def test_a_row_of_requantise_a_cycle():
    vector = Vector(VectorOp.REQUANT, Operand(Dst.UB_I8, 32, LOW), Operand(Src.ACC, 0, LOW),
                    Operand(Src.ACC_ROW, 3), Operand(Src.ACC_ROW, 7), (16, 64, 1),
                    param=0x7F8003)
    result = check(INT8, memories(INT8), [vector])
    assert result.cycles <= 1024 / 0.98 + 20


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
