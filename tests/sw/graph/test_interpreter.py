"""What the operations mean where implementations differ."""

import math

import ml_dtypes
import numpy as np
import pytest

from celosia.graph import (
    OPS,
    DType,
    Graph,
    TensorType,
    constant,
    interpret,
    op,
    ops,
    parameter,
)
from celosia.graph.interpreter.kernels import KERNELS

BF16 = ml_dtypes.bfloat16
LEAST = -2**31


def run(name, *arrays, overriding=None, **attrs):
    params = [parameter(TensorType(DType.of(array.dtype), array.shape)) for array in arrays]
    graph = Graph("g", params, ops(name, *params, **attrs))
    found = interpret(graph, arrays, precision=overriding)
    return found[0] if len(found) == 1 else found


def i32(*values):
    return np.array(values, np.int32)


def f32(*values):
    return np.array(values, np.float32)


@pytest.mark.parametrize(("name", "a", "b", "wanted"), [
    ("add", i32(2**31 - 1), i32(1), i32(LEAST)),
    ("multiply", i32(65536, -3), i32(65536, 5), i32(0, -15)),
    ("divide", i32(7, -7, 7, -7, 5, -5, LEAST), i32(2, 2, -2, -2, 0, 0, -1),
     i32(3, -3, -3, 3, -1, -1, LEAST)),
    ("remainder", i32(7, -7, 7, -7, 5, LEAST), i32(2, 2, -2, -2, 0, -1), i32(1, -1, 1, -1, 5, 0)),
    ("divide", np.uint32([2**32 - 1, 5]), np.uint32([2, 0]), np.uint32([2**31 - 1, 2**32 - 1])),
    ("divide", np.int8([-128, 100]), np.int8([-1, -7]), np.int8([-128, -14])),
    ("power", i32(3, -2, 10), i32(4, 3, 0), i32(81, -8, 1)),
    ("shift_left", i32(1, 1, 1, -1), i32(31, 32, -1, 4), i32(LEAST, 0, 0, -16)),
    ("shift_right", i32(-1, -1, -1), i32(28, 32, 0), i32(15, 0, -1)),
    ("shift_right_signed", i32(-16, -16, 16), i32(2, 99, -1), i32(-4, -1, 0)),
    ("maximum", f32(1, np.nan), f32(np.nan, 2), f32(np.nan, np.nan)),
    ("remainder", f32(5.5, -5.5), f32(2, 2), f32(1.5, -1.5)),
    ("power", f32(-np.inf, 4), f32(0.5, 0.5), f32(np.inf, 2)),
], ids=str)
def test_binary(name, a, b, wanted):
    np.testing.assert_array_equal(run(name, a, b), wanted)


def test_conversion():
    x = f32(1.5, -1.5, 3e9, -3e9, np.nan, np.inf, -0.5)
    np.testing.assert_array_equal(run("convert", x, dtype=DType.I32),
                                  i32(1, -1, 2**31 - 1, LEAST, 0, 2**31 - 1, 0))
    np.testing.assert_array_equal(run("convert", x, dtype=DType.U8), [1, 0, 255, 0, 0, 255, 0])
    np.testing.assert_array_equal(run("convert", x, dtype=DType.BOOL), [True] * 7)
    np.testing.assert_array_equal(run("convert", i32(300, -1), dtype=DType.I8), [44, -1])
    np.testing.assert_array_equal(run("convert", i32(2**24 + 1), dtype=DType.F32), [2.0**24])
    # Ties go to the even one.
    halves = f32(1 + 2**-8, 1 + 3 * 2**-8)
    np.testing.assert_array_equal(run("convert", halves, dtype=DType.BF16).astype(np.float32),
                                  [1, 1 + 2**-6])


