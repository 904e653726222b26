"""Integers of 64 bits as two words mean what they mean to the interpreter, to the last bit."""

import numpy as np
import pytest

import celosia
from celosia.compiler import canonical
from celosia.frontend import FrontendError
from celosia.frontend.narrow import narrow
from celosia.frontend.wide import joins
from celosia.frontend.wide.words import Wide
from celosia.graph import (
    CORE,
    DType,
    Graph,
    TensorType,
    check,
    constant,
    interpret,
    op,
    ops,
    parameter,
)

I64, U64 = DType.I64, DType.U64
RNG = np.random.default_rng(11)
_ENDS = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1,
         2**53 + 1, 0x123456789ABCDEF0, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 2, 2**64 - 2**32,
         2**64 - 2**31, 2**64 - 100]
PAIRS = [(a, b) for a in _ENDS for b in _ENDS]


def of(dtype, numbers):
    return np.array(numbers, np.uint64).astype(dtype.numpy)


def some(dtype, *shape):
    """Return numbers of every size."""
    bits = RNG.integers(0, 2**63, shape, dtype=np.uint64) * np.uint64(2) + RNG.integers(
        0, 2, shape, dtype=np.uint64)
    return (bits >> RNG.integers(0, 64, shape, dtype=np.uint64)).astype(dtype.numpy)


def agree(make, *arrays, through=canonical):
    """Assert that a function of values means the same without elements of 64 bits."""
    params = [parameter(TensorType(DType.of(each.dtype), each.shape)) for each in arrays]
    made = make(*params)
    graph = Graph("main", params, [made] if not isinstance(made, tuple | list) else made)
    without = narrow(graph, exact=True)
    check(without, CORE)
    with np.errstate(all="ignore"):
        wanted = interpret(graph, arrays)
    for found in (interpret(without, arrays), interpret(through(without), arrays)):
        for a, b in zip(found, wanted, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


BINARY = ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or",
          "xor", "shift_left", "shift_right", "shift_right_signed"]


@pytest.mark.parametrize("dtype", [I64, U64], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtype):
    a, b = (of(dtype, each) for each in zip(*PAIRS, strict=True))
    agree(lambda x, y: op(name, x, y), a, b)


