"""Dots become batched matmuls, and transposes around them flags."""

import random

import numpy as np
import pytest
from shared import agree, ops_of

from celosia.compiler import canonical
from celosia.compiler.passes.dots import dots, is_canonical_dot
from celosia.compiler.passes.simplify import simplify
from celosia.graph import DType, Graph, TensorType, op, parameter


def turned(rng, value, order):
    permutation = list(range(len(order)))
    rng.shuffle(permutation)
    return op("transpose", value, permutation=permutation), [order[dim] for dim in permutation]


@pytest.mark.parametrize("seed", range(100))
def test_any_dot(seed):
    rng = random.Random(seed)
    # Where sums are of many, the result is less than the operands: it moves instead of them.
    extents = {letter + str(i): rng.choice([0, 1, 2, 3] if rng.random() < 0.1 else
                                           [1, 2, 3, 13] if letter == "k" else [1, 2, 3])
               for letter in "bkmn" for i in range(rng.randint(0, 2))}
    orders = [[label for label in extents if label[0] in letters] for letters in ("bkm", "bkn")]
    dtype = rng.choice([DType.F32, DType.BF16, DType.I8, DType.U8, DType.I32])
    params, values = [], []
    for i, order in enumerate(orders):
        rng.shuffle(order)
        value = parameter(TensorType(dtype, tuple(extents[label] for label in order)))
        params.append(value)
        if rng.random() < 0.5:
            value, orders[i] = turned(rng, value, order)
        values.append(value)
    a, b = orders

    def pairs(letter):
        labels = [label for label in a if label[0] == letter]
        rng.shuffle(labels)
        return [(a.index(label), b.index(label)) for label in labels]

    result = rng.choice([DType.F32, DType.BF16]) if dtype.is_float else DType.I32
    found = op("dot", *values, dtype=result, batch=pairs("b"), contract=pairs("k"),
               precision=rng.choice(["default", "high", "highest"]))
    if rng.random() < 0.5:
        found, _ = turned(rng, found, list(range(found.type.rank)))
    graph = Graph("g", params, [found])
    after = dots(graph)
    assert dots(after) is after
    assert all(is_canonical_dot(node) for node in after.nodes if node.op == "dot")
    draw = np.random.default_rng(seed)
    inputs = [(draw.standard_normal(each.shape) * 3).astype(dtype.numpy) for each in params]
    agree(graph, after, inputs, 1e-2 if result is DType.BF16 else 1e-4, 1e-3)
    agree(after, simplify(after), inputs)


def matmul(shape, other, contract, precision="default", dtype=DType.F32, wrap=lambda x: x):
    a, b = (parameter(TensorType(dtype, each)) for each in (shape, other))
    result = DType.F32 if dtype.is_float else DType.I32
    found = op("dot", a, b, dtype=result, contract=[contract], precision=precision)
    return canonical(Graph("g", [a, b], [wrap(found)]))


def flags(graph):
    return [node.attrs["contract"] for node in graph.nodes if node.op == "dot"]


def test_stored_operands_are_not_moved():
    for contract, expected in (((1, 0), ((2, 1),)), ((1, 1), ((2, 2),)), ((0, 0), ((1, 1),))):
        shapes = [(5, 7) if contract[0] else (7, 5), (3, 7) if contract[1] else (7, 3)]
        graph = matmul(*shapes, contract)
        assert flags(graph) == [expected]
        assert "transpose" not in ops_of(graph)


def test_transposed_weight_gradient_swaps_operands():
    def transposed(x):
        return op("transpose", x, permutation=(1, 0))

    graph = matmul((8, 5), (8, 7), (0, 0), wrap=transposed)
    assert "transpose" not in ops_of(graph)
    assert graph.outputs[0].shape == (7, 5)


def test_precision_is_a_number_of_products():
    for precision, count in (("default", 1), ("high", 3), ("highest", 6)):
        assert len(flags(matmul((2, 3), (3, 4), (1, 0), precision))) == count
    # What is bf16 already has one part.
    assert len(flags(matmul((2, 3), (3, 4), (1, 0), "highest", DType.BF16))) == 1


def test_infinity_is_looked_for_once():
    """What is left of a finite number is finite."""
    graph = matmul((2, 3), (3, 4), (1, 0), "highest")
    assert ops_of(graph).count("is_finite") == 2


def test_int8_stays_int8():
    graph = matmul((2, 3), (3, 4), (1, 0), dtype=DType.I8)
    assert ops_of(graph) == ["reshape", "reshape", "dot", "reshape"]


@pytest.mark.parametrize(("shapes", "contract"), [
    (((5, 17), (5, 2, 17, 1)), (1, 2)), (((5, 2, 17, 1), (5, 17)), (2, 1)),
    (((5, 17, 2, 3), (5, 17)), (1, 1)), (((5, 17), (5, 17, 2, 3)), (1, 1))])
def test_a_result_of_three_dimensions_may_be_of_operands_of_two_and_four(shapes, contract):
    a, b = (parameter(TensorType(DType.I8, shape)) for shape in shapes)
    graph = Graph("g", [a, b], [op("dot", a, b, dtype=DType.I32, batch=[(0, 0)],
                                   contract=[contract])])
    after = canonical(graph)
    for node in after.nodes:
        if node.op == "dot":
            assert [each.type.rank for each in node.operands] == [3, 3]
    draw = np.random.default_rng(0)
    agree(graph, after, [draw.integers(-9, 9, shape).astype(np.int8) for shape in shapes])
