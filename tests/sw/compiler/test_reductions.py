"""Reductions, windows and their gradients become whole sums, maxima and minima."""

import random
from contextlib import suppress

import numpy as np
import pytest
from shared import agree, ops_of

from celosia.compiler import CANONICAL, canonical
from celosia.compiler.passes.reductions import reductions
from celosia.compiler.passes.simplify import simplify
from celosia.graph import (
    DType,
    Graph,
    GraphError,
    TensorType,
    check,
    constant,
    interpret,
    op,
    ops,
    parameter,
)
from celosia.graph.operations.contract import window_extent


def at_random(rng):
    rank = rng.choice([1, 1, 2, 2, 3])
    shape = tuple(rng.choice([1, 2, 5, 7, 11]) for _ in range(rank))
    dtype = rng.choice([DType.F32, DType.BF16, DType.I32, DType.U8, DType.U32])
    reducers = ["add", "multiply", "maximum", "minimum"]
    reducer = rng.choice(reducers if dtype.is_float else [*reducers, "and", "or", "xor"])
    initial = constant(rng.choice([0, 1, 3, 100]), dtype)
    dims = [dim for dim in range(rank) if rng.random() < 0.6]
    params = [parameter(TensorType(dtype, shape))]

    def numbers(low, high):
        return [rng.randint(low, high) for _ in shape]

    padding = [(rng.randint(-1, 3), rng.randint(-1, 3)) if rng.random() < 0.5 else (0, 0)
               for _ in shape]
    match rng.choice(["reduce", "arg_reduce", "reduce_window", "select_and_scatter"]):
        case "reduce":
            found = ops("reduce", *params, initial, dims=dims, reducer=reducer)
        case "arg_reduce":
            line = op("iota", dtype=DType.I32, shape=(params[0].type.size,))
            index = op("reshape", line, shape=shape)
            found = ops("arg_reduce", *params, index, initial, constant(2, DType.I32), dims=dims,
                        reducer=rng.choice(["argmax", "argmin"]))
        case "reduce_window":
            found = ops("reduce_window", *params, initial, reducer=reducer, window=numbers(1, 9),
                        stride=numbers(1, 3), padding=padding, x_dilation=numbers(1, 2),
                        window_dilation=numbers(1, 2))
        case _:
            window, stride = numbers(1, 4), numbers(1, 3)
            updates = tuple(window_extent(extent, edges, 1, size, 1, step) for
                            extent, edges, size, step in zip(shape, padding, window, stride,
                                                             strict=True))
            if 0 in updates:
                raise GraphError("nothing to scatter")
            params.append(parameter(TensorType(dtype, updates)))
            found = ops("select_and_scatter", *params, initial, window=window, stride=stride,
                        padding=padding, select=rng.choice(["ge", "le"]),
                        scatter=rng.choice(["add", "maximum"]))
    return Graph("g", params, found)


@pytest.mark.parametrize("seed", range(200))
def test_any_reduction(seed):
    graph, rng = None, random.Random(seed)
    while graph is None:
        with suppress(GraphError):
            graph = at_random(rng)
    draw = np.random.default_rng(seed)
    # Small integers have ties, and sums of them no error.
    inputs = [np.where(draw.random(each.shape) < 0.1, np.nan if each.dtype.is_float else 0,
                       draw.integers(-3, 4, each.shape)).astype(np.float32)
              for each in graph.params]
    inputs = [np.where(np.isnan(array), array, np.abs(array) if each.dtype.value[0] == "u" else
                       array).astype(each.dtype.numpy)
              for array, each in zip(inputs, graph.params, strict=True)]
    after = simplify(reductions(graph))
    assert reductions(after) is after
    rtol = 1e-2 if graph.params[0].dtype is DType.BF16 else 1e-5
    agree(graph, after, inputs, rtol)
    whole = canonical(graph)
    check(whole, CANONICAL)
    agree(after, whole, inputs)


