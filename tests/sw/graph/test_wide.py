"""Graphs in float64."""

import ml_dtypes
import numpy as np
from hypothesis import given
from random_graphs import graphs

from celosia.graph import DType, Graph, TensorType, constant, interpret, op, parameter
from celosia.graph.wide import widened


def widely(array):
    return array.astype(np.float64) if DType.of(array.dtype).is_float else array


@given(graphs())
def test_every_float_is_wide_and_nothing_else_is_other(case):
    graph, inputs = case
    values = [value for node in graph.nodes for value in node.results]
    wide = widened(graph, values)
    assert not any(value.dtype.is_float and value.dtype is not DType.F64
                   for value in (*wide.params, *wide.outputs))
    found = interpret(wide, [widely(each) for each in inputs])
    for value, array in zip((*graph.outputs, *values), found, strict=True):
        assert array.shape == value.shape
        assert value.dtype.is_float or array.dtype == value.dtype.numpy


def test_nothing_is_rounded_on_the_way():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(4, 64)).astype(np.float32), rng.normal(size=(64, 4)).astype(np.float32)
    a, b = (parameter(TensorType(DType.F32, each.shape)) for each in (x, w))
    product = op("dot", a, b, contract=((1, 0),), dtype=DType.F32)
    half = op("convert", op("exp", product), dtype=DType.BF16)
    [found] = interpret(widened(Graph("g", [a, b], [half])), [widely(x), widely(w)])
    np.testing.assert_allclose(found, np.exp(widely(x) @ widely(w)), rtol=1e-12)


def test_bits_are_those_of_the_program():
    x = np.array([1 + 2 ** -12, -0.1, 3e38], np.float32)
    a = parameter(TensorType(DType.F32, x.shape))
    bits = op("bitcast", a, dtype=DType.I32)
    back = op("bitcast", op("add", bits, constant(np.ones(3, np.int32))), dtype=DType.F32)
    rounded = op("reduce_precision", a, exponent=8, mantissa=7)
    found = interpret(widened(Graph("g", [a], [bits, back, rounded])), [widely(x)])
    assert (found[0] == x.view(np.int32)).all()
    assert (found[1] == (x.view(np.int32) + 1).view(np.float32)).all()
    assert (found[2] == x.astype(ml_dtypes.bfloat16)).all()
    assert [each.dtype for each in found] == [np.int32, np.float64, np.float64]


def test_order_is_that_of_float64():
    x = np.array([1.0, 1 + 1e-12, -1e-300, np.nan, -np.inf, 0.0])
    a = parameter(TensorType(DType.F32, x.shape))
    order = op("sort", a, dim=0)
    [found] = interpret(widened(Graph("g", [a], [order])), [x])
    np.testing.assert_array_equal(found, np.sort(x))
