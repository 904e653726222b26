"""The text form, as people see it, and what is said about text that is wrong."""

import ml_dtypes
import numpy as np
import pytest

from celosia.graph import (
    DType,
    Graph,
    GraphError,
    Source,
    TensorType,
    constant,
    op,
    ops,
    parameter,
    parse,
    to_text,
)

TEXT = '''graph step(
  %0: f32[2,3] "x" @ "a.py":1:9,
  %1: bf16[3,4] "params['w']" donated
) {
  %2 = constant() value=i32[]{0} : i32[]
  %3 = convert(%1) dtype=f32 : f32[3,4]
  %4 = dot(%0, %3) dtype=f32 contract=[[1,0]] : f32[2,4] @ "a.py":2:5 "jit(step)/dot"
  %5 = constant() value=bf16[4]{1.0,-0.0,0x7fc1,-inf} : bf16[4]
  %6 = convert(%5) dtype=f32 : f32[4]
  %7 = broadcast(%6) shape=[2,4] dims=[1] : f32[2,4]
  %8 = add(%4, %7) : f32[2,4]
  %18, %19 = while(%2, %8) : i32[], f32[2,4] {
    cond(%9: i32[], %10: f32[2,4]) {
      %11 = constant() value=i32[]{3} : i32[]
      %12 = compare(%9, %11) direction=lt : bool[]
      return %12
    }
    body(%13: i32[], %14: f32[2,4]) {
      %15 = constant() value=i32[]{1} : i32[]
      %16 = add(%13, %15) : i32[]
      %17 = add(%14, %14) : f32[2,4]
      return %16, %17
    }
  }
  return %19, %18
}
'''


def loop():
    x = parameter(TensorType(DType.F32, (2, 3)), "x", source=Source("a.py", 1, 9))
    w = parameter(TensorType(DType.BF16, (3, 4)), "params['w']", donated=True)
    wide = op("convert", w, dtype=DType.F32)
    y = op("dot", x, wide, dtype=DType.F32, contract=[(1, 0)],
           source=Source("a.py", 2, 5, "jit(step)/dot"))
    bias = constant(np.array([1, -0.0, 0, -np.inf], ml_dtypes.bfloat16))
    bits = bias.node.attrs["value"].numpy.copy()
    bits.view(np.uint16)[2] = 0x7FC1
    bias = op("convert", constant(bits), dtype=DType.F32)
    y = op("add", y, op("broadcast", bias, shape=(2, 4), dims=[1]))
    i, z = parameter(TensorType(DType.I32)), parameter(y.type)
    cond = Graph("cond", [i, z], [op("compare", i, constant(3, DType.I32), direction="lt")])
    i, z = parameter(TensorType(DType.I32)), parameter(y.type)
    body = Graph("body", [i, z], [op("add", i, constant(1, DType.I32)), op("add", z, z)])
    count, y = ops("while", constant(0, DType.I32), y, regions=(cond, body))
    return Graph("step", [x, w], [y, count])


def test_text():
    assert to_text(loop()) == TEXT


def test_text_reads_back():
    assert to_text(parse(TEXT)) == TEXT


def test_white_space_is_free():
    assert to_text(parse(" ".join(TEXT.split()))) == TEXT


def test_large_constants():
    graph = Graph("g", [], [constant(np.arange(65, dtype=np.int8))])
    text = to_text(graph)
    assert f'i8[65]{{hex "{bytes(range(65)).hex()}"}}' in text
    assert to_text(parse(text)) == text
    short = to_text(Graph("g", [], [constant(np.arange(64, dtype=np.int8))]), elide=True)
    assert f"i8[64]{{{','.join(map(str, range(64)))}}}" in short
    assert to_text(graph, elide=True) == """graph g() {
  %0 = constant() value=i8[65]{...} : i8[65]
  return %0
}
"""
    with pytest.raises(GraphError) as caught:
        parse(to_text(graph, elide=True))
    assert str(caught.value) == "<text>:2:32: there must be a token, not '.'"


WRONG = [
    ("graph step", "grap step", "1:1: there must be 'graph', not 'grap'"),
    ("dot(", "dott(", ("7:8: operation must be one of celosia.graph.OPS, not 'dott'; did you mean "
                      "'dot'?")),
    ("contract=", "contrac=", ("7:30: attribute of dot must be one of dtype, batch, contract, "
                              "precision, not 'contrac'; did you mean 'contract'?")),
    ("dot(%0, %3)", "dot(%0, %7)", "7:16: value must be defined before it is used, not '%7'"),
    ("%4 = dot", "%3 = dot", "7:3: value must be defined once, not again '%3'"),
    ("f32[2,4] @", "f32[2,5] @", "7:8: results of dot must be f32[2,4], not f32[2,5]"),
    ("[[1,0]]", "[[0,0]]", ("7:8: a.py:2:5 (jit(step)/dot): dot: extents of pair [0,0] must be "
                           "equal, not 2 and 3")),
    ("f32[2,3] \"x\"", "f33[2,3] \"x\"", (
        "2:7: element type must be one of bool, i8, u8, i16, u16, i32, u32, f16, bf16, f32, i64, "
        "u64, f64, c64, not 'f33'")),
    ("f32[2,3] \"x\"", "f32[2,-3] \"x\"", ("2:10: shape must be of non-negative integers, not "
                                          "(2, -3)")),
    ("i32[]{3}", "i32[]{3,4}", "14:30: elements must be 1 for i32[], not 2"),
    ("i32[]{3}", "i32[]{3.5}", "14:36: there must be an element of i32, not '3.5'"),
    ("i32[]{3}", "i8[]{300}", "14:35: there must be an element of i8, not '300'"),
    ("direction=lt", "direction=up", ("15:13: unknown source: compare: attribute direction must be "
                                     "one of eq, ne, lt, le, gt, ge, not 'up'")),
    ("add(%14, %14)", "add(%14, %8)", ("21:22: value must be defined before it is used, not "
                                      "'%8'")),
    ("return %19, %18\n}\n", "return %19, %18\n", "26:1: there must be ',', not the end"),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_wrong_text(old, new, message):
    assert TEXT.count(old) == 1
    with pytest.raises(GraphError) as caught:
        parse(TEXT.replace(old, new), "g.txt")
    assert str(caught.value) == f"g.txt:{message}"


@pytest.mark.parametrize("cut", range(0, len(TEXT) - 1, 7))
def test_text_that_ends_early(cut):
    with pytest.raises(GraphError):
        parse(TEXT[:cut])
