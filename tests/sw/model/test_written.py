"""What a command writes: the memory, and its rows or bytes."""

import pytest

from celosia.arch.commands import Load, Matmul, Store, Vector, VectorOperand
from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import Dst, Post, Src, VectorOp
from celosia.model import Machine
from celosia.model.written import written

CHIP = PRESETS["nano"]  # 4 lanes


def rows(first, count=3, step=1):
    return Stream(first, (count, 1, 1), (step, 0, 0))


def vector(kind, dst):
    source = VectorOperand(Src.SCALAR, 0, None)
    return Vector(VectorOp.MOV, Post.NONE, kind, dst, (source,), 0, dst.counts)


@pytest.mark.parametrize(("command", "name", "found"), [
    (Store(Mem.ACC, DmaFormat.W32, 0, 100, 2, 1, 16, 1, 2), "memory",
     [100, 101, 102, 103, 116, 117, 118, 119]),
    (Store(Mem.UB, DmaFormat.I8, 0, 100, 2, 3, 3, 1, 2), "memory", [100, 101, 102, 103, 104, 105]),
    (Load(Mem.UB, DmaFormat.I8, 5, 0, 2, 4, 4, 1, 2), "ub", [5, 6]),
    (Load(Mem.ACC, DmaFormat.W32, 5, 0, 2, 4, 16, 3, 2), "acc", [5, 8]),
    (Matmul(MatmulFormat.INT8, False, False, rows(9), rows(0), rows(20)), "acc", [9, 10, 11]),
    (vector(Dst.ACC, rows(2, 3, 4)), "acc", [2, 6, 10]),
    (vector(Dst.UB_I8, rows(2)), "ub", [2, 3, 4])])
def test_what_is_written(command, name, found):
    where, places = written(command, Machine(CHIP))
    assert (where, places.tolist()) == (name, found)
