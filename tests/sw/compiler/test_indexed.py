"""Gathers and scatters become those of rows, comparisons, or one-hot matmuls."""

import random
from contextlib import suppress

import numpy as np
import pytest

from celosia.compiler import CANONICAL, canonical
from celosia.compiler.passes.indexed import indexed, is_row_gather, is_row_scatter
from celosia.compiler.placement import place
from celosia.graph import (
    DType,
    Graph,
    GraphError,
    TensorType,
    check,
    constant,
    interpret,
    op,
    parameter,
    splat,
)


def parts(rng):
    """Return shapes and dimension numbers of a gather or scatter at random."""
    rank = rng.randint(1, 4)
    dims = list(range(rank))
    shape = [rng.randint(1, 5) for _ in dims]
    rng.shuffle(dims)
    batch = dims[:rng.choice([0, 0, 1])]
    mapped = [dim for dim in dims[len(batch):] if rng.random() < 0.6]
    gone = [dim for dim in dims[len(batch):] if rng.random() < 0.5]
    sizes = [1 if dim in batch + gone or rng.random() < 0.3 else rng.randint(1, shape[dim])
             if rng.random() < 0.4 else shape[dim] for dim in range(rank)]
    s = [rng.randint(1, 4) for _ in range(rng.randint(len(batch), 2))]
    at = rng.randint(0, len(s))
    where = [i + (i >= at) for i in range(len(s))]
    rng.shuffle(where)
    theirs = where[:len(batch)]
    for mine, of in zip(batch, theirs, strict=True):
        s[of - (of > at)] = shape[mine]
    indices = [*s[:at], len(mapped), *s[at:]]
    kept = [dim for dim in range(rank) if dim not in batch + gone]
    result_rank = len(s) + len(kept)
    offset = sorted(rng.sample(range(result_rank), len(kept)))
    names = {"x_batch": batch, "indices_batch": theirs, "start_map": mapped, "index_dim": at}
    return shape, indices, sizes, sorted(gone), offset, names, s


def value(rng, dtype, shape, low=-9, high=9):
    whole = np.random.default_rng(rng.randint(0, 2**32)).integers(low, high, shape)
    return (whole != 0) if dtype is DType.BOOL else whole.astype(dtype.numpy)


def same(graph, inputs):
    found = canonical(graph)
    check(indexed(graph))
    for a, b in zip(interpret(found, inputs), interpret(graph, inputs), strict=True):
        np.testing.assert_array_equal(a.astype(np.float64), b.astype(np.float64))
    return found


@pytest.mark.parametrize("seed", range(80))
def test_gather(seed):
    rng = random.Random(seed)
    shape, indices, sizes, gone, offset, names, _ = parts(rng)
    x = parameter(TensorType(rng.choice([DType.F32, DType.BF16, DType.I32, DType.BOOL]),
                             tuple(shape)))
    i = parameter(TensorType(rng.choice([DType.I32, DType.I8, DType.U32]), tuple(indices)))
    found = op("gather", x, i, sizes=sizes, collapsed=gone, offset_dims=offset, **names)
    inputs = [value(rng, x.dtype, shape), value(rng, i.dtype, indices, -2, 6)]
    graph = same(Graph("g", [x, i], [found]), inputs)
    assert all(is_row_gather(node) for node in graph.nodes if node.op == "gather")


@pytest.mark.parametrize("seed", range(80))
def test_scatter(seed):
    rng, found = random.Random(seed), None
    while found is None:
        shape, indices, sizes, gone, offset, names, s = parts(rng)
        x = parameter(TensorType(rng.choice([DType.F32, DType.I32]), tuple(shape)))
        i = parameter(TensorType(rng.choice([DType.I32, DType.I8]), tuple(indices)))
        kept = iter([size for dim, size in enumerate(sizes)
                     if dim not in gone + names["x_batch"]])
        others = iter(s)
        updates = [next(kept) if dim in offset else next(others)
                   for dim in range(len(s) + len(offset))]
        u = parameter(TensorType(x.dtype, tuple(updates)))
        reducer = rng.choice(["set", "add", "add", "maximum", "multiply", "xor"])
        with suppress(GraphError):
            found = op("scatter", x, i, u, inserted=gone, window_dims=offset, reducer=reducer,
                       **names)
    inputs = [value(rng, x.dtype, shape), value(rng, i.dtype, indices, -2, 6),
              value(rng, u.dtype, updates)]
    graph = same(Graph("g", [x, i, u], [found]), inputs)
    assert all(is_row_scatter(node) for node in graph.nodes if node.op == "scatter")
    assert not [node for node in graph.nodes if place(node).where == "host"]


