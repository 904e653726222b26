"""Programs that do nearly the same: other batches, narrower, donated or divided arguments."""

import numpy as np
import pytest

from celosia.compiler.changes import (
    batches,
    donating,
    given,
    named,
    narrowable,
    narrowed,
    resized,
    sharded,
)
from celosia.graph import DType, Graph, TensorType, constant, interpret, op, parameter

F32, BF16 = DType.F32, DType.BF16


def word(*shape, dtype=F32, name="", donated=False):
    return parameter(TensorType(dtype, shape), name, donated=donated)


def dot(x, y, precision="default"):
    return op("dot", x, y, dtype=F32, contract=[(1, 0)], precision=precision)


@pytest.mark.parametrize(("names", "text"), [
    (["w"], "w"), ([""], "argument 0"), (["w", "x"], "w and x"), (["w", "", "x"],
                                                                  "w, argument 1 and x"),
    (list("abcd"), "a, b, c and d"), (list("abcde"), "a, b, c and 2 more"),
    (list("abcdefg"), "a, b, c and 4 more")])
def test_what_arguments_are_called(names, text):
    params = [word(2, name=name) for name in names]
    assert named(Graph("g", params, params), params) == text


@pytest.mark.parametrize(("shapes", "found"), [
    ([(4, 8)], [(4, [0])]), ([(4, 4)], []), ([(4,), (3,)], []), ([(4, 8), (4,)], [(4, [0, 1])]),
    ([(4, 8), (8, 2)], [(4, [0])]), ([(9, 8), (3, 5)], [(3, [1]), (9, [0])]),
    ([(4, 8), (2, 4)], [(2, [1])]), ([(4, 8), ()], [(4, [0])])])
def test_batches_are_sizes_that_are_only_ever_the_first(shapes, found):
    params = [word(*shape) for shape in shapes]
    graph = Graph("g", params, params)
    assert [*batches(graph)] == [(size, [params[i] for i in which]) for size, which in found]


def layer(batch):
    x, w, bias = word(batch, 12, name="x"), word(12, 5, name="w"), word(5)
    y = op("add", dot(x, w), op("broadcast", bias, shape=(batch, 5), dims=(1,)))
    flat = op("reshape", op("slice", y, start=(0, 1), limit=(batch, 3), stride=(1, 1)),
              shape=(2 * batch,))
    flat = op("reshape", op("negate", flat), shape=(batch, 2))
    return Graph("g", [x, w, bias], [op("exp", y), flat, op("reduce", y, constant(np.float32(0)),
                                                            dims=(0,), reducer="add")])


@pytest.mark.parametrize("other", [1, 3, 10, 40])
def test_a_batch_may_have_another_size(other):
    found, wanted = resized(layer(10), 10, other), layer(other)
    assert [each.type for each in (*found.params, *found.outputs)] == [
        each.type for each in (*wanted.params, *wanted.outputs)]
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(each.shape).astype(np.float32) for each in wanted.params]
    for a, b in zip(interpret(found, inputs), interpret(wanted, inputs), strict=True):
        np.testing.assert_array_equal(a, b)


X = word(10, 12)


@pytest.mark.parametrize(("value", "shape"), [
    (op("concatenate", X, X, dim=1), (5, 24)), (op("reshape", X, shape=(12, 10)), (12, 5)),
    (op("add", X, constant(np.arange(120, dtype=np.float32).reshape(10, 12))), None),
    (op("slice", X, start=(2, 0), limit=(10, 12), stride=(1, 1)), None),
    (op("pad", X, constant(np.float32(0)), low=(1, 0), high=(0, 0), interior=(0, 0)), None),
    (op("reshape", X, shape=(3, 40)), None), (op("reshape", X, shape=(120,)), None)])
def test_where_a_batch_is_in_the_result_or_cannot_be_told(value, shape):
    found = resized(Graph("g", [X], [value]), 10, 5)
    assert (found and found.outputs[0].shape) == shape


