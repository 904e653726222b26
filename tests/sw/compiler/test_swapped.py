"""Transposes of products: which are products in the other order, and that those are equal."""

import numpy as np
import pytest

from celosia.compiler.passes.swapped import swapped
from celosia.graph import DType, Graph, TensorType, interpret, op, parameter

I8, I32 = DType.I8, DType.I32


def transposed(rows, columns, depth, left=2, right=2, *, order=(1, 0), reshapes=1, more=()):
    """Return a graph of the transpose of a product, whose operands are contracted where it says.

    ``more``: what else are results, "dot" or "reshape".
    """
    x = parameter(TensorType(I8, (1, rows, depth) if left == 2 else (1, depth, rows)))
    y = parameter(TensorType(I8, (1, columns, depth) if right == 2 else (1, depth, columns)))
    dot = op("dot", x, y, dtype=I32, batch=((0, 0),), contract=((left, right),))
    flat = dot
    for _ in range(reshapes):
        flat = op("reshape", flat, shape=(rows, columns))
    outputs = [op("transpose", flat, permutation=order)]
    return Graph("g", [x, y], outputs + [{"dot": dot, "reshape": flat}[name] for name in more])


def ops_of(graph):
    return [node.op for node in graph.nodes if node.op != "parameter"]


@pytest.mark.parametrize(("sizes", "better"), [
    ((8, 6, 64), True),
    # The new activations are stored so that they must be turned: at most four times the result.
    ((8, 8, 32, 2, 1), True), ((8, 8, 33, 2, 1), False),
    ((4, 40, 16, 2, 1), True), ((4, 40, 17, 2, 1), False), ((40, 4, 160, 2, 1), True),
    # Those of now must be turned, too.
    ((8, 8, 33, 1, 1), True), ((2, 20, 8, 1, 1), True), ((2, 20, 9, 1, 1), False),
    ((2, 20, 900, 1, 2), True)])
def test_a_product_is_swapped_where_less_is_turned(sizes, better):
    graph = transposed(*sizes)
    found = swapped(graph)
    assert ops_of(found) == (["dot", "reshape"] if better else ["dot", "reshape", "transpose"])
    rng = np.random.default_rng(1)
    inputs = [rng.integers(-128, 128, each.shape).astype(np.int8) for each in graph.params]
    np.testing.assert_array_equal(interpret(found, inputs)[0], interpret(graph, inputs)[0])
    if better:
        [dot] = [node for node in found.nodes if node.op == "dot"]
        assert dot.operands == tuple(reversed(found.params))


@pytest.mark.parametrize("options", [
    {"order": (0, 1)}, {"more": ["dot"]}, {"more": ["reshape"]}])
def test_what_stays(options):
    graph = transposed(8, 8, 8, **options)
    assert swapped(graph) is graph


def test_shapes_between_do_not_matter():
    assert ops_of(swapped(transposed(8, 6, 8, reshapes=3))) == ["dot", "reshape"]
