import re

import numpy as np
import pytest
from pages.accuracy.trace import kernel

from celosia.arch.vector import Post, Reduce, VectorOp
from celosia.compiler.kernels.terms import Term, clamp, step


def test_operators_are_those_of_fp32():
    def function(a, b):
        return abs(-(2 * a - b) + (1.5 - b * 3)) * 2.0
    made = kernel("f", function, ("a", "b"))
    assert [taken.op for taken in made.steps] == [
        VectorOp.FMUL, VectorOp.FSUB, VectorOp.FNEG, VectorOp.FMUL, VectorOp.FSUB, VectorOp.FADD,
        VectorOp.FABS, VectorOp.FMUL]
    assert [read.source for read in made.inputs] == ["a", "b"]
    a, b = np.array([[1.0, -2.0]], np.float32), np.array([[4.0, 0.5]], np.float32)
    found = made.evaluate(a, b).view(np.float32)
    np.testing.assert_array_equal(found, 2 * np.abs(-(2 * a - b) + (1.5 - b * 3)))


def test_steps_without_use_are_left_out():
    def function(x):
        _ = x * 3.0
        return x + 1.0
    made = kernel("f", function)
    assert [taken.op for taken in made.steps] == [VectorOp.FADD]
    assert made.cost == 1


def test_results_of_numbers_are_repeated():
    made = kernel("f", lambda x: step(VectorOp.IADD, 1, 2))
    assert made.evaluate(np.zeros((2, 3), np.float32)).tolist() == [[3] * 3] * 2
    assert made.cost == 0


@pytest.mark.parametrize(("text", "function"), [
    ("fadd must have 2 operands, not 1", lambda a, b: step(VectorOp.FADD, a)),
    ("ffma must have at most 2 operands of more than one row",
     lambda a, b: step(VectorOp.FFMA, a, b, a)),
    ("param of fadd must be 0, not 5", lambda a, b: step(VectorOp.FADD, a, b, param=5)),
    ("reduce must be none, rows or lanes, not collect",
     lambda a, b: step(VectorOp.FADD, a, b, reduce=Reduce.COLLECT)),
    ("fadd must join no rows or lanes in a function",
     lambda a, b: step(VectorOp.FADD, a, b, reduce=Reduce.LANES)),
    ("clamp bounds must be bf16 numbers, not 0.1",
     lambda a, b: step(VectorOp.FADD, a, b, **clamp(0.1, 1.0))),
    ("gather moves words and must not be in a kernel", lambda a, b: step(VectorOp.GATHER, a, b)),
    ("requant must have no second stage, not square",
     lambda a, b: step(VectorOp.REQUANT, a, 1, 0, post=Post.SQUARE)),
])
def test_steps_that_the_chip_does_not_have(text, function):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        kernel("f", function, ("a", "b"))


def test_terms_belong_to_one_kernel():
    kept: list[Term] = []
    kernel("f", lambda x: kept.append(x) or x + 1.0)
    text = r"^operands of fadd must belong to the kernel being traced$"
    with pytest.raises(ValueError, match=text):
        kernel("g", lambda x: x + kept[0])
    with pytest.raises(ValueError, match=text):
        kept[0] + 1.0


def test_bounds_of_a_clamp_are_packed():
    assert clamp(-1.0, 2.0) == {"post": Post.CLAMP_F, "param": 0xBF80 | 0x4000 << 16}