@pytest.mark.parametrize("dtype", [I64, U64], ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_iota(dtype, dim):
    agree(lambda x: op("add", x, op("iota", dtype=dtype, shape=x.shape, dim=dim)),
          some(dtype, 4, 9))


@pytest.mark.parametrize("dtype", [I64, U64], ids=str)
@pytest.mark.parametrize("direction", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_compare(direction, dtype):
    a, b = (of(dtype, each) for each in zip(*PAIRS, strict=True))
    agree(lambda x, y: op("compare", x, y, direction=direction), a, b)


@pytest.mark.parametrize("dtype", [I64, U64], ids=str)
def test_unary(dtype):
    names = ["negate", "not"] + ["abs", "sign"] * (dtype is I64)
    agree(lambda x: [op(name, x) for name in names], of(dtype, _ENDS))


@pytest.mark.parametrize("dtype", [I64, U64], ids=str)
def test_power(dtype):
    base = np.repeat(of(dtype, _ENDS), 9)
    count = np.tile(of(dtype, [0, 1, 2, 3, 5, 31, 33, 63, 64]), len(_ENDS))
    agree(lambda x, y: op("power", x, y), base, count)
    three = constant(of(dtype, 3))
    agree(lambda x: op("power", x, op("broadcast", three, shape=x.shape)), of(dtype, _ENDS))


@pytest.mark.parametrize("amount", [0, 1, 31, 32, 33, 63, 64, 99])
@pytest.mark.parametrize("name", BINARY[-3:])
def test_shift_by_a_constant(name, amount):
    for dtype in (I64, U64):
        much = constant(of(dtype, amount))
        agree(lambda x, much=much: op(name, x, op("broadcast", much, shape=x.shape)),
              of(dtype, _ENDS))


@pytest.mark.parametrize("other", [each for each in DType if each not in (DType.F64, DType.C64)],
                         ids=str)
def test_conversions(other):
    for dtype in (I64, U64):
        x = np.concatenate([of(dtype, _ENDS), some(dtype, 300)])
        agree(lambda x: op("convert", x, dtype=other), x)
        if other.is_float:
            y = (RNG.standard_normal(300) * 2.0**RNG.integers(-3, 70, 300)).astype(np.float32)
            y[:6] = [np.nan, np.inf, -np.inf, -0.0, -0.75, 2.0**63]
            with np.errstate(over="ignore"):
                y = y.astype(other.numpy)
        else:
            y = RNG.integers(0, 256, (64, 8)).astype(np.uint8).view(np.uint64).astype(other.numpy)
        agree(lambda x, dtype=dtype: op("convert", x, dtype=dtype), y)


@pytest.mark.parametrize("other", [I64, U64, DType.I32, DType.U32, DType.F32, DType.I16, DType.U8],
                         ids=str)
def test_bits(other):
    for dtype in (I64, U64):
        x = some(dtype, 5, 3)
        agree(lambda x: op("bitcast", x, dtype=other), x)
        y = np.frombuffer(x.tobytes(), other.numpy).reshape(
            (5, 3) if other.bits == 64 else (5, 3, 64 // other.bits))
        if other is not DType.F32:
            agree(lambda x, dtype=dtype: op("bitcast", x, dtype=dtype), y)


@pytest.mark.parametrize("dtype", [I64, U64], ids=str)
@pytest.mark.parametrize("name", ["add", "maximum", "minimum", "and", "or", "xor"])
def test_reductions(name, dtype):
    for shape, dims in (((5, 7), (0,)), ((5, 7), (1, 0)), ((3, 1, 4), (2,)), ((0, 3), (0,)),
                        ((2, 3), ())):
        agree(lambda x, initial, dims=dims: op("reduce", x, initial, dims=dims, reducer=name),
              some(dtype, *shape), some(dtype))


def test_sums_of_many():
    zero = constant(np.int64(0))
    agree(lambda x: op("reduce", x, zero, dims=(0,), reducer="add"),
          np.full((70000, 1), -1, np.int64), through=lambda graph: graph)


@pytest.mark.parametrize("dtype", [I64, U64], ids=str)
def test_sums_of_windows(dtype):
    zero = constant(of(dtype, 0))
    agree(lambda x: op("reduce_window", x, zero, reducer="add", window=(1, 4), stride=(1, 2),
                       padding=((0, 0), (3, 0)), x_dilation=(1, 1), window_dilation=(1, 1)),
          some(dtype, 3, 9))


@pytest.mark.parametrize("reducer", ["argmax", "argmin"])
def test_indices_of_the_greatest(reducer):
    x = some(I64, 4, 9)
    x[1] = x[1, 3]
    places = op("broadcast", constant(np.arange(9)), shape=(4, 9), dims=(1,))
    short = op("iota", dtype=DType.I32, shape=(4, 9), dim=1)
    least = constant(np.iinfo(np.int64).min if reducer == "argmax" else np.iinfo(np.int64).max)
    for index in (places, short, op("iota", dtype=I64, shape=(4, 9), dim=1),
                  op("iota", dtype=U64, shape=(4, 9), dim=1)):
        zero = constant(np.zeros((), index.dtype.numpy))
        agree(lambda x, index=index, zero=zero: ops("arg_reduce", x, index, least, zero, dims=(1,),
                                                    reducer=reducer), x)
    agree(lambda x: ops("arg_reduce", x, places, constant(np.float32(0)), constant(np.int64(0)),
                        dims=(1,), reducer=reducer), x.astype(np.float32))


@pytest.mark.parametrize("dtype", [I64, U64], ids=str)
def test_orders(dtype):
    x = some(dtype, 4, 30)
    x[:, 10:20] = x[:, :10]
    y = some(dtype, 4, 30)
    for descending in (False, True):
        agree(lambda x, y, down=descending: ops("sort", x, y, dim=1, descending=down), x, y)
    agree(lambda x, y: ops("sort", x, y, dim=0, keys=2), x, y)
    agree(lambda x: ops("top_k", x, k=5), np.arange(30) - some(I64, 4, 30) // 2)


def test_any_order():
    a, b = (parameter(TensorType(I64)) for _ in range(2))
    low = [op("and", each, constant(np.int64(0xF0000000F))) for each in (a, b)]
    less = Graph("less", [a, b], [op("compare", *low, direction="lt")])
    agree(lambda x: ops("sort_by", x, dim=0, regions=[less]), some(I64, 40))


def test_places_and_what_is_there():
    x, i = some(I64, 6, 5), np.array([[2], [-2**40], [2**40], [5]], np.int64)
    attrs = {"start_map": (0,), "index_dim": 1}
    rows = {"offset_dims": (1,), "collapsed": (0,), "sizes": (1, 5)}
    agree(lambda x, i: op("gather", x, i, **attrs, **rows), x, i)
    agree(lambda x, i: op("gather", x, i, **attrs, **rows), x.astype(np.float32), i)
    agree(lambda x, i: op("gather", x, i, **attrs, **rows), x, i.view(np.uint64))
    agree(lambda x, a, b: op("dynamic_slice", x, a, b, sizes=(2, 2)), x, np.int64(2**33),
          np.int64(-5))
    agree(lambda x, u, a, b: op("dynamic_update_slice", x, u, a, b), x, some(I64, 2, 2),
          np.int64(1), np.int64(2**33))


@pytest.mark.parametrize("reducer", ["set", "add", "and", "xor"])
def test_updates(reducer):
    x, updates = some(I64, 6, 5), some(I64, 5, 5)
    i = np.array([[2], [-2**40], [2], [0], [2**32 + 1]], np.int64)
    agree(lambda x, i, u: op("scatter", x, i, u, window_dims=(1,), inserted=(0,), start_map=(0,),
                             index_dim=1, reducer=reducer), x, i, updates)


@pytest.mark.parametrize("dtype", [I64, U64], ids=str)
def test_products(dtype):
    agree(lambda a, b: op("dot", a, b, contract=((1, 0),), dtype=dtype),
          some(dtype, 3, 70), some(dtype, 70, 4))
    agree(lambda a, b: op("dot", a, b, contract=((2, 1),), batch=((0, 0),), dtype=dtype),
          some(dtype, 2, 3, 5).astype(np.int32), some(dtype, 2, 5, 2).astype(np.int32))
    agree(lambda x, w: op("convolution", x, w, layout="b0f_0io->b0f", stride=(1,),
                          padding=((1, 0),), x_dilation=(1,), w_dilation=(1,), groups=1,
                          batch_groups=1, dtype=dtype), some(dtype, 2, 8, 3), some(dtype, 3, 3, 2))


def test_loops_and_branches():
    def turns(x):
        i, n, total = (parameter(TensorType(I64)) for _ in range(3))
        cond = Graph("cond", [i, n, total], [op("compare", i, n, direction="lt")])
        i, n, total = (parameter(TensorType(I64)) for _ in range(3))
        square = op("multiply", total, op("add", total, i))
        body = Graph("body", [i, n, total], [op("add", i, constant(np.int64(1))), n, square])
        found = ops("while", constant(np.int64(0)), constant(np.int64(7)), x, regions=(cond, body))
        a, b = parameter(TensorType(I64)), parameter(TensorType(I64))
        branches = [Graph("branch", [a], [op("negate", a)]),
                    Graph("branch", [b], [op("add", b, b)])]
        index = op("convert", op("and", x, constant(np.int64(1))), dtype=DType.I32)
        return [*found, *ops("case", index, found[2], regions=branches),
                *ops("barrier", x, index)]

    for x in (3, 2**40 + 2, -(2**63)):
        agree(turns, np.int64(x))


def test_movement():
    def moved(x, y):
        lower = op("reverse", op("transpose", x, permutation=(1, 0)), dims=(0,))
        whole = op("concatenate", lower, op("reshape", y, shape=(5, 3)), dim=1)
        whole = op("pad", whole, constant(np.int64(-7)), low=(1, 0), high=(0, 2), interior=(0, 1))
        whole = op("slice", whole, start=(0, 1), limit=(6, 9), stride=(1, 2))
        count = op("iota", dtype=I64, shape=whole.shape, dim=0)
        return op("clamp", constant(np.int64(-2**40)), op("add", whole, count),
                  constant(np.int64(2**40)))

    agree(moved, some(I64, 2, 5), some(I64, 15))


def test_the_chip_takes_and_gives_them():
    x, y, z = parameter(TensorType(I64, (3, 40))), parameter(TensorType(U64)), parameter(
        TensorType(DType.F32, (3, 40)))
    total = op("add", x, op("convert", op("broadcast", y, shape=x.shape), dtype=I64))
    graph = Graph("main", [x, y, z], [total, op("not", y), op("convert", total, dtype=DType.F32),
                                      op("convert", z, dtype=I64), x])
    compiled = celosia.compile(narrow(graph, exact=True), "core", strict=True, cache=False)
    arrays = [some(I64, 3, 40), some(U64), (RNG.standard_normal((3, 40)) * 1e15).astype(np.float32)]
    for a, b in zip(compiled(*arrays), interpret(graph, arrays), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_what_words_cannot_do_is_said_at_once():
    x = parameter(TensorType(I64, (4,)), "x")
    zero, wide = constant(np.int64(0)), {"window": (2,), "stride": (1,), "padding": ((0, 0),),
                                         "x_dilation": (1,), "window_dilation": (1,)}
    index = parameter(TensorType(DType.I32, (4, 1)))
    double = op("convert", x, dtype=DType.F64)
    graph = Graph("main", [x, index], [
        op("reduce_window", x, zero, reducer="maximum", **wide),
        op("reduce", x, constant(np.int64(1)), dims=(0,), reducer="multiply"),
        op("scatter", x, index, x, start_map=(0,), inserted=(0,), index_dim=1, reducer="minimum"),
        *ops("arg_reduce", x, x, zero, zero, dims=(0,), reducer="argmax"),
        op("convert", double, dtype=DType.F32)])
    with pytest.raises(FrontendError) as error:
        narrow(graph, exact=True)
    assert [problem.partition(": ")[2] for problem in error.value.problems] == [
        "reduce_window: windows of 64-bit elements must be summed, from 0, not reduced by maximum",
        "reduce: 64-bit elements must not be reduced by multiply as such",
        "scatter: 64-bit updates must be added or set, not joined by minimum as such",
        "arg_reduce: indices of 64 bits must be known (iota)",
        ("convert: elements must have at most 32 bits where they are not constant, not f64[4]: "
         "cast them to f32")]


@pytest.mark.parametrize(("number", "signed"), [
    *((number, True) for number in (0, 1, -1, 2**32, 2**61, 2**62, 2**62 + 1, 2**63 - 1, -2**62,
                                    -2**63, 1 - 2**63, -2**32)),
    *((number, False) for number in (0, 2**62, 2**63 - 1, 2**63, 2**64 - 1))])
def test_the_number_that_words_are(number, signed):
    low, high = (constant(number >> shift & 0xFFFFFFFF, DType.U32) for shift in (0, 32))
    assert joins.number_of(Wide(low, high, signed)) == number
    rows = op("reshape", op("broadcast", high, shape=(2, 3), dims=()), shape=(6,))
    assert joins.number_of(Wide(low, rows, signed)) == number
    unknown = parameter(TensorType(DType.U32, ()))
    for pair in ((low, unknown), (unknown, high), (low, constant([1, 2], DType.U32))):
        assert joins.number_of(Wide(*pair, signed)) is None
