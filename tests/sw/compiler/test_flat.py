"""Elementwise operations on what a product made: in its shape, or left where they are."""

import numpy as np
import pytest
from shared import agree, ops_of

from celosia.compiler.builder import Builder
from celosia.compiler.passes.flat import flat
from celosia.graph import DType, Graph, Source, TensorType, parameter

F32, BF16 = DType.F32, DType.BF16
b = Builder(Source.UNKNOWN)
WIDE, HEADS = TensorType(F32, (6, 8)), TensorType(F32, (6, 2, 4))


def gradient(x, y):
    return b("dot", x, y, dtype=F32, batch=[(0, 0)], contract=[(1, 1)])


def step(make, *types):
    """What ``make`` makes of a gradient in heads, and of other parameters."""
    x, y = parameter(TensorType(BF16, (1, 3, 6))), parameter(TensorType(BF16, (1, 3, 8)))
    others = [parameter(type) for type in types]
    made = make(b.reshape(gradient(x, y), *HEADS.shape), *others)
    return Graph("step", [x, y, *others], made if isinstance(made, tuple) else (made,))


def inputs(graph):
    rng = np.random.default_rng(2)
    return [rng.integers(-5, 6, value.shape).astype(value.dtype.numpy) for value in graph.params]


def momentum(g, w, v):
    new = b("add", b("multiply", v, 0.5), g)
    return b("subtract", w, b("multiply", new, 0.25)), new


def bias(g, v):
    return b("add", g, b.broadcast(v, HEADS.shape, (1, 2)))


@pytest.mark.parametrize(("make", "types"), [
    (momentum, (HEADS, HEADS)), (bias, (TensorType(F32, (2, 4)),)),
    (lambda g: b("multiply", g, 3.0), ()),
    (lambda g, p: b("select", p, g, b.full(0.0, HEADS)), (TensorType(DType.BOOL, ()),)),
])
def test_steps_are_in_the_shape_of_the_product(make, types):
    graph = step(make, *types)
    found = flat(graph)
    elementwise = [node for node in found.nodes
                   if node.op in ("add", "subtract", "multiply", "select")]
    assert {node.result.shape for node in elementwise} == {(1, *WIDE.shape)}
    agree(graph, found, inputs(graph))


def lanes(g, v):
    return b("add", g, b.broadcast(v, HEADS.shape, (2,)))


def turned(g, v):
    return b("add", g, b.transpose(v, (0, 2, 1)))


def shared(g, v):
    """A chain that something else needs would be computed twice."""
    other = b("exp", v)
    return b("add", g, other), other


@pytest.mark.parametrize(("make", "types"), [
    (lanes, (TensorType(F32, (4,)),)), (turned, (TensorType(F32, (6, 4, 2)),)),
    (shared, (HEADS,)),
])
def test_what_would_be_moved_or_made_twice_stays(make, types):
    graph = step(make, *types)
    assert flat(graph) is graph


def test_the_same_lanes_stay():
    x = parameter(TensorType(BF16, (1, 3, 6)))
    y, bias = parameter(TensorType(BF16, (1, 3, 8))), parameter(TensorType(F32, (2, 3, 8)))
    graph = Graph("rows", [x, y, bias], [b("add", b.reshape(gradient(x, y), 2, 3, 8), bias)])
    assert flat(graph) is graph
    assert ops_of(graph) == ["dot", "reshape", "add"]
