"""Without 64-bit elements a graph means the same."""

import numpy as np
import pytest

from celosia.frontend import FrontendError
from celosia.frontend.narrow import narrow
from celosia.frontend.stablehlo.importer import import_stablehlo
from celosia.frontend.stablehlo.reader import read_module
from celosia.graph import CORE, DType, Graph, TensorType, check, constant, interpret, op, parameter

KEYS = np.array([0, 1, 0xFFFFFFFF, 0x100000000, 0x123456789ABCDEF0, 2**64 - 1], np.uint64)
PAIRS = [(a, b) for a in KEYS for b in KEYS]
A, B = (np.array(each, np.uint64) for each in zip(*PAIRS, strict=True))


def words(numbers):
    return np.ascontiguousarray(numbers).view(np.uint32).reshape(*numbers.shape, 2)


def run(make, *numbers):
    """Return what a function of U64 values gives, its arguments and U64 results as words."""
    params = [parameter(TensorType(DType.U32, (len(each), 2)), f"x{i}")
              for i, each in enumerate(numbers)]
    result = make(*(op("bitcast", each, dtype=DType.U64) for each in params))
    if result.dtype is DType.U64:
        result = op("bitcast", result, dtype=DType.U32)
    made = narrow(Graph("main", params, [result]), exact=False)
    check(made, CORE)
    [found] = interpret(made, list(map(words, numbers)))
    return found


def test_arithmetic_of_unsigned_numbers():
    found = run(lambda a, b: op("multiply", op("add", a, b), b), A, B)
    np.testing.assert_array_equal(found, words((A + B) * B))


@pytest.mark.parametrize("dtype", [DType.U32, DType.I32, DType.U8])
def test_conversions_of_unsigned_numbers_keep_the_low_bits(dtype):
    found = run(lambda a: op("convert", a, dtype=dtype), KEYS)
    np.testing.assert_array_equal(found, KEYS.astype(np.uint32).astype(dtype.numpy))


def test_signed_numbers_become_unsigned_with_their_sign():
    x = parameter(TensorType(DType.I64, (4,)), "x")
    for name in ("convert", "bitcast"):
        wide = op(name, x, dtype=DType.U64)
        made = narrow(Graph("main", [x], [op("bitcast", wide, dtype=DType.U32)]),
                      exact=False)
        assert made.params[0].type == TensorType(DType.I32, (4,))
        numbers = np.array([0, 5, -1, -2**31], np.int32)
        [found] = interpret(made, [numbers])
        np.testing.assert_array_equal(found, words(numbers.astype(np.int64).view(np.uint64)))


def test_signed_numbers_have_32_bits_from_parameters_to_results():
    x = parameter(TensorType(DType.I64, (3,)), "labels", donated=True)
    least = op("broadcast", constant(np.iinfo(np.int64).min), shape=(3,))
    one = op("broadcast", constant(np.int64(1)), shape=(3,))
    made = narrow(Graph("main", [x], [op("add", op("maximum", x, least), one)]),
                  exact=False)
    assert made.params[0].node.attrs["name"] == "labels"
    assert made.params[0].node.attrs["donated"]
    assert made.outputs[0].dtype is DType.I32
    np.testing.assert_array_equal(interpret(made, [np.array([-7, 0, 9], np.int32)])[0], [-6, 1, 10])


def test_a_graph_of_narrow_elements_is_the_same_one():
    x = parameter(TensorType(DType.F32, (3,)), "x")
    graph = Graph("main", [x], [op("exp", x)])
    assert narrow(graph, exact=False) is graph
    assert narrow(graph, exact=True) is graph


def test_everything_that_does_not_fit_is_said_at_once():
    x, key = parameter(TensorType(DType.I64, (3,)), "x"), parameter(TensorType(DType.U64, (3,)))
    zero, wide = constant(np.uint64(0)), {"window": (2,), "stride": (1,), "padding": ((0, 0),),
                                          "x_dilation": (1,), "window_dilation": (1,)}
    graph = Graph("main", [x, key], [
        op("add", x, op("broadcast", constant(np.int64(2**40)), shape=(3,))),
        op("reduce_window", key, zero, reducer="maximum", **wide)])
    with pytest.raises(FrontendError) as error:
        narrow(graph, exact=False)
    text = str(error.value)
    for said in ("main needs elements of 64 bits:", "not 1099511627776",
                 "reduce_window: windows of 64-bit elements must be summed, from 0, not"):
        assert said in text


def graph(body):
    return import_stablehlo(read_module(body, "x"), filename="x", narrows=True)


def test_arguments_of_double_precision_are_single_where_they_become_that():
    made = graph("""func.func @main(%x: tensor<2x3xf64>) -> tensor<6xf32> {
      %0 = stablehlo.reshape %x : (tensor<2x3xf64>) -> tensor<6xf64>
      %1 = stablehlo.convert %0 : (tensor<6xf64>) -> tensor<6xf32>
      return %1 : tensor<6xf32>
    }""")
    check(made, CORE)
    assert made.params[0].type == TensorType(DType.F32, (2, 3))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(interpret(made, [x])[0], x.reshape(6))
    with pytest.raises(FrontendError) as info:
        graph("""func.func @main(%x: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xi32>) {
          %0 = stablehlo.convert %x : (tensor<2xf64>) -> tensor<2xi32>
          return %x, %0 : tensor<2xf64>, tensor<2xi32>
        }""")
    assert "not f64[2]: cast them to f32" in str(info.value)
    with pytest.raises(FrontendError, match="needs elements of 64 bits:\n.*result: elements"):
        graph("""func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
          return %x : tensor<2xf64>
        }""")


def test_constants_of_double_precision_fold_and_nothing_else_has_it():
    folded = graph("""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.constant dense<0.1> : tensor<2xf64>
      %1 = stablehlo.convert %0 : (tensor<2xf64>) -> tensor<2xf32>
      %2 = stablehlo.add %x, %1 : tensor<2xf32>
      return %2 : tensor<2xf32>
    }""")
    check(folded, CORE)
    [found] = interpret(folded, [np.zeros(2, np.float32)])
    np.testing.assert_array_equal(found, np.full(2, 0.1, np.float32))
    with pytest.raises(FrontendError) as info:
        graph("""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf64>
          %1 = stablehlo.convert %0 : (tensor<2xf64>) -> tensor<2xf32>
          return %1 : tensor<2xf32>
        }""")
    [problem] = info.value.problems
    assert problem == ("x:2:16: stablehlo.convert: elements must have at most 32 bits where they "
                       "are not constant, not f64[2]: cast them to f32")