def test_arguments_of_products_alone_may_be_narrower():
    big, weights = word(16, 16, name="x"), word(16, 16, name="w")

    def kinds(*outputs, params=(big, weights)):
        return {kind: [*values] for kind, values in narrowable(
            Graph("g", params, outputs)).items() if values}

    product = dot(big, weights)
    assert kinds(product) == {"inputs": [big], "weights": [weights]}
    assert narrowable(Graph("g", [big, weights], [product]))["weights"][weights] is product.node
    turned = op("transpose", weights, permutation=(1, 0))
    assert kinds(dot(big, turned)) == {"inputs": [big], "weights": [weights]}
    assert kinds(dot(big, weights), dot(weights, big)) == {"inputs": [big, weights]}
    assert kinds(product, op("exp", big)) == {"weights": [weights]}
    assert kinds(product, weights) == {"inputs": [big]}
    assert kinds(product, turned) == {"inputs": [big]}
    assert kinds(product, op("exp", turned)) == {"inputs": [big]}
    for precision in ("high", "highest"):
        assert kinds(dot(big, weights, precision)) == {}
    assert kinds(op("exp", big)) == {}
    for shape, good in (((16, 16), True), ((16, 15), False), ((256, 1), True), ((255, 1), False)):
        x = word(shape[0], shape[0])
        found = dot(x, other := word(*shape))
        assert (other in narrowable(Graph("g", [x, other], [found]))["weights"]) == good
    half, x = word(16, 16, dtype=BF16), word(16, 16)
    found = op("dot", half, op("convert", x, dtype=BF16), dtype=F32, contract=[(1, 0)])
    assert kinds(found, params=(half, x)) == {"weights": [x]}


def test_narrower_arguments_are_made_wide_again():
    x, w = word(3, 4, name="x"), word(4, 5, name="w", donated=True)
    graph = Graph("g", [x, w], [dot(x, w)])
    found = narrowed(graph, [w])
    assert [each.dtype for each in found.params] == [F32, BF16]
    attrs = found.params[1].node.attrs
    assert (attrs["name"], attrs["donated"], attrs["shape"]) == ("w", True, (4, 5))
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-4, 5, each.shape).astype(np.float32) for each in graph.params)
    np.testing.assert_array_equal(interpret(found, [a, b.astype(BF16.numpy)])[0], a @ b)


def test_other_parameters_are_put_in_their_place():
    x, new = word(3), word(2)
    graph = Graph("g", [x], [op("exp", x)])
    made = given(graph, {x: (new, op("broadcast", op("slice", new, start=(0,), limit=(1,), stride=(
        1,)), shape=(3,), dims=(0,)))})
    assert made.params == (new,)
    assert made.outputs[0].shape == (3,)


def test_arguments_that_results_may_be_written_over():
    def which(params, *outputs):
        values, changed = donating(Graph("g", params, outputs))
        assert changed is None or [p.node.attrs["donated"] for p in changed.params] == [
            p.node.attrs["donated"] or p in values for p in params]
        return [params.index(value) for value in values]

    a, b, c, small = word(4), word(4), word(4, donated=True), word(2)
    new, other = op("exp", a), op("negate", b)
    assert which([a, b], new) == [0]
    assert which([a, b], new, other) == [0, 1]
    assert which([a, b], new, other, op("abs", a)) == [0, 1]
    assert which([a, b], new, a) == [1]
    assert which([small, a], new) == [1]
    assert which([c, a], new) == []
    assert which([c, a, b], new, other) == [1]
    assert which([a, b], a, b) == []


@pytest.mark.parametrize(("shapes", "devices", "batch", "cut"), [
    ([(32, 16), (16, 8)], 2, 0, [(2, 1), None]), ([(32, 16), (16, 64)], 2, 0, [(2, 1), (1, 2)]),
    ([(16, 16)], 4, 0, [(4, 1)]), ([(15, 18)], 2, 0, [(1, 2)]), ([(15, 17)], 2, 0, None),
    ([(16, 15)], 2, 0, None),  # of less than 256 elements
    ([(32, 16), (16, 64)], 2, 32, [(2, 1), None]), ([(32, 16)], 2, 16, None),
    ([(15, 32)], 2, 15, None), ([(33, 32)], 2, 0, [(1, 2)])])
def test_arguments_are_cut_over_devices(shapes, devices, batch, cut):
    params = [word(*shape) for shape in shapes]
    graph = Graph("g", params, [op("exp", each) for each in params])
    values, changed = sharded(graph, devices, batch)
    assert values == [each for each, parts in zip(params, cut or [None] * 9, strict=False) if parts]
    if cut is None:
        assert changed is None
        return
    assert [each.shape for each in changed.params] == [
        shape if parts is None else tuple(a // b for a, b in zip(shape, parts, strict=True))
        for shape, parts in zip(shapes, cut, strict=True)]