@pytest.mark.parametrize("dtype", [DType.F32, DType.BF16, DType.I32, DType.U32, DType.I8,
                                   DType.BOOL], ids=str)
def test_rows_of_which_none_repeats_are_joined_on_the_chip(dtype):
    rng = random.Random(0)
    x, i = parameter(TensorType(dtype, (7, 3))), parameter(TensorType(DType.I32, (5, 1)))
    one, u = parameter(TensorType(DType.I32, (1,))), parameter(TensorType(dtype, (5, 3)))
    row = parameter(TensorType(dtype, (3,)))
    names = {"inserted": [0], "start_map": [0]}
    found = []
    for reducer in ("add", "multiply", "maximum", "minimum", "and", "or", "xor"):
        with suppress(GraphError):
            found += [op("scatter", x, i, u, reducer=reducer, window_dims=[1], index_dim=1,
                         unique=True, **names),
                      op("scatter", x, one, row, reducer=reducer, window_dims=[0], index_dim=0,
                         **names)]
    assert len(found) == (6 if dtype is DType.BOOL else 8 if dtype.is_float else 14)
    inputs = [value(rng, dtype, x.shape), np.int32([[4], [-1], [0], [7], [6]]), np.int32([2]),
              value(rng, dtype, u.shape), value(rng, dtype, row.shape)]
    graph = same(Graph("g", [x, i, one, u, row], found), inputs)
    assert not [node for node in graph.nodes if place(node).where == "host"]
    outside = interpret(graph, [*inputs[:2], np.int32([7]), *inputs[3:]])
    np.testing.assert_array_equal(outside[1], inputs[0])


@pytest.mark.parametrize(("count", "where"), [(32, "chip"), (33, "host")])
def test_rows_that_repeat_are_reduced_unless_they_are_many(count, where):
    x = parameter(TensorType(DType.I32, (256, 128)))
    i = parameter(TensorType(DType.I32, (count,)))
    u = parameter(TensorType(DType.I32, (count, 128)))
    at = op("and", i, splat(255, i.type))
    put = op("scatter", x, at, u, inserted=[0], window_dims=[1], start_map=[0], index_dim=1,
             reducer="add")
    rng = random.Random(0)
    inputs = [value(rng, DType.I32, x.shape), value(rng, DType.I32, i.shape, 0, 9),
              value(rng, DType.I32, u.shape)]
    graph = same(Graph("g", [x, i, u], [put]), inputs)
    assert {"host"} & {place(node).where for node in graph.nodes} == {where} - {"chip"}


def test_index_of_each_row_is_compared():
    x = parameter(TensorType(DType.F32, (6, 5)))
    labels = parameter(TensorType(DType.I32, (6, 1, 1)))
    names = {"x_batch": [0], "indices_batch": [0], "start_map": [1], "index_dim": 2}
    picked = op("gather", x, labels, sizes=[1, 1], collapsed=[1], **names)
    put = op("scatter", x, labels, picked, inserted=[1], reducer="add", **names)
    graph = canonical(Graph("loss", [x, labels], [picked, put]))
    assert not {"gather", "scatter", "dot"} & {node.op for node in graph.nodes}
    assert {"iota", "compare", "select"} < {node.op for node in graph.nodes}


@pytest.mark.parametrize("dims", [{"inserted": [0], "start_map": [0]},
                                  {"inserted": [1], "start_map": [1], "x_batch": [0],
                                   "indices_batch": [0]}])