def test_bf16_results_are_rounded_once():
    x = np.array([1.0, 3.0], BF16)
    assert run("divide", x[:1], x[1:]).dtype == BF16
    assert run("divide", x[:1], x[1:])[0] == np.float32(1 / 3).astype(BF16)
    many = np.full(1000, 1.0, BF16)
    # In bf16 alone the sum would stay at 256.
    assert run("reduce", many, np.zeros((), BF16), dims=(0,), reducer="add") == 1000


def test_a_reduction_of_nothing_is_its_start():
    for dims in ((0, 1), (0,), (1, 0, 2)):
        found = run("reduce", np.zeros((0, 3, 2), np.int32), np.int32(5), dims=dims, reducer="add")
        np.testing.assert_array_equal(found, np.full((3, 2)[len(dims) - 1:], 5))


@pytest.mark.parametrize(("precision", "wanted"), [("default", 1.0), ("high", 1 + 2**-10),
                                                   ("highest", 1 + 2**-10)])
def test_precision_of_a_dot(precision, wanted):
    a, b = f32([[1 + 2**-10]]), f32([[1]])
    attrs = {"dtype": DType.F32, "contract": [(1, 0)], "precision": precision}
    assert run("dot", a, b, **attrs) == wanted
    assert run("dot", a, b, overriding="highest", **attrs) == 1 + 2**-10


def test_dot_of_int8_is_exact():
    a = np.full((1, 3000), -128, np.int8)
    assert run("dot", a, a, dtype=DType.I32, contract=[(1, 1)]) == 3000 * 128 * 128


def test_reduce_precision():
    x = f32(1.0009765625, 70000, 1e-9, -2.5e-5, np.nan, np.inf, 65520)
    with np.errstate(over="ignore"):
        wanted = x.astype(np.float16).astype(np.float32)
    # Below the least normal number of the format there is 0.
    wanted[2] = 0
    wanted[3] = -0.0
    np.testing.assert_array_equal(run("reduce_precision", x, exponent=5, mantissa=10), wanted)
    bf16 = run("reduce_precision", x, exponent=8, mantissa=7)
    np.testing.assert_array_equal(bf16, x.astype(BF16).astype(np.float32))


def test_erf_inv():
    def bisect(y):
        low, high = 0.0, 6.0
        for _ in range(80):
            middle = (low + high) / 2
            # erfc has digits where erf is nearly 1.
            below = math.erf(middle) < y if y < 0.5 else math.erfc(middle) > 1 - y
            low, high = (middle, high) if below else (low, middle)
        return low

    x = f32(1e-20, 1e-3, 0.3, 0.5, 0.9, 0.999, 0.9999999)
    found = run("erf_inv", np.concatenate([x, -x]))
    wanted = np.array([bisect(float(each)) for each in x])
    wanted[0] = 1e-20 * math.sqrt(math.pi) / 2
    np.testing.assert_allclose(found, np.concatenate([wanted, -wanted]), 1e-6)
    np.testing.assert_array_equal(run("erf_inv", f32(0, 1, -1, 2)), [0, np.inf, -np.inf, np.nan])


def test_erf():
    x = np.linspace(-6, 6, 101).astype(np.float32)
    np.testing.assert_allclose(run("erfc", x), 1 - run("erf", x), 1e-5, 1e-7)
    np.testing.assert_allclose(run("erfc", f32(9)), 4.137032e-37, 1e-5)


def test_arg_reduce_of_nan_and_ties():
    x = f32([1, 3, 3], [np.nan, 9, np.nan], [-np.inf, -np.inf, -np.inf])
    index = np.broadcast_to(i32(0, 1, 2), (3, 3))
    low, zero = np.float32(-np.inf).reshape(()), np.int32(0).reshape(())
    values, places = run("arg_reduce", x, index, low, zero, dims=(1,), reducer="argmax")
    np.testing.assert_array_equal(values, f32(3, np.nan, -np.inf))
    np.testing.assert_array_equal(places, [1, 0, 0])