def test_long_window_takes_few_steps():
    x = parameter(TensorType(DType.F32, (1000,)))
    total = op("reduce_window", x, constant(0, DType.F32), reducer="add", window=(1000,),
               stride=(1,), padding=[(999, 0)], x_dilation=(1,), window_dilation=(1,))
    graph = Graph("cumsum", [x], [total])
    found = canonical(graph)
    assert ops_of(found).count("add") < 20
    agree(graph, found, [np.arange(1000, dtype=np.float32)])


def test_zero_and_minus_zero_start_a_sum():
    x = parameter(TensorType(DType.F32, (4, 3)))
    for zero in (0.0, -0.0):
        total = op("reduce", x, constant(zero, DType.F32), dims=(1,), reducer="add")
        graph = Graph("sum", [x], [total])
        assert canonical(graph) is graph


@pytest.mark.parametrize("dtype", [DType.F32, DType.BF16, DType.I32, DType.U32, DType.I8])
@pytest.mark.parametrize(("shape", "k"), [((4, 9), 3), ((2, 3, 7), 7), ((5,), 1)])
def test_top_k_is_made_of_maxima(dtype, shape, k):
    x = parameter(TensorType(dtype, shape))
    graph = Graph("g", [x], ops("top_k", x, k=k))
    made = canonical(graph)
    assert "top_k" not in {node.op for node in made.nodes}
    values = np.random.default_rng(k).integers(-3, 4, shape).astype(dtype.numpy)
    flat = values.reshape(-1)
    if dtype.is_float:
        flat[:5] = -0.0, np.copysign(np.nan, -1), -np.inf, 0.0, np.nan
    else:
        info = np.iinfo(dtype.numpy)
        flat[:5] = info.min, info.max, info.min, 0, info.max
    for found, wanted in zip(interpret(made, [values]), interpret(graph, [values]), strict=True):
        assert found.dtype == wanted.dtype
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", [DType.BF16, DType.F16])
@pytest.mark.parametrize(("reducer", "start"), [("add", 0.0), ("add", -0.0),
                                                ("maximum", -np.inf), ("minimum", np.inf)])
def test_a_reduction_of_halves_from_nothing_is_one_of_words(dtype, reducer, start):
    x = parameter(TensorType(dtype, (4, 8)))
    graph = Graph("g", [x], [op("reduce", x, constant(start, dtype), dims=[1], reducer=reducer)])
    assert ops_of(canonical(graph)) == ["convert", "constant", "reduce", "convert"]


@pytest.mark.parametrize(("k", "stays"), [(64, False), (65, True)])
def test_the_host_chooses_more_than_so_many(k, stays):
    x = parameter(TensorType(DType.F32, (65,)))
    found = reductions(Graph("g", [x], ops("top_k", x, k=k)))
    assert ("top_k" in ops_of(found)) == stays


@pytest.mark.parametrize(("window", "stays"), [((8, 16), False), ((3, 43), True)])
def test_windows_of_more_than_128_elements_are_left_to_the_host(window, stays):
    x, updates = (parameter(TensorType(DType.F32, shape)) for shape in (window, (1, 1)))
    graph = Graph("g", [x, updates], ops(
        "select_and_scatter", x, updates, constant(0, DType.F32), window=window, stride=window,
        padding=[(0, 0)] * 2, select="ge", scatter="add"))
    assert ("select_and_scatter" in ops_of(reductions(graph))) == stays


@pytest.mark.parametrize(("window", "sums"), [(2, 1), (4, 3), (5, 3), (7, 4), (8, 3), (9, 4)])
def test_windows_are_made_of_windows_half_as_long_from_five_elements_on(window, sums):
    x = parameter(TensorType(DType.F32, (40,)))
    total = op("reduce_window", x, constant(0, DType.F32), reducer="add", window=(window,),
               stride=(1,), padding=[(0, 0)], x_dilation=(1,), window_dilation=(1,))
    assert ops_of(canonical(Graph("g", [x], [total]))).count("add") == sums
