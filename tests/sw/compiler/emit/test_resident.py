"""Moves and fills of tensors on chip."""

import numpy as np
import pytest
from moving import SMALL, Memory, everything, whole

from celosia.arch.isa import Mem
from celosia.compiler.emit.fill import emit_fill
from celosia.compiler.emit.move import emit_move
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Access, Fill, Move, OnChip
from celosia.compiler.views import View

HOMES = [("f32", Mem.ACC), ("bf16", Mem.UB), ("i8", Mem.UB), ("i8", Mem.ACC)]
SHAPES = [(7, 10), (3, 4), (5, 1), (2, 3, 6), (11,), ()]


def values_of(memory, tensor, rng):
    if tensor.format.name == "BF16":
        memory.write(tensor, rng.integers(0x80, 0x7F00, tensor.shape).astype(np.uint16))


@pytest.mark.parametrize(("dtype", "mem"), HOMES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_there_and_back(dtype, mem, shape):
    memory = Memory(SMALL)
    a, b = memory.tensor("a", shape, dtype), memory.tensor("b", shape, dtype)
    values_of(memory, a, memory.rng)
    chip = memory.tensor("chip", shape, dtype, OnChip(mem, 9))
    other = memory.tensor("other", shape, dtype, OnChip(mem, 60))
    there = emit_move(SMALL, Move(whole(a), whole(chip)), everything(SMALL))
    across = emit_move(SMALL, Move(whole(chip), whole(other)), everything(SMALL))
    back = emit_move(SMALL, Move(whole(other), whole(b)), everything(SMALL))
    for part in (across, back):
        there.after += [*part.before, *(op for block in part.blocks for stage in block.stages
                                        for op in stage), *part.after]
    after, machine, _ = memory.run(there)
    np.testing.assert_array_equal(memory.array(b, after), memory.array(a))
    if shape == (5, 1):
        rows = (machine.acc if mem == Mem.ACC else machine.ub)[60:65]
        assert (rows == rows[:, :1]).all()


def test_rows_of_a_larger_tensor():
    memory = Memory(SMALL)
    a, b = memory.tensor("a", (4, 6, 10)), memory.tensor("b", (4, 3, 7))
    chip = memory.tensor("chip", (4, 3, 7), home=OnChip(Mem.ACC, 9))
    view = View.contiguous(a.shape).reverse((0,)).slice((0, 1, 2), (4, 6, 9), (1, 2, 1))
    there = emit_move(SMALL, Move(Access(a, view), whole(chip)), everything(SMALL))
    there.after += [op for block in emit_move(SMALL, Move(whole(chip), whole(b)),
                                              everything(SMALL)).blocks
                    for stage in block.stages for op in stage]
    after, _, _ = memory.run(there)
    np.testing.assert_array_equal(memory.array(b, after), memory.array(a)[::-1, 1::2, 2:9])


def test_what_is_not_whole_is_refused():
    memory = Memory(SMALL)
    a = memory.tensor("a", (4, 6))
    chip = memory.tensor("chip", (6, 4), home=OnChip(Mem.ACC, 9))
    view = View.contiguous((4, 6))
    with pytest.raises(CompileError, match="^a move must use all of chip, which is on chip, in its "
                                           "order, not View"):
        emit_move(SMALL, Move(whole(a), Access(chip, View(0, (4, 6), (1, 4)))), everything(SMALL))
    with pytest.raises(CompileError, match="^swap must have rows of 4 elements on the other side "
                                           "of chip, which is on chip, not View"):
        emit_move(SMALL, Move(Access(a, view.transpose((1, 0))), whole(chip), "swap"),
                  everything(SMALL))


@pytest.mark.parametrize(("dtype", "mem"), HOMES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_fill(dtype, mem, shape):
    memory = Memory(SMALL)
    chip = memory.tensor("chip", shape, dtype, OnChip(mem, 9))
    word = 0x3FC00000 if dtype != "i8" else 0xFFFFFFFF
    _, machine, _ = memory.run(emit_fill(SMALL, Fill(whole(chip), word), everything(SMALL)))
    rows, columns = int(np.prod(shape[:-1])), shape[-1] if shape else 1
    memories = {Mem.ACC: machine.acc, Mem.UB: machine.ub}
    bits = word if mem == Mem.ACC else {"bf16": 0x3FC0, "i8": 0xFFFF}[dtype]
    panels = -(-columns // 4)
    found = memories[mem][9:9 + rows * panels].reshape(panels, rows, 4).transpose(1, 0, 2)
    found = found.reshape(rows, -1)
    assert (found[:, :columns] == bits).all()
    if mem == Mem.UB and columns > 1:
        assert (found[:, columns:] == 0).all()
