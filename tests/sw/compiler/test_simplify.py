"""Rules of simplify, one by one."""

import numpy as np
import pytest
from shared import agree, ops_of

from celosia.compiler.passes.folding import MOST_ELEMENTS
from celosia.compiler.passes.simplify import simplify
from celosia.graph import DType, Graph, TensorType, constant, op, ops, parameter, splat

F32 = TensorType(DType.F32, (3, 4))
EDGES = np.array([[0.0, -0.0, 1, np.inf], [-np.inf, np.nan, -3, 2.5], [1e-3, 7, -1, 4]],
                 np.float32)


def of(make, type=F32):
    x = parameter(type)
    return Graph("g", [x], [make(x)])


NOTHING = {
    "times 1": lambda x: op("multiply", x, splat(1, x.type)),
    "1 times": lambda x: op("multiply", splat(1, x.type), x),
    "divided by 1": lambda x: op("divide", x, splat(1, x.type)),
    "plus -0": lambda x: op("add", x, splat(-0.0, x.type)),
    "less 0": lambda x: op("subtract", x, splat(0.0, x.type)),
    "power 1": lambda x: op("power", x, splat(1.0, x.type)),
    "at least -inf": lambda x: op("maximum", x, splat(-np.inf, x.type)),
    "negated twice": lambda x: op("negate", op("negate", x)),
    "turned back": lambda x: op("transpose", op("transpose", x, permutation=(1, 0)),
                                permutation=(1, 0)),
    "shaped back": lambda x: op("reshape", op("reshape", x, shape=(12,)), shape=(3, 4)),
    "reversed back": lambda x: op("reverse", op("reverse", x, dims=(0, 1)), dims=(1, 0)),
    "whole slice": lambda x: op("slice", x, start=(0, 0), limit=(3, 4), stride=(1, 1)),
    "nothing around": lambda x: op("pad", x, constant(0, DType.F32), low=(0, 0), high=(0, 0),
                                   interior=(0, 0)),
    "part of a whole": lambda x: op("slice", op("concatenate", x, x, dim=0), start=(3, 0),
                                    limit=(6, 4), stride=(1, 1)),
    "same either way": lambda x: op("select", op("compare", x, x, direction="lt"), x, x),
    "true": lambda x: op("select", constant(np.array(True)), x, op("exp", x)),
    "one of one": lambda x: op("concatenate", x, dim=1),
    "repeated once": lambda x: op("broadcast", x, shape=(3, 4), dims=(0, 1)),
    "wide and back": lambda x: op("bitcast", op("bitcast", x, dtype=DType.U32), dtype=DType.F32),
}


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_is_left(name):
    graph = of(NOTHING[name])
    found = simplify(graph)
    assert ops_of(found) == []
    agree(graph, found, [EDGES])


@pytest.mark.parametrize("make", [
    lambda x: op("add", x, splat(0.0, x.type)), lambda x: op("multiply", x, splat(0.0, x.type)),
    lambda x: op("convert", op("convert", x, dtype=DType.BF16), dtype=DType.F32),
    lambda x: op("divide", x, splat(3.0, x.type)), lambda x: op("subtract", x, x)])
def test_what_would_change_bits_stays(make):
    graph = of(make)
    assert [name for name in ops_of(simplify(graph)) if name not in ("constant", "broadcast")] == [
        name for name in ops_of(graph) if name not in ("constant", "broadcast")]


def test_narrow_type_and_back_is_kept_where_it_holds_all():
    def wide(x):
        return op("convert", op("convert", x, dtype=DType.F32), dtype=DType.BF16)

    assert ops_of(simplify(of(wide, TensorType(DType.BF16, (3,))))) == []


def test_quotient_by_a_power_of_two_is_a_product():
    graph = of(lambda x: op("divide", x, splat(8.0, x.type)))
    found = simplify(graph)
    assert "multiply" in ops_of(found)
    assert "divide" not in ops_of(found)
    agree(graph, found, [EDGES])


def test_constants_are_folded_up_to_a_size():
    for rows, folded in ((MOST_ELEMENTS // 4, True), (MOST_ELEMENTS // 4 + 1, False)):
        line = op("iota", dtype=DType.F32, shape=(rows, 4), dim=0)
        found = simplify(Graph("g", [], [op("sin", op("multiply", line, line))]))
        assert (ops_of(found) == ["constant"]) == folded


def test_constant_of_equal_elements_is_repeated():
    found = simplify(Graph("g", [], [constant(np.full((5, 6), 2.0, np.float32))]))
    assert ops_of(found) == ["constant", "broadcast"]


def test_same_computations_are_merged_but_not_through_a_barrier():
    x = parameter(F32)
    found = simplify(Graph("g", [x], [op("add", op("exp", x), op("exp", x))]))
    assert ops_of(found) == ["exp", "add"]
    [kept] = ops("barrier", x)
    found = simplify(Graph("g", [x], [op("add", op("exp", x), op("exp", kept))]))
    assert ops_of(found).count("exp") == 2


def test_arithmetic_comes_before_repetition():
    x = parameter(TensorType(DType.F32, (3,)))
    wide = op("broadcast", x, shape=(3, 100), dims=(0,))
    found = simplify(Graph("g", [x], [op("exp", op("add", wide, splat(1.0, wide.type)))]))
    assert found.outputs[0].node.op == "broadcast"
    assert all(node.types[0].size <= 3 for node in found.nodes[:-1])


def test_transpose_of_extents_of_1_is_a_reshape():
    graph = of(lambda x: op("transpose", x, permutation=(2, 0, 1)),
               TensorType(DType.F32, (3, 4, 1)))
    assert ops_of(simplify(graph)) == ["reshape"]


def test_negative_padding_is_a_slice():
    graph = of(lambda x: op("pad", x, constant(7, DType.F32), low=(-1, 2), high=(1, -3),
                            interior=(1, 0)))
    found = simplify(graph)
    assert ops_of(found) == ["constant", "pad", "slice"]
    agree(graph, found, [EDGES])
