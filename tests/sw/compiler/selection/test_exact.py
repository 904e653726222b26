"""Without `merge`, each operation is what the vector unit and the kernels make of it."""

import ml_dtypes
import numpy as np
import pytest
from clusters import EXACT, run, sample
from pages.accuracy.trace import kernel

from celosia.arch import numerics
from celosia.compiler.levels import FUNCTIONS
from celosia.graph import OPS, DType, Graph, TensorType, op, parameter, splat
from celosia.graph.build import ops

SPACE = (24, 40)
SEED = 7


def unary(name, of=DType.F32, **attrs):
    x = parameter(TensorType(of, SPACE), "x")
    return Graph("g", [x], [op(name, x, **attrs)])


def binary(name, dtype, shapes=(SPACE, SPACE), **attrs):
    xs = [parameter(TensorType(dtype, shape), "x") for shape in shapes]
    wide = [x if x.shape == SPACE else op("broadcast", x, shape=SPACE, dims=dims_of(x)) for x in xs]
    return Graph("g", xs, [op(name, *wide, **attrs)])


def dims_of(x):
    return {SPACE[:1]: [0], SPACE[1:]: [1], (): []}[x.shape]


def inputs_of(graph):
    rng = np.random.default_rng(SEED)
    return [sample(rng, x.dtype.numpy, x.shape) for x in graph.params]


def flushed(x):
    """Return fp32 as the chip has it: no subnormals."""
    if x.dtype == ml_dtypes.bfloat16:
        x = x.astype(np.float32)
    return numerics.flush(x.view(np.uint32)).view(np.float32) if x.dtype == np.float32 else x


def check(graph, space=SPACE, kept=None):
    _, got, want = run(graph, inputs_of(graph), space, kept, EXACT)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(flushed(a), flushed(b))


@pytest.mark.parametrize("name", ["abs", "negate", "floor", "round", "is_finite"])
def test_unary(name):
    check(unary(name))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", [DType.F32, DType.I32, DType.U32, DType.I8, DType.F16,
                                   DType.BF16])
def test_binary(name, dtype):
    check(binary(name, dtype))


@pytest.mark.parametrize("name", ["and", "or", "xor"])
@pytest.mark.parametrize("dtype", [DType.BOOL, DType.I32, DType.U8])
def test_bitwise(name, dtype):
    check(binary(name, dtype))


@pytest.mark.parametrize("name", ["shift_left", "shift_right", "shift_right_signed"])
@pytest.mark.parametrize("dtype", [DType.I32, DType.U32, DType.I16, DType.U16])
def test_shifts(name, dtype):
    check(binary(name, dtype))


@pytest.mark.parametrize("direction", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("dtype", [DType.F32, DType.I32, DType.U32, DType.BOOL])
def test_comparisons(direction, dtype):
    check(binary("compare", dtype, direction=direction))


@pytest.mark.parametrize("first", [SPACE, SPACE[:1], SPACE[1:], ()])
@pytest.mark.parametrize("second", [SPACE, SPACE[:1], SPACE[1:], ()])
def test_broadcasts(first, second):
    graph = binary("subtract", DType.F32, (first, second))
    code, got, want = run(graph, inputs_of(graph), SPACE, options=EXACT)
    np.testing.assert_array_equal(flushed(got[0]), flushed(want[0]))


@pytest.mark.parametrize("of", [each for each in DType if not each.is_wide])
@pytest.mark.parametrize("to", [each for each in DType if not each.is_wide])
def test_conversions(of, to):
    check(unary("convert", of, dtype=to))


def test_bf16_that_is_used_again_is_rounded():
    x = parameter(TensorType(DType.F32, SPACE), "x")
    high = op("convert", x, dtype=DType.BF16)
    low = op("subtract", x, op("convert", high, dtype=DType.F32))
    graph = Graph("g", [x], [high, op("convert", low, dtype=DType.BF16)])
    x = sample(np.random.default_rng(SEED), np.float32, SPACE)
    x.reshape(-1).view(np.uint32)[:6] = [0x3F808000, 0x3F818000, 0x7FFFFFFF, 0xFFFFFFFF,
                                         0x7F7FFFFF, 0x7F800001]
    code, got, want = run(graph, [x], SPACE, options=EXACT)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a.astype(np.float32), b.astype(np.float32))
    assert len(code.steps) == 6


