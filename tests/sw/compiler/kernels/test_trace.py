import re

import numpy as np
import pytest

from celosia.arch.vector import Post, Reduce, VectorOp
from celosia.compiler import kernels
from celosia.compiler.kernels import Term, clamp, kernel, lane_index, row_index, scalar, step


def test_operators_are_those_of_fp32():
    def function(a, b):
        return abs(-(2 * a - b) + (1.5 - b * 3)) * scalar("s")
    made = kernel("f", function, ("a", "b"))
    assert [taken.op for taken in made.steps] == [
        VectorOp.FMUL, VectorOp.FSUB, VectorOp.FNEG, VectorOp.FMUL, VectorOp.FSUB, VectorOp.FADD,
        VectorOp.FABS, VectorOp.FMUL]
    a, b = np.array([[1.0, -2.0]], np.float32), np.array([[4.0, 0.5]], np.float32)
    found = kernels.evaluate(made, a, b, s=2.0)[0].view(np.float32)
    np.testing.assert_array_equal(found, 2 * np.abs(-(2 * a - b) + (1.5 - b * 3)))


def test_steps_without_use_are_left_out():
    def function(x):
        _ = x * 3.0
        return x + 1.0
    made = kernel("f", function)
    assert [taken.op for taken in made.steps] == [VectorOp.FADD]
    assert made.cost == 1
    assert made.columns is None


def test_results_have_one_row_where_all_operands_do():
    kept = {}

    def function(x, scale):
        kept["row"] = step(VectorOp.FMUL, scale, lane_index())
        kept["number"] = step(VectorOp.IADD, row_index(), lane_index())
        kept["sum"] = step(VectorOp.MOV, x, reduce=Reduce.ROWS)
        return step(VectorOp.SELECT, kept["row"], kept["number"], x) + kept["sum"]
    made = kernel("f", function, rows=("scale",))
    assert {name: tile.one_row for name, tile in kept.items()} == {
        "row": True, "number": False, "sum": True}
    assert [taken.walks for taken in made.steps] == [False, True, True, True, True]
    assert made.cost == 4


def test_columns_are_groups_of_lanes():
    seen = {}

    def function(x, bias):
        seen["groups"] = len(x), len(bias)
        return [tile + shift for tile, shift in zip(x, bias, strict=True)]
    made = kernel("f", function, rows=("bias",), columns=21, dim=8)
    assert seen["groups"] == (3, 3)
    x = np.arange(42, dtype=np.float32).reshape(2, 21)
    bias = np.ones(21, np.float32)
    np.testing.assert_array_equal(kernels.evaluate(made, x, bias, dim=8)[0].view(np.float32), x + 1)


def test_scalars_are_named_once():
    made = kernel("f", lambda x: (x * scalar("b") + scalar("a")) * scalar("b"))
    assert made.scalars == ("b", "a")
    assert made.needs_bf16
    assert not kernel("g", lambda x: step(VectorOp.IADD, x, 1)).needs_bf16


def wrong(text, function, **options):
    return pytest.param(function, options, text, id=text[:40])


@pytest.mark.parametrize(("function", "options", "text"), [
    wrong("fadd must have 2 operands, not 1", lambda a, b: step(VectorOp.FADD, a)),
    wrong("ffma must have at most 2 operands of more than one row",
          lambda a, b: step(VectorOp.FFMA, a, b, a)),
    wrong("param of fadd must be 0, not 5", lambda a, b: step(VectorOp.FADD, a, b, param=5)),
    wrong("reduce must be none, rows or lanes, not collect",
          lambda a, b: step(VectorOp.FADD, a, b, reduce=Reduce.COLLECT)),
    wrong("clamp bounds must be bf16 numbers, not 0.1",
          lambda a, b: step(VectorOp.FADD, a, b, **clamp(0.1, 1.0))),
    wrong("gather moves words and must not be in a kernel",
          lambda a, b: step(VectorOp.GATHER, a, b)),
    wrong("requant must have no second stage, not square",
          lambda a, b: step(VectorOp.REQUANT, a, 1, 0, post=Post.SQUARE)),
    wrong("columns must be at least 1 and have a dim, not 0", lambda a, b: a, columns=0, dim=4),
    wrong("columns must be at least 1 and have a dim, not 8", lambda a, b: a, columns=8),
    wrong("dim must be at least 1, not 0", lambda a, b: a, columns=8, dim=0),
])
def test_steps_that_the_chip_does_not_have(function, options, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        kernel("f", function, ("a", "b"), **options)


def test_tiles_belong_to_one_kernel():
    kept: list[Term] = []
    kernel("f", lambda x: kept.append(x) or x + 1.0)
    text = r"^operands of fadd must belong to the kernel being traced$"
    with pytest.raises(ValueError, match=text):
        kernel("g", lambda x: x + kept[0])
    with pytest.raises(ValueError, match=text):
        kept[0] + 1.0


def test_bounds_of_a_clamp_are_packed():
    assert clamp(-1.0, 2.0) == {"post": Post.CLAMP_F, "param": 0xBF80 | 0x4000 << 16}
