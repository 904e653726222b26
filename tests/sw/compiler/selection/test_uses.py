"""Who uses a value: operations behind changes of its shape; None where a result shows it."""

import numpy as np
import pytest

from celosia.compiler.selection.uses import Uses, bare, constant_of
from celosia.graph import DType, Graph, TensorType, constant, op, ops, parameter, splat

X, Y = (parameter(TensorType(DType.F32, (2, 3))) for _ in range(2))


def shaped(value):
    return op("transpose", op("reshape", value, shape=(3, 2)), permutation=(1, 0))


def test_what_a_value_is_but_for_its_shape():
    first, second = ops("barrier", X, op("reshape", Y, shape=(6,)))
    assert bare(X) is X
    assert bare(shaped(X)) is X
    assert (bare(first), bare(second)) == (X, Y)
    assert bare(op("broadcast", X, shape=(4, 2, 3), dims=(1, 2))) is X
    total = op("exp", shaped(X))
    assert bare(shaped(total)) is total


@pytest.mark.parametrize(("value", "number"), [
    (constant(2.5, DType.F32), 2.5), (splat(3, TensorType(DType.I32, (2, 3))), 3.0),
    (op("reshape", splat(-1.0, TensorType(DType.F32, (2, 3))), shape=(6,)), -1.0),
    (constant(np.float32([1, 2])), None), (X, None),
    (op("negate", constant(2.0, DType.F32)), None)])
def test_the_number_that_all_elements_are(value, number):
    found = constant_of(value)
    assert found == number
    assert found is None or type(found) is float


def test_users_are_found_behind_shapes():
    one, two = op("exp", X), op("add", shaped(X), Y)
    uses = Uses(Graph("g", [X, Y], [one, op("negate", two)]))
    assert uses.of(X) == [one.node, two.node]
    assert uses.of(Y) == [two.node]
    assert uses.only(Y) is two.node
    assert uses.only(X) is None
    assert uses.of(one) is None
    assert uses.only(one) is None
    assert uses.of(two) == [uses.only(two)]
    assert uses.of(op("abs", X)) is None


def test_an_operand_that_is_there_twice_is_used_twice():
    twice = op("multiply", X, X)
    uses = Uses(Graph("g", [X], [twice]))
    assert uses.of(X) == [twice.node, twice.node]
    assert uses.only(X) is None


def test_shapes_that_are_results_show_a_value():
    assert Uses(Graph("g", [X], [op("exp", X), shaped(X)])).of(X) is None
    assert Uses(Graph("g", [X], [op("exp", X), X])).of(X) is None


def test_of_a_barrier_each_result_is_its_operand():
    first, second = ops("barrier", X, Y)
    one, two = op("exp", first), op("negate", second)
    uses = Uses(Graph("g", [X, Y], [one, two]))
    assert (uses.of(X), uses.of(Y)) == ([one.node], [two.node])
    first, second = ops("barrier", X, X)
    uses = Uses(Graph("g", [X], [op("exp", first), op("negate", second)]))
    assert [node.op for node in uses.of(X)] == ["exp", "negate"]
    first, _ = ops("barrier", X, Y)
    uses = Uses(Graph("g", [X, Y], [op("exp", first)]))
    assert uses.only(X) is not None


def test_regions_and_further_graphs_count_too():
    a, b = (parameter(TensorType(DType.F32, (2, 3))) for _ in range(2))
    inner = op("exp", a)
    branch = Graph("branch", [a], [inner])
    index = parameter(TensorType(DType.I32))
    graph = Graph("g", [index, X], ops("case", index, X, regions=[branch]))
    other = op("abs", b)
    uses = Uses(graph, Graph("h", [b], [op("negate", other)]))
    assert uses.of(a) == [inner.node]
    assert uses.of(inner) is None
    assert [node.op for node in uses.of(X)] == ["case"]
    assert uses.of(b) == [other.node]
