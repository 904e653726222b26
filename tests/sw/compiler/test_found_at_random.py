"""What random programs have found: each was once wrong, or not compiled."""

import numpy as np
import pytest

import celosia
from celosia.arch.config import TpuConfig
from celosia.compiler.passes.long_rows import long_rows
from celosia.graph import DType, Graph, TensorType, check, constant, interpret, op, ops, parameter

F32, I32, I8, BOOL = DType.F32, DType.I32, DType.I8, DType.BOOL
ROW = TensorType(F32, (16,))
TINY = TpuConfig("tiny", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8,
                 window=4, ibuf=32)


def numbers(*shape):
    return (np.arange(np.prod(shape)) % 23 - 11).astype(np.float32).reshape(shape)


def check_equal(graph: Graph, *inputs: object, config: str | TpuConfig = "core"):
    """Compile, run on the golden model, compare with the interpreter."""
    wanted = interpret(graph, inputs)
    for resident in (True, False):
        options = {"merge": False, "resident": resident}
        compiled = celosia.compile(graph, config, strict=True, cache=False, options=options)
        for a, b in zip(compiled(*inputs), wanted, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("index", [0, 1])
def test_a_branch_that_returns_a_value_twice(index):
    """Both results became the tensor of that value, in the other branch as well."""
    a, b = parameter(ROW), parameter(ROW)
    twice = op("negate", a)
    c, d = parameter(ROW), parameter(ROW)
    branches = [Graph("twice", [a, b], [twice, twice]),
                Graph("other", [c, d], [op("abs", c), op("negate", d)])]
    i, x, y = parameter(TensorType(I32)), parameter(ROW), parameter(ROW)
    found = [op("negate", each) for each in ops("case", i, x, y, regions=branches)]
    check_equal(Graph("case", [i, x, y], found), np.int32(index), numbers(16), numbers(16) * 2)


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_a_loop_that_returns_a_value_twice(turns):
    """What is carried differs before the first turn, and so if there is none."""
    i, n, a, b = (parameter(each) for each in (TensorType(I32), TensorType(I32), ROW, ROW))
    cond = Graph("cond", [i, n, a, b], [op("compare", i, n, direction="lt")])
    j, m, c, d = (parameter(each.type) for each in (i, n, a, b))
    new = op("broadcast", op("convert", j, dtype=F32), shape=(16,))
    body = Graph("body", [j, m, c, d], [op("add", j, constant(1, I32)), m, new, new])
    count, x, y = parameter(TensorType(I32)), parameter(ROW), parameter(ROW)
    last = ops("while", constant(0, I32), count, x, y, regions=(cond, body))[2:]
    found = [op("negate", each) for each in last]
    check_equal(Graph("loop", [count, x, y], found), np.int32(turns), numbers(16),
                numbers(16) * 2)


def test_a_barrier_of_which_a_cluster_has_one_operand():
    x, y = parameter(ROW), parameter(TensorType(F32, (3,)))
    one = op("negate", x)
    first, second = ops("barrier", one, op("transpose", y, permutation=(0,)))
    graph = Graph("kept", [x, y], [op("abs", first), op("negate", second)])
    check_equal(graph, numbers(16), numbers(3))


def test_a_barrier_of_what_its_cluster_makes_later():
    x = parameter(ROW)
    a = op("negate", x)
    b = op("maximum", a, op("broadcast", constant(2, F32), shape=(16,)))
    first, second = ops("barrier", a, b)
    third, one = ops("barrier", op("add", first, x), op("broadcast", constant(1, F32),
                                                         shape=(16,)))
    graph = Graph("kept", [x], [op("add", op("add", third, second), one)])
    check_equal(graph, numbers(16))


def test_int8_and_bools_on_a_chip_without_int8():
    """They take a word there."""
    config = TpuConfig("wide", dim=4, int8=False, bf16=True, ub_rows=512, acc_rows=256,
                       bus_bytes=16, window=4, ibuf=32)
    x, p = parameter(TensorType(I8, (5, 7))), parameter(TensorType(BOOL, (5, 7)))
    table = constant(np.arange(35, dtype=np.int8).reshape(5, 7) * 3, I8)
    graph = Graph("words", [x, p], [op("select", p, x, op("add", x, table)), op("not", p), x])
    check_equal(graph, np.arange(-17, 18, dtype=np.int8).reshape(5, 7), numbers(5, 7) > 0,
                config=config)


def test_more_slices_at_once_than_registers():
    x, starts = parameter(TensorType(I32, (60, 5))), parameter(TensorType(I32, (40,)))
    total = None
    for i in range(40):
        start = op("reshape", op("slice", starts, start=[i], limit=[i + 1], stride=[1]), shape=())
        part = op("dynamic_slice", x, start, constant(0, I32), sizes=(3, 5))
        total = part if total is None else op("add", total, part)
    assert total is not None
    check_equal(Graph("slices", [x, starts], [total]),
                np.arange(300, dtype=np.int32).reshape(60, 5),
                np.arange(-20, 100, 3, dtype=np.int32))


@pytest.mark.parametrize("shape", [(300,), (3, 257), (2, 5, 40), (1, 256, 1)])
@pytest.mark.parametrize("reducer", ["add", "maximum"])
def test_rows_that_are_longer_than_the_accumulators(shape, reducer):
    x = parameter(TensorType(F32, shape))
    start = constant(0.0 if reducer == "add" else -np.inf, F32)
    every = op("reduce", x, start, dims=range(len(shape)), reducer=reducer)
    lanes = op("reduce", x, start, dims=[len(shape) - 1], reducer=reducer)
    graph = Graph("rows", [x], [every, lanes])
    check_equal(graph, numbers(*shape), config=TINY)
    check(long_rows(graph, TINY))


def test_short_rows_are_left_alone():
    x = parameter(TensorType(F32, (100, 32)))
    graph = Graph("rows", [x], [op("reduce", x, constant(0, F32), dims=(0, 1), reducer="add")])
    assert long_rows(graph, TINY) is graph
