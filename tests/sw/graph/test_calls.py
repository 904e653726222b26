"""Functions of the host that graphs call."""

import numpy as np
import pytest

from celosia.graph import (
    DType,
    Graph,
    GraphError,
    TensorType,
    constant,
    interpret,
    ops,
    parameter,
    parse,
    to_text,
)
from celosia.graph.calls import CallError, HostFunction, functions

VECTOR = TensorType(DType.F32, (2,))


def calling(number, results=(VECTOR,)):
    x = parameter(VECTOR, "x")
    after, *found = ops("callback", constant(np.int32(0)), x, number=number, results=results)
    return Graph("calling", [x], [*found, after])


def test_calls_and_prints():
    held = HostFunction(lambda x: [x + 1])
    graph = calling(held.number)
    found, after = interpret(graph, [np.zeros(2, np.float32)])
    assert list(found) == [1, 1]
    assert after == 0
    assert to_text(parse(to_text(graph))) == to_text(graph)
    assert functions([held.number, held.number + 1]) == (held,)


@pytest.mark.parametrize(("function", "message"), [
    (lambda x: [x, x], "results of a function of the host must be 1, not 2"),
    (lambda x: [x[:1]], "result 0 of a function of the host must be f32[2], not f32[1]"),
    (lambda x: ["a"], "result 0 of a function of the host must be f32[2], not <U1[]"),
])
def test_wrong_results(function, message):
    held = HostFunction(function)
    with pytest.raises(CallError) as caught:
        interpret(calling(held.number), [np.zeros(2, np.float32)])
    assert str(caught.value) == f"unknown source: {message}"


def test_what_a_function_raises():
    held = HostFunction(lambda x: [x.nothing])
    with pytest.raises(CallError, match="raised AttributeError: 'numpy.ndarray' object has no"):
        interpret(calling(held.number), [np.zeros(2, np.float32)])


def test_one_that_is_gone():
    number = HostFunction(lambda x: [x]).number
    with pytest.raises(CallError, match=f"must be one of this process, not number {number}: "):
        interpret(calling(number), [np.zeros(2, np.float32)])


def test_types():
    assert TensorType.parse("f32[2,3]") == TensorType(DType.F32, (2, 3))
    assert TensorType.parse("bool[]") == TensorType(DType.BOOL)
    with pytest.raises(ValueError, match=r"type must be like f32\[2,3\], not 'f32'"):
        TensorType.parse("f32")
    with pytest.raises(GraphError, match=r"after must be i32\[\], not f32\[2\]"):
        ops("callback", parameter(VECTOR), number=0)
