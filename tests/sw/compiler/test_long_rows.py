"""Which reductions of long rows are cut, into what, and that they mean the same."""

import math

import numpy as np
import pytest

from celosia.arch.config import TpuConfig
from celosia.compiler.passes import long_rows
from celosia.graph import DType, Graph, TensorType, constant, interpret, op, parameter

#: Rows of at most 32 elements are not cut; the others into parts of 16.
CHIP = TpuConfig("tiny", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4)


@pytest.fixture(autouse=True)
def sizes(monkeypatch):
    monkeypatch.setattr(long_rows, "_SHARE", 8)
    monkeypatch.setattr(long_rows, "_PANELS", 4)


def joined(shape, dims, reducer="add", dtype=DType.I32):
    x = parameter(TensorType(dtype, shape))
    start = constant({"add": 0, "maximum": -(1 << 31)}[reducer], dtype)
    return Graph("g", [x], [op("reduce", x, start, dims=dims, reducer=reducer)])


@pytest.mark.parametrize(("shape", "dims"), [
    ((3, 32), (1,)), ((3, 1000), (0,)), ((1000, 3), (0,)), ((1000, 3), (0, 1)), ((1000, 2), (0, 1)),
    ((3, 1000, 5), (1,)), ((33, 1, 32), (0, 1)), ((3, 32, 1), (1, 2))])
def test_what_is_short_stays(shape, dims):
    graph = joined(shape, dims)
    assert long_rows.long_rows(graph, CHIP) is graph


@pytest.mark.parametrize(("shape", "dims", "parts"), [
    ((3, 33), (1,), [2]), ((3, 48), (1,), [3]), ((3, 49), (1,), [3]), ((3, 33, 1), (1, 2), [2]),
    ((2, 3, 40), (1, 2), [7]), ((2, 3, 40), (0, 2), [2]), ((40,), (0,), [2]),
    ((1, 33), (0, 1), [2])])
@pytest.mark.parametrize("reducer", ["add", "maximum"])
def test_long_rows_are_cut(shape, dims, parts, reducer):
    graph = joined(shape, dims, reducer)
    found = long_rows.long_rows(graph, CHIP)
    reduces = [node for node in found.nodes if node.op == "reduce"]
    body = reduces[0].operands[0].shape
    assert [body[-2]] == parts
    assert body[-1] == 16
    first = len(shape)
    while first - 1 in dims:
        first -= 1
    left = math.prod(shape[first:]) % 16
    # One element that is left over need not be joined first.
    assert [node.operands[0].shape[-1] for node in reduces[1:]] == ([left] if left > 1 else [])
    x = np.random.default_rng(1).integers(-1000, 1000, shape).astype(np.int32)
    np.testing.assert_array_equal(interpret(found, [x])[0], interpret(graph, [x])[0])
