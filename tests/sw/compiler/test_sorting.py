"""Sorts become networks, which are stable and order as the graph says."""

import numpy as np
import pytest

from celosia.compiler import canonical
from celosia.compiler.passes import sorting
from celosia.compiler.passes.reductions import MOST_MAXIMA
from celosia.compiler.passes.sorting import MOST_SORTED
from celosia.compiler.split import place_whole
from celosia.graph import DType, Graph, TensorType, interpret, op, ops, parameter, splat

NARROW = [each for each in DType if not each.is_wide and each is not DType.BOOL]


def numbers(rng, dtype, shape):
    """Return few different numbers, so that many are equal, and the ends of the type."""
    found = rng.integers(-3 if dtype.is_float or dtype.is_signed else 0, 4, shape)
    found = found.astype(dtype.numpy)
    flat = found.reshape(-1)
    ends = ([-0.0, np.nan, -np.inf, 0.0, np.inf] if dtype.is_float else
            [np.iinfo(dtype.numpy).min, np.iinfo(dtype.numpy).max])
    places = rng.permutation(flat.size)[:len(ends)]
    flat[places] = np.array(ends[:len(places)], np.float64 if dtype.is_float else np.int64).astype(
        dtype.numpy)
    return found


def agree(graph, values):
    made = canonical(graph)
    assert not {"sort", "sort_by", "top_k"} & {node.op for node in made.nodes}
    for found, wanted in zip(interpret(made, values), interpret(graph, values), strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_elements_of_every_type(dtype):
    x = parameter(TensorType(dtype, (3, 21)))
    for descending in (False, True):
        agree(Graph("g", [x], ops("sort", x, dim=1, descending=descending)),
              [numbers(np.random.default_rng(1), dtype, x.shape)])


@pytest.mark.parametrize(("shape", "dim"), [
    ((1,), 0), ((2,), 0), ((15,), 0), ((16,), 0), ((17,), 0), ((100,), 0), ((257,), 0),
    ((5, 40), 0), ((40, 5), 0), ((40, 17), 0), ((2, 33, 3), 1), ((2, 0, 3), 1), ((0, 4), 1),
    ((3, 1, 2), 1), ((2, 3, 64), 2)])
def test_shapes(shape, dim):
    rng = np.random.default_rng(2)
    x, y = parameter(TensorType(DType.F32, shape)), parameter(TensorType(DType.I32, shape))
    agree(Graph("g", [x, y], ops("sort", x, y, dim=dim)),
          [numbers(rng, x.dtype, shape), rng.integers(0, 1000, shape).astype(np.int32)])


def test_several_keys_and_what_goes_with_them():
    rng = np.random.default_rng(3)
    params = [parameter(TensorType(each, (4, 50))) for each in (DType.I8, DType.F32, DType.BOOL,
                                                                DType.BF16)]
    values = [rng.integers(0, 3, (4, 50)).astype(np.int8),
              rng.integers(0, 3, (4, 50)).astype(np.float32), rng.random((4, 50)) < 0.5,
              rng.standard_normal((4, 50)).astype(DType.BF16.numpy)]
    for descending in (False, True):
        agree(Graph("g", params, ops("sort", *params, dim=1, keys=2, descending=descending)),
              values)


def by_size(*dtypes):
    """Return a comparator of several operands: the first by their size, downwards."""
    params = [parameter(TensorType(each)) for each in dtypes * 2]
    sizes = [op("abs", params[i]) for i in (0, len(dtypes))]
    return Graph("less", params, [op("compare", *sizes, direction="gt")])


@pytest.mark.parametrize(("shape", "dim"), [
    ((1,), 0), ((2,), 0), ((16,), 0), ((17,), 0), ((100,), 0), ((5, 40), 0), ((40, 5), 0),
    ((2, 33, 3), 1), ((2, 0, 3), 1), ((2, 3, 64), 2)])
def test_any_order(shape, dim):
    """Also where NaN makes it none: then it is a permutation all the same."""
    rng = np.random.default_rng(5)
    x, y = parameter(TensorType(DType.F32, shape)), parameter(TensorType(DType.I32, shape))
    graph = Graph("g", [x, y], ops("sort_by", x, y, dim=dim, regions=[by_size(x.dtype, y.dtype)]))
    plain = rng.integers(-3, 4, shape).astype(np.float32)
    places = np.broadcast_to(np.expand_dims(np.arange(shape[dim], dtype=np.int32), [
        i for i in range(len(shape)) if i != dim]), shape)
    _, order = interpret(graph, [plain, places])
    np.testing.assert_array_equal(order, np.argsort(-np.abs(plain), dim, kind="stable"))
    agree(graph, [plain, places])
    odd = numbers(rng, DType.F32, shape)
    odd[rng.random(shape) < 0.2] = np.nan
    _, order = interpret(graph, [odd, places])
    np.testing.assert_array_equal(np.sort(order, dim), places)
    agree(graph, [odd, places])


@pytest.mark.parametrize("k", [MOST_MAXIMA + 1, 100])
def test_top_k_of_many(k):
    x = parameter(TensorType(DType.F32, (2, 100)))
    agree(Graph("g", [x], ops("top_k", x, k=k)),
          [numbers(np.random.default_rng(4), x.dtype, x.shape)])


def test_too_many_are_left_to_the_host():
    x = parameter(TensorType(DType.F32, (MOST_SORTED + 1,)))
    made = canonical(Graph("g", [x], [
        *ops("sort", x, dim=0), *ops("sort_by", x, dim=0, regions=[by_size(DType.F32)]),
        *ops("top_k", x, k=65)]))
    reasons = {node.op: place_whole(node) for node in made.nodes
               if node.op in ("sort", "sort_by", "top_k")}
    assert reasons == {
        "sort": ("host", "more than 4,096 elements would be sorted together"),
        "sort_by": ("host", "more than 4,096 elements would be sorted together"),
        "top_k": ("host", ("its k is above 64, and more than 4,096 elements would be sorted "
                           "together"))}


def test_the_host_orders_as_the_chip_would(monkeypatch):
    """A comparator that passes have rewritten, of arithmetic that the chip lacks."""
    monkeypatch.setattr(sorting, "MOST_SORTED", 64)  # one by one thousands take seconds
    type = TensorType(DType.I8)
    params = [parameter(type), parameter(type)]
    rest = [op("remainder", each, splat(3, type)) for each in params]
    less = Graph("less", params, [op("compare", *rest, direction="lt")])
    x = parameter(TensorType(DType.I8, (73,)))
    graph = Graph("g", [x], ops("sort_by", x, dim=0, regions=[less]))
    values = [np.random.default_rng(6).integers(-128, 128, x.shape).astype(np.int8)]
    made = canonical(graph)
    assert "sort_by" in {node.op for node in made.nodes}
    for found in (interpret(graph, values), interpret(made, values)):
        rest = np.fmod(values[0], 3)
        np.testing.assert_array_equal(found[0], values[0][np.argsort(rest, kind="stable")])
