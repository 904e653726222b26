"""What operations are off, by themselves and by inheritance."""

import numpy as np
import pytest
from hypothesis import given
from random_graphs import graphs

from celosia.graph import DType, Graph, TensorType, constant, interpret, op, ops, parameter, rewrite
from celosia.graph.deviation import deviations

TYPE = TensorType(DType.F32, (8, 8))


def network():
    params = [parameter(TYPE) for _ in range(4)]
    x = params[0]
    for w in params[1:]:
        x = op("tanh", op("reshape", op("dot", x, w, contract=((1, 0),), dtype=DType.F32,
                                        precision="highest"), shape=TYPE.shape))
    return Graph("network", params, [op("transpose", x, permutation=(1, 0))])


def inputs():
    rng = np.random.default_rng(0)
    return [rng.uniform(-1, 1, TYPE.shape).astype(np.float32) for _ in range(4)]


def test_rounding_is_an_operations_own():
    found = deviations(network(), inputs(), interpret)
    assert [each.node.op for each in found] == ["dot", "tanh"] * 3
    assert all(each.own < 1e-6 and each.total < 1e-5 for each in found)
    assert all(each.ulps < 4 for each in found if each.node.op == "tanh")
    assert found[0].inherited == 0
    assert [each.is_result for each in found] == [False] * 5 + [True]


@pytest.mark.parametrize("seed", range(6))
def test_a_plant_is_an_operations_own_and_is_inherited(seed):
    def planted(graph, arrays):
        place = iter(range(6))

        def more(node):
            if node.op not in ("dot", "tanh") or next(place) != seed:
                return None
            plant = constant(np.full(TYPE.shape, 0.01, np.float32))
            return op("add", node.result, plant).node.results

        return interpret(rewrite(graph, more), arrays)

    found = deviations(network(), inputs(), planted)
    largest = max(found, key=lambda each: each.own)
    assert largest is found[seed]
    assert 0.001 < largest.own < 0.1
    assert all(each.own < 1e-6 for each in found if each is not largest)
    assert largest.inherited < 1e-5
    assert all(each.inherited > 1e-4 and each.total == pytest.approx(each.inherited, rel=1e-2)
               for each in found[seed + 1:])


def test_what_is_no_number_in_both_is_not_off():
    x = parameter(TYPE)
    graph = Graph("g", [x], [op("log", x), op("exp", op("multiply", x, constant(
        np.full(TYPE.shape, 1e4, np.float32))))])
    x = inputs()[0]
    log, *_ = deviations(graph, [x], interpret)
    assert (x < 0).any()
    assert not log.is_finite
    assert log.own < 1e-6
    off = deviations(graph, [x], interpret)[-1]
    assert off.own == np.inf, "float64 has a number where float32 has infinity"


def test_what_the_host_does_is_refused():
    x = parameter(TYPE)
    token = constant(np.zeros((), np.int32))
    graph = Graph("g", [x], [ops("callback", token, x, number=0)[0]])
    with pytest.raises(ValueError, match="must not call functions of the host or other devices, "
                                         "as callback does"):
        deviations(graph, inputs()[:1], interpret)


@given(graphs())
def test_of_every_graph(case):
    graph, arrays = case
    for each in deviations(graph, arrays, interpret):
        assert min(each.own, each.inherited, each.total, each.ulps) >= 0
