import re

import numpy as np
import pytest

from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.compiler.kernels.terms import (
    Extent,
    Leaf,
    Term,
    extent_of,
    join_extents,
    lane_index,
    row_index,
    word,
)

FULL, ROWS, LANES, SCALAR = Extent.FULL, Extent.ROWS, Extent.LANES, Extent.SCALAR


def read(extent):
    return Term(Leaf.READ, (), extent)


@pytest.mark.parametrize(("number", "bits"), [
    (1.5, 0x3FC00000), (-1, 0xFFFFFFFF), (0x80000000, 0x80000000), (np.float32(1.5), 0x3FC00000),
    (np.int64(-1), 0xFFFFFFFF)])
def test_numbers_become_words(number, bits):
    made = word(number)
    assert made.is_word
    assert made.param == bits
    assert made.extent is SCALAR


def test_words_are_of_numbers_of_32_bits():
    with pytest.raises(ValueError, match=r"^operand must fit 32 bits, not 4294967296$"):
        word(1 << 32)
    for wrong in (True, "x", None):
        with pytest.raises(TypeError, match=re.escape(
                f"operand must be a Term or a number, not {wrong!r}")):
            word(wrong)


def test_extents_join():
    assert join_extents(map(read, (SCALAR, ROWS, LANES))) is FULL
    assert join_extents([read(ROWS), word(1)]) is ROWS
    assert join_extents([]) is SCALAR
    assert extent_of([read(FULL)], Reduce.LANES) is ROWS
    assert extent_of([read(LANES)], Reduce.LANES) is SCALAR
    assert extent_of([read(FULL)], Reduce.ROWS) is LANES


def test_values_are_what_has_rows():
    x, y = read(FULL), read(LANES)
    made = Term(VectorOp.FADD, (x, word(1.0)))
    assert made.values == (x,)
    assert Term(VectorOp.SELECT, (made, y, lane_index())).values == (made, y)
    assert not Term(VectorOp.IADD, (row_index(), word(1))).values


def test_terms_that_move():
    x = read(FULL)
    assert Term(VectorOp.MOV, (x,)).moves
    assert Term(VectorOp.MOV, (x,), reduce=Reduce.LANES, reduce_op=ReduceOp.SUM_F).moves
    assert not Term(VectorOp.MOV, (x,), post=Post.RELU_F).moves
    assert not Term(VectorOp.MOV, (word(1),)).moves


def test_terms_that_need_floating_point():
    x = read(FULL)
    assert Term(VectorOp.FNEG, (x,)).needs_bf16
    assert Term(VectorOp.MOV, (x,), post=Post.RECIP).needs_bf16
    assert Term(VectorOp.MOV, (x,), reduce=Reduce.ROWS, reduce_op=ReduceOp.MAX_F).needs_bf16
    assert not Term(VectorOp.IADD, (x, x), reduce=Reduce.LANES).needs_bf16
