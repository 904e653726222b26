"""Elementwise operations of every type become those on words."""

import numpy as np
import pytest
from random_graphs import array_of, assert_equal
from shared import ops_of

from celosia.compiler import CANONICAL, canonical
from celosia.graph import (
    OPS,
    DType,
    Graph,
    GraphError,
    TensorType,
    check,
    constant,
    interpret,
    op,
    parameter,
)
from celosia.graph.operations.elementwise import COMPARISONS

EDGES = np.array([
    0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.3, 1e-3, 1e10, -1e10, 2**31, 2**32, -(2**31),
    np.inf, -np.inf, np.nan, 127, 128, 255, -129, 256, 65535, 3.4e38, 0.9, 0.99, 0.99999, -0.99,
    4, 5, -4, 9.3, -9], np.float32)
NARROW = [dtype for dtype in DType if not dtype.is_wide]
PLAIN = [name for name, spec in OPS.items() if spec.group == "elementwise" and not spec.attrs]
ATTRS = [*((name, {}) for name in PLAIN),
         *(("compare", {"direction": direction}) for direction in COMPARISONS),
         *((name, {"dtype": dtype}) for name in ("convert", "bitcast") for dtype in NARROW),
         *(("reduce_precision", {"exponent": exponent, "mantissa": mantissa})
           for exponent, mantissa in ((5, 10), (8, 7), (8, 23), (4, 3), (5, 23), (8, 1)))]
COUNT = 64


def values(type, seed):
    draw = np.random.default_rng(seed)
    if type.dtype.is_float:
        many = np.concatenate([EDGES, EDGES[::-1]])[:COUNT]
        with np.errstate(over="ignore"):  # of float16
            return draw.permutation(many).astype(type.dtype.numpy)
    array = array_of(type, seed).copy()
    if type.dtype is not DType.BOOL:
        info = np.iinfo(type.dtype.numpy)
        array[:8] = [0, 1, 2, 3, info.max, info.min, 5, 7]
        array = draw.permutation(array)
    return array


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_every_operation(dtype):
    type = TensorType(dtype, (COUNT,))
    for name, attrs in ATTRS:
        params = [parameter(type) for _ in OPS[name].operands]
        if name == "select":
            params[0] = parameter(TensorType(DType.BOOL, (COUNT,)))
        try:
            graph = Graph(name, params, [op(name, *params, **attrs)])
        except GraphError:
            continue
        after = canonical(graph)
        check(after, CANONICAL)
        for seed in range(2):
            inputs = [values(each.type, 7 * seed + i) for i, each in enumerate(params)]
            if name == "power" and dtype.is_signed:
                inputs[1] = np.abs(inputs[1] % 11).astype(dtype.numpy)
            found, wanted = interpret(after, inputs), interpret(graph, inputs)
            if name == "erf_inv":
                np.testing.assert_allclose(
                    *(each[0].astype(np.float64) for each in (found, wanted)), err_msg=name,
                    rtol=1e-6 if dtype is DType.F32 else 1e-2, atol=1e-37)
            else:
                assert_equal(found, wanted)


@pytest.mark.parametrize("few", NARROW, ids=str)
def test_bits_joined(few):
    for many in NARROW:
        if DType.BOOL in (few, many) or few.bits >= many.bits:
            continue
        x = parameter(TensorType(few, (5, many.bits // few.bits)))
        graph = Graph("g", [x], [op("bitcast", x, dtype=many)])
        # No NaN, whose bits a conversion may change.
        inputs = [np.nan_to_num(array_of(x.type, 3).astype(np.float32)).astype(few.numpy)]
        assert_equal(interpret(canonical(graph), inputs), interpret(graph, inputs))


@pytest.mark.parametrize(("dtype", "by", "name"), [
    (DType.U32, 8, "shift_right"), (DType.U32, 1, None), (DType.U32, 6, "while")])
def test_division_by_a_constant(dtype, by, name):
    x = parameter(TensorType(dtype, (8,)))
    divisor = op("broadcast", constant(by, dtype), shape=(8,))
    graph = Graph("g", [x], [op("divide", x, divisor), op("remainder", x, divisor)])
    after = canonical(graph)
    assert name is None or name in ops_of(after)
    assert ("while" in ops_of(after)) == (name == "while")
    inputs = [np.array([0, 1, 5, 6, 7, 8, 2**31, 2**32 - 1], np.uint32)]
    assert_equal(interpret(after, inputs), interpret(graph, inputs))


@pytest.mark.parametrize(("dtype", "by"), [
    *((DType.U32, by) for by in (2**32 - 1, 2**31 + 5, 2**30 - 1, 2**29)),
    *((DType.I32, by) for by in (2**31 - 1, -2**31, -(2**30) - 7, 2**29 + 3))])
def test_quotients_of_few_bits_are_written_out(dtype, by):
    x = parameter(TensorType(dtype, (11,)))
    divisor = op("broadcast", constant(by, dtype), shape=(11,))
    graph = Graph("g", [x], [op("divide", x, divisor), op("remainder", x, divisor)])
    after = canonical(graph)
    assert "while" not in ops_of(after)
    near = [0, 1, 2**29, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**31 + 5, 2**32 - 2, 2**32 - 1, by]
    inputs = [np.array([each % 2**32 for each in near], np.uint32).view(dtype.numpy)]
    assert_equal(interpret(after, inputs), interpret(graph, inputs))


@pytest.mark.parametrize(("dtype", "by", "written_out"), [
    (DType.U32, 2**28 + 1, True), (DType.U32, 2**28 - 1, False), (DType.I32, 2**28 + 1, True),
    (DType.I32, 2**28 - 1, False), (DType.I32, -(2**28) - 1, True), (DType.I32, 1 - 2**28, False),
    (DType.I32, 4, False), (DType.U8, 4, True), (DType.U16, 0, False), (DType.I8, 0, False)])
def test_quotients_of_more_than_four_bits_are_loops(dtype, by, written_out):
    x = parameter(TensorType(dtype, (8,)))
    divisor = op("broadcast", constant(by, dtype), shape=(8,))
    graph = Graph("g", [x], [op("divide", x, divisor), op("remainder", x, divisor)])
    after = canonical(graph)
    assert ("while" in ops_of(after)) != written_out
    inputs = [np.array([0, 1, -1, 7, 2**31 - 1, -2**31, by, -by]).astype(dtype.numpy)]
    assert_equal(interpret(after, inputs), interpret(graph, inputs))