def test_sums_leave_a_negative_zero(dims):
    window = [] if "x_batch" in dims else [1]
    x, i, u = (parameter(TensorType(dtype, shape)) for dtype, shape in (
        (DType.F32, (3, 4)), (DType.I32, (3, 1)), (DType.F32, (3, 4)[:1 + len(window)])))
    put = op("scatter", x, i, u, window_dims=window, index_dim=1, reducer="add", **dims)
    inputs = [np.full((3, 4), -0.0, np.float32), np.array([[1], [1], [2]], np.int32),
              np.full(u.shape, -0.0, np.float32)]
    [found] = interpret(canonical(Graph("sums", [x, i, u], [put])), inputs)
    assert np.signbit(found).all()


def test_embedding_gathers_rows_and_its_gradient_is_a_matmul():
    x = parameter(TensorType(DType.F32, (11, 8)))
    tokens = parameter(TensorType(DType.I32, (2, 6, 1)))
    names = {"start_map": [0], "index_dim": 2}
    rows = op("gather", x, tokens, sizes=[1, 8], collapsed=[0], offset_dims=[2], **names)
    back = op("scatter", x, tokens, rows, inserted=[0], window_dims=[2], reducer="add", **names)
    graph = canonical(Graph("embedding", [x, tokens], [back]))
    check(graph, CANONICAL)
    assert [node.op for node in graph.nodes if node.op in ("gather", "scatter", "dot")] == [
        "gather", "dot", "dot", "dot"]


def test_rows_are_in_range_by_construction():
    x, i = parameter(TensorType(DType.F32, (4, 3))), parameter(TensorType(DType.I32, (5,)))
    names = {"start_map": [0], "index_dim": 1}
    rows = op("gather", x, i, sizes=[1, 3], collapsed=[0], offset_dims=[1], **names)
    put = op("scatter", x, i, rows, inserted=[0], window_dims=[1], reducer="set", **names)
    graph = Graph("rows", [x, i], [rows, put])
    found = same(graph, [np.arange(12, dtype=np.float32).reshape(4, 3),
                         np.array([-1, 0, 3, 4, 99], np.int32)])
    assert canonical(found) is found
    for node in found.nodes:
        if node.op in ("gather", "scatter"):
            assert node.operands[1].node.op == "maximum"


@pytest.mark.parametrize("at", [-12, -3, 0, 4, 7, 12])
def test_one_window_is_a_slice(at):
    """As jax.vmap has what it makes of dynamic slices: from a place that registers hold."""
    x = parameter(TensorType(DType.F32, (2, 8, 5)))
    update, place = parameter(TensorType(DType.F32, (2, 1, 5))), parameter(TensorType(DType.I32))
    one = op("broadcast", place, shape=(1,))
    numbers = op("concatenate", one, constant(np.zeros(1, np.int32)), dim=0)
    least, most = constant(np.zeros(2, np.int32)), constant(np.array([7, 0], np.int32))
    found = op("gather", x, numbers, offset_dims=(0, 1, 2), start_map=(1, 2), index_dim=0,
               sizes=(2, 1, 5))
    dims = {"window_dims": (0, 1, 2), "start_map": (1, 2), "index_dim": 0, "reducer": "set"}
    clamped = op("scatter", x, op("clamp", least, numbers, most), update, **dims)
    graph = Graph("f", [x, update, place], [found, clamped])
    values = [value(random.Random(1), DType.F32, each.shape) for each in (x, update)]
    same(graph, [*values, np.int32(at)])
    ops = {node.op for node in canonical(graph).nodes}
    assert {"dynamic_slice", "dynamic_update_slice"} <= ops
    assert not ops & {"gather", "scatter"}
    # What may be beside x is left out, not moved into it.
    anywhere = Graph("f", [x, update, place], [op("scatter", x, numbers, update, **dims)])
    same(anywhere, [*values, np.int32(at)])
    assert "dynamic_update_slice" not in {node.op for node in canonical(anywhere).nodes}


@pytest.mark.parametrize("count", [(), (3,)])
def test_a_scalar_is_gathered_from_no_place(count):
    x = parameter(TensorType(DType.F32, ()))
    i = parameter(TensorType(DType.I32, (0, *count)))
    graph = Graph("g", [x, i], [op("gather", x, i, sizes=[], collapsed=[], offset_dims=[],
                                   start_map=[], index_dim=0)])
    found = same(graph, [np.float32(5), np.zeros((0, *count), np.int32)])
    assert "dynamic_slice" not in [node.op for node in found.nodes]