def test_sort_of_zeros_and_nans():
    x = f32(np.nan, 0.0, -1, -0.0, np.inf, -np.nan, -np.inf)
    index = np.arange(7, dtype=np.int32)
    _, order = run("sort", x, index, dim=0)
    np.testing.assert_array_equal(order, [6, 2, 1, 3, 4, 0, 5])
    _, order = run("sort", x, index, dim=0, descending=True)
    np.testing.assert_array_equal(order, [0, 5, 4, 1, 3, 2, 6])
    _, order = run("top_k", x, k=4)
    np.testing.assert_array_equal(order, [0, 4, 1, 3])
    _, order = run("top_k", x, k=7)
    np.testing.assert_array_equal(order, [0, 4, 1, 3, 2, 6, 5])


def test_scatter_of_several_to_one_place():
    x, indices = np.zeros(4, np.float32), i32([1], [1], [9], [-1])
    updates = f32(1, 2, 3, 4)
    attrs = {"inserted": (0,), "start_map": (0,), "index_dim": 1}
    np.testing.assert_array_equal(run("scatter", x, indices, updates, reducer="set", **attrs),
                                  [0, 2, 0, 0])
    np.testing.assert_array_equal(run("scatter", x, indices, updates, reducer="add", **attrs),
                                  [0, 3, 0, 0])


def test_slices_stay_inside():
    x = np.arange(5, dtype=np.int8)
    for start, wanted in ((-3, 0), (2, 2), (4, 3), (2**31 - 1, 3)):
        np.testing.assert_array_equal(
            run("dynamic_slice", x, np.int32(start).reshape(()), sizes=(2,)),
            [wanted, wanted + 1])


def test_case_takes_the_last_branch_where_there_is_none():
    def branch(number):
        x = parameter(TensorType(DType.I32))
        return Graph("branch", [x], [op("add", x, constant(number, DType.I32))])

    index, x = parameter(TensorType(DType.I32)), parameter(TensorType(DType.I32))
    graph = Graph("g", [index, x], ops("case", index, x, regions=map(branch, (10, 20, 30))))
    found = [int(interpret(graph, [np.int32(i), np.int32(1)])[0]) for i in (0, 1, 2, 3, -1)]
    assert found == [11, 21, 31, 31, 31]


def test_trace_sees_every_node():
    x = parameter(TensorType(DType.F32))
    graph = Graph("g", [x], [op("exp", op("negate", x))])
    seen = []
    interpret(graph, [np.float32(0)], trace=lambda node, operands, results: seen.append(
        (node.op, float(results[0]))))
    assert seen == [("negate", 0.0), ("exp", 1.0)]


def test_every_operation_has_a_kernel():
    assert set(KERNELS) == set(OPS) - {"parameter"}


def test_inputs_must_fit():
    x = parameter(TensorType(DType.F32, (2,)), "x")
    graph = Graph("g", [x], [x])
    with pytest.raises(ValueError, match=r"^inputs of graph g must be 1, not 0$"):
        interpret(graph, [])
    with pytest.raises(ValueError, match=r"^input 0 \(x\) of graph g must be f32\[2\], not "
                                         r"i32\[3\]$"):
        interpret(graph, [i32(1, 2, 3)])


def test_requantise_is_that_of_the_chip():
    from celosia.arch.numerics import requant, requant_scale
    rng = np.random.default_rng(5)
    x, bias = (rng.integers(-(1 << 20), 1 << 20, (4, 8), dtype=np.int32) for _ in range(2))
    scale = np.full((4, 8), requant_scale(3e-4), np.int32)
    values = [parameter(TensorType(DType.I32, (4, 8))) for _ in range(3)]
    y = op("requantise", *values, zero_point=3, low=-100, high=101)
    (came,) = interpret(Graph("g", values, [y]), [x, scale, bias])
    assert came.dtype == np.int8
    assert (came == requant(x, scale.view(np.uint32), bias, 3, -100, 101)).all()
    assert came.min() == -100
    assert came.max() == 101