def test_bf16_that_is_written_is_not_rounded_twice():
    code, _, _ = run(unary("exp", DType.BF16), [np.ones(SPACE, ml_dtypes.bfloat16)], SPACE,
                     options=EXACT)
    assert len(code.steps) == 6


def test_the_sign_of_a_zero_is_made_only_where_it_shows():
    x = parameter(TensorType(DType.F32, SPACE), "x")
    y = op("round", x)
    z = op("minimum", op("maximum", y, splat(-128, x.type)), splat(127, x.type))
    found = []
    for value in (z, op("convert", z, dtype=DType.I8)):
        graph = Graph("g", [x], [value])
        code, got, want = run(graph, inputs_of(graph), SPACE, options=EXACT)
        np.testing.assert_array_equal(got[0], want[0])
        np.testing.assert_array_equal(np.signbit(got[0]), np.signbit(want[0]))
        found.append(len(code.steps))
    # Two more make integers of it, two less are for the sign.
    assert found == [9, 9]


def test_clamped_integers_need_no_wrapping():
    x = parameter(TensorType(DType.I32, SPACE), "x")
    y = op("minimum", op("maximum", x, splat(-128, x.type)), splat(127, x.type))
    graph = Graph("g", [x], [op("convert", y, dtype=DType.I8)])
    code, got, want = run(graph, inputs_of(graph), SPACE, options=EXACT)
    np.testing.assert_array_equal(got[0], want[0])
    assert len(code.steps) <= 2


@pytest.mark.parametrize("name", sorted(
    name for name in FUNCTIONS if len(OPS[name].operands) == 1))
def test_functions_are_the_kernels(name):
    graph = unary(name)
    [x] = inputs_of(graph)
    _, [got], _ = run(graph, [x], SPACE, options=EXACT)
    np.testing.assert_array_equal(got.view(np.uint32), kernel(name, FUNCTIONS[name]).evaluate(x))


@pytest.mark.parametrize("dims", [[0], [1], [0, 1]])
@pytest.mark.parametrize("reducer", ["add", "maximum", "minimum", "and", "or"])
def test_reductions(dims, reducer):
    x = parameter(TensorType(DType.I32, SPACE), "x")
    start = {"add": 0, "maximum": -2**31, "minimum": 2**31 - 1, "and": -1, "or": 0}[reducer]
    y = op("reduce", x, splat(start, TensorType(DType.I32)), dims=dims, reducer=reducer)
    check(Graph("g", [x], [y]), kept=0 if 0 in dims else None)


def test_groups_of_rows_and_columns_of_several_dimensions():
    space = (3, 8, 20)
    x = parameter(TensorType(DType.I32, space), "x")
    zero = splat(0, TensorType(DType.I32))
    rows = op("reduce", x, zero, dims=[1], reducer="add")
    both = op("reduce", x, zero, dims=[1, 2], reducer="add")
    check(Graph("g", [x], [rows, both]), space, 1)


def test_sums_of_floats_agree_in_the_order_of_the_chip():
    x = parameter(TensorType(DType.F32, SPACE), "x")
    y = op("reduce", x, splat(0, TensorType(DType.F32)), dims=[1], reducer="add")
    values = np.random.default_rng(SEED).normal(size=SPACE).astype(np.float32)
    _, [got], _ = run(Graph("g", [x], [y]), [values], SPACE, options=EXACT)
    lanes = values[:, :16] + values[:, 16:32]
    lanes[:, :8] += values[:, 32:]
    while lanes.shape[1] > 1:
        lanes = lanes[:, 0::2] + lanes[:, 1::2]
    np.testing.assert_array_equal(got, lanes[:, 0])


def test_counting_columns():
    x = parameter(TensorType(DType.F32, SPACE), "x")
    y = op("add", x, op("iota", dtype=DType.F32, shape=SPACE, dim=1))
    check(Graph("g", [x], [y]))


def test_the_same_element_in_all_lanes_is_summed():
    x = parameter(TensorType(DType.I32, SPACE[:1]), "x")
    y = op("reduce", op("broadcast", x, shape=SPACE, dims=[0]), splat(0, TensorType(DType.I32)),
           dims=[1], reducer="add")
    check(Graph("g", [x], [y]))


def test_outputs_have_the_extent_of_their_write():
    x = parameter(TensorType(DType.F32, SPACE[1:]), "x")
    one = op("broadcast", x, shape=SPACE, dims=[1])
    [same] = ops("barrier", x)
    check(Graph("g", [x], [one, same, splat(2.0, TensorType(DType.F32, SPACE))]))
