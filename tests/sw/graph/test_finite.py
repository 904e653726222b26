"""Where NaN and infinity come from."""

import numpy as np
import pytest

from celosia.graph import DType, Graph, Source, TensorType, constant, op, ops, parameter
from celosia.graph.finite import first_non_finite

F32 = TensorType(DType.F32, (4, 4))
LINE = Source("train.py", 51, 8, "jit(step)/planted", ("train.py:80 in <module>",))

#: What makes something that is not finite of numbers from -2 to 2.
PLANTS = {
    "log": lambda x: op("log", x, source=LINE),
    "sqrt": lambda x: op("sqrt", op("subtract", op("negate", op("multiply", x, x)), one(x)),
                         source=LINE),
    "divide": lambda x: op("divide", one(x), op("subtract", x, x), source=LINE),
    "exp": lambda x: op("exp", op("multiply", op("multiply", x, x), one(x, 1e4)), source=LINE),
    "multiply": lambda x: op("multiply", op("add", x, one(x, 3e38)), one(x, 1e3), source=LINE),
}


def one(x, value=1.0):
    return constant(np.full(x.shape, value, x.dtype.numpy))


def network(plant, depth, at):
    """A network of some layers; what is planted stands behind one of them."""
    params = [parameter(F32) for _ in range(depth + 1)]
    x = params[0]
    for i, w in enumerate(params[1:]):
        x = op("tanh", op("dot", x, w, contract=((1, 0),), dtype=DType.F32))
        if i == at:
            x = PLANTS[plant](x)
    return Graph("network", params, [x])


@pytest.mark.parametrize("seed", range(20))
def test_a_plant_is_found_by_its_line(seed):
    rng = np.random.default_rng(seed)
    plant = list(PLANTS)[seed % len(PLANTS)]
    depth = int(rng.integers(1, 5))
    graph = network(plant, depth, int(rng.integers(depth)))
    inputs = [rng.standard_normal((4, 4)).astype(np.float32) for _ in graph.params]
    found = first_non_finite(graph, inputs)
    assert found is not None
    assert (found.node.op, found.node.source) == (plant, LINE)
    assert found.of == 16
    assert 0 < found.count <= 16


def test_what_is_said():
    graph = network("log", 1, 0)
    found = first_non_finite(graph, [np.eye(4, dtype=np.float32), -np.eye(4, dtype=np.float32)])
    assert str(found).splitlines() == [
        ("log (jit(step)/planted) at train.py:51:8: 16 of 16 elements are not finite, the first "
         "nan at [0, 0]"),
        "  called from train.py:80 in <module>",
        "  operand 0: f32[4,4], from -0.761594 to 0"]


def test_nothing_is_found_where_all_is_finite_or_was_given():
    x = parameter(F32)
    asked = op("maximum", x, constant(np.full((4, 4), -np.inf, np.float32)))
    assert first_non_finite(Graph("g", [x], [asked]), [np.ones((4, 4), np.float32)]) is None
    given = Graph("g", [x], [op("negate", x)])
    assert first_non_finite(given, [np.full((4, 4), np.nan, np.float32)]) is None


def test_a_loop_is_looked_into():
    scalar = TensorType(DType.F32)
    i, x = parameter(scalar), parameter(scalar)
    ci, cx, bi, bx = (parameter(scalar) for _ in range(4))
    cond = Graph("cond", [ci, cx], [op("compare", ci, constant(np.float32(3)), direction="lt")])
    body = Graph("body", [bi, bx], [op("subtract", bi, constant(np.float32(-1))),
                                    op("log", bx, source=LINE)])
    graph = Graph("g", [i, x], ops("while", i, x, regions=(cond, body)))
    found = first_non_finite(graph, [np.float32(0), np.float32(2)])
    assert found is not None
    assert (found.node.source, found.at) == (LINE, ())
    assert found.operands[0][1] < 0
