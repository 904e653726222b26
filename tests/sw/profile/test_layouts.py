"""Arguments that are turned or thinned out before their use, and how they could be given."""

import pytest

from celosia.frontend import import_stablehlo
from celosia.profile.mends import _layout


def graph(shape, *lines, result):
    """A function of one argument %x, whose last line is named %y."""
    text = "\n".join(["module @m {", f"func.func public @main(%x: {shape}) -> {result} {{",
                      *lines, f"return %y : {result}", "}", "}"])
    return import_stablehlo(text)


def mends(made):
    return list(_layout(made, made.params[0], "x"))


def slice_of(rows, cols, taken, result):
    return graph(f"tensor<{rows}x{cols}xf32>",
                 f"%y = stablehlo.slice %x [{taken}] : (tensor<{rows}x{cols}xf32>) -> {result}",
                 result=result)


@pytest.mark.parametrize(("taken", "result", "wanted"), [
    ("0:8:2, 0:6", "tensor<4x6xf32>", "f32[4, 6]"), ("0:8, 0:6:3", "tensor<8x2xf32>", "f32[8, 2]"),
    ("0:8:2, 0:6:2", "tensor<4x3xf32>", "f32[4, 3]"), ("2:6, 0:6", "tensor<4x6xf32>", None),
    ("0:4, 1:5", "tensor<4x4xf32>", None)])
def test_what_is_left_out_need_not_be_given(taken, result, wanted):
    found = mends(slice_of(8, 6, taken, result))
    if wanted is None:
        assert found == []
        return
    [mend] = found
    shape = mend.graph.params[0].type.shape
    assert (mend.kind, mend.repeats, mend.config, mend.timing) == ("layout", 1, None, None)
    assert mend.what.startswith("x, ")
    assert mend.what.endswith(", is loaded with steps for slice")
    assert mend.attempt.startswith("give x without what is left out: ")
    assert f"f32{list(shape)}" == wanted
    assert [each.type.shape for each in mend.graph.outputs] == [shape]
    assert not any(node.op == "slice" for node in mend.graph.nodes)


def test_what_is_turned_is_given_as_it_is_used():
    made = graph("tensor<8x6xf32>", "%t = stablehlo.transpose %x, dims = [1, 0] : "
                 "(tensor<8x6xf32>) -> tensor<6x8xf32>",
                 "%y = stablehlo.add %t, %t : tensor<6x8xf32>", result="tensor<6x8xf32>")
    [mend] = mends(made)
    assert mend.attempt.startswith("give x in the order in which it is used: ")
    assert mend.what.endswith("is loaded with steps for transpose")
    assert mend.graph.params[0].type.shape == (6, 8)
    assert [each.type.shape for each in mend.graph.outputs] == [(6, 8)]


@pytest.mark.parametrize(("lines", "result"), [
    # It is used as it is; by two; of one axis; and given back, too.
    (["%y = stablehlo.add %x, %x : tensor<8x6xf32>"], "tensor<8x6xf32>"),
    (["%a = stablehlo.slice %x [0:8:2, 0:6] : (tensor<8x6xf32>) -> tensor<4x6xf32>",
      "%b = stablehlo.slice %x [1:8:2, 0:6] : (tensor<8x6xf32>) -> tensor<4x6xf32>",
      "%y = stablehlo.add %a, %b : tensor<4x6xf32>"], "tensor<4x6xf32>")])
def test_what_is_used_otherwise_stays(lines, result):
    assert mends(graph("tensor<8x6xf32>", *lines, result=result)) == []


def test_a_row_stays():
    assert mends(graph("tensor<8xf32>", "%y = stablehlo.slice %x [0:8:2] : (tensor<8xf32>) -> "
                       "tensor<4xf32>", result="tensor<4xf32>")) == []
