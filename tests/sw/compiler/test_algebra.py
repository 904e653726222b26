"""Which operations fall away by algebra, or become another one: these and no others."""

import numpy as np
import pytest

from celosia.compiler.builder import scalar_of
from celosia.compiler.passes.algebra import algebra, before_broadcast
from celosia.graph import DType, Graph, TensorType, constant, interpret, op, ops, parameter, splat

INF = float("inf")
BOOL, I8, U8, F32 = DType.BOOL, DType.I8, DType.U8, DType.F32
NARROW = [each for each in DType if not each.is_wide]
INTEGERS = [each for each in NARROW if each.is_integer]
OPS = ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power", "and",
       "or", "xor", "shift_left", "shift_right", "shift_right_signed"]
COMMUTATIVE = {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}


def word(dtype, *shape):
    return parameter(TensorType(dtype, shape))


def said(found, x):
    """Return what a rewrite is in short."""
    if found is None or found is x:
        return found and "x"
    if scalar_of(found) is not None:
        assert found.type == x.type
        return scalar_of(found)
    node = found.node
    assert node.operands[0] is x
    rest = node.operands[1:]
    return (node.op, *("x" if each is x else float(scalar_of(each)) for each in rest))


def rewrites(dtype, numbers):
    """Return {(operation, number): what becomes of x and it}; number first where it may be."""
    found = {}
    x = word(dtype, 3)
    for name in OPS:
        if dtype.is_float and name in OPS[8:] or dtype is BOOL and name not in ("and", "or", "xor"):
            continue
        for number in numbers:
            y = splat(number, x.type)
            made = said(algebra(op(name, x, y).node), x)
            turned = said(algebra(op(name, y, x).node), x)
            assert turned == (made if name in COMMUTATIVE else None)
            if made is not None:
                found[name, str(number)] = made
    return found


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_and_a_number(dtype):
    info = np.iinfo(dtype.numpy)
    low, high = int(info.min), int(info.max)
    ones = -1 if dtype.is_signed else high
    numbers = {low, low + 1, 0, 1, 2, 3, high - 1, high, ones, *([-2] if low else [])}
    assert rewrites(dtype, sorted(numbers)) == {
        ("add", "0"): "x", ("subtract", "0"): "x", ("multiply", "1"): "x", ("multiply", "0"): 0,
        ("divide", "1"): "x", ("maximum", str(low)): "x", ("minimum", str(high)): "x",
        ("and", str(ones)): "x", ("and", "0"): 0, ("or", "0"): "x", ("xor", "0"): "x",
        ("shift_left", "0"): "x", ("shift_right", "0"): "x", ("shift_right_signed", "0"): "x"}


def test_truths_and_a_truth():
    assert rewrites(BOOL, [False, True]) == {
        ("and", "True"): "x", ("and", "False"): False, ("or", "False"): "x", ("or", "True"): True,
        ("xor", "False"): "x"}


@pytest.mark.parametrize("dtype", [F32, DType.BF16, DType.F16], ids=str)
def test_floats_and_a_number(dtype):
    numbers = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, 0.75, -8.0, INF, -INF, float("nan")]
    assert rewrites(dtype, numbers) == {
        ("add", "-0.0"): "x", ("subtract", "0.0"): "x", ("multiply", "1.0"): "x",
        ("multiply", "-1.0"): ("negate",), ("divide", "1.0"): "x", ("power", "1.0"): "x",
        ("power", "2.0"): ("multiply", "x"), ("maximum", "-inf"): "x", ("minimum", "inf"): "x",
        ("divide", "-1.0"): ("multiply", -1.0), ("divide", "2.0"): ("multiply", 0.5),
        ("divide", "-2.0"): ("multiply", -0.5), ("divide", "0.5"): ("multiply", 2.0),
        ("divide", "-8.0"): ("multiply", -0.125)}


@pytest.mark.parametrize(("dtype", "power", "product"), [
    (F32, 126, True), (F32, 127, False), (F32, -127, True), (F32, -128, False),
    (DType.BF16, 126, True), (DType.BF16, 127, False), (DType.BF16, -127, True),
    (DType.BF16, -128, False), (DType.F16, 15, True), (DType.F16, -15, True),
    (DType.F16, -16, False), (DType.F16, -24, False)])
def test_an_inverse_is_one_that_the_type_has(dtype, power, product):
    for sign in (1, -1):
        x = word(dtype, 3)
        found = said(algebra(op("divide", x, splat(sign * 2.0**power, x.type)).node), x)
        assert found == (("multiply", sign * 2.0**-power) if product else None)


def values(dtype):
    """Return all numbers of a short type, the ends and many of a longer one."""
    if dtype is BOOL:
        return np.array([False, True])
    if dtype.bits <= 16:
        return np.arange(1 << dtype.bits).astype(f"u{dtype.bits // 8}").view(dtype.numpy)
    words = np.arange(0, 1 << 32, (1 << 21) - 333, np.uint32)
    return np.concatenate([words, ~words]).view(dtype.numpy)


@pytest.mark.parametrize("wide", NARROW, ids=str)
def test_a_type_and_back_falls_away_where_no_number_changes(wide):
    with np.errstate(all="ignore"):
        for dtype in NARROW:
            if dtype is wide:
                continue
            x = word(dtype, 4)
            back = op("convert", op("convert", x, dtype=wide), dtype=dtype)
            falls = said(algebra(back.node), x) == "x"
            all_ = values(dtype)
            params = [parameter(TensorType(dtype, all_.shape))]
            [same] = interpret(Graph("g", params, [
                op("convert", op("convert", params[0], dtype=wide), dtype=dtype)]), [all_])
            kept = np.array_equal(same.astype(float), all_.astype(float), equal_nan=True)
            assert falls == kept, dtype


def test_a_conversion_to_another_type_is_none():
    x = word(I8, 3)
    assert algebra(op("convert", x, dtype=I8).node) is x
    twice = op("convert", op("convert", x, dtype=F32), dtype=DType.I16)
    assert algebra(twice.node) is None
    assert algebra(op("convert", op("negate", x), dtype=F32).node) is None


@pytest.mark.parametrize(("dtypes", "left"), [
    ((F32, DType.U32, F32), ()), ((F32, F32), ()), ((F32, DType.U32, DType.I32), ("bitcast",)),
    ((F32, DType.U32), None), ((DType.U16, DType.F16, DType.BF16), ("bitcast",))])
def test_bits_seen_twice_are_seen_once(dtypes, left):
    x = value = word(dtypes[0], 3)
    for dtype in dtypes[1:]:
        value = op("bitcast", value, dtype=dtype)
    found = algebra(value.node)
    assert (found and (() if found is x else (found.node.op,))) == left
    if left:
        assert found.node.operands[0] is x
        assert found.dtype is dtypes[-1]


def test_bits_that_were_joined_stay():
    joined = op("bitcast", word(U8, 3, 2), dtype=DType.U16)
    assert algebra(op("bitcast", joined, dtype=DType.F16).node) is None
    parted = op("bitcast", word(DType.U16, 3), dtype=U8)
    assert algebra(op("bitcast", parted, dtype=I8).node) is None


@pytest.mark.parametrize("rank", [0, 1])
def test_choices(rank):
    x, y, mask = word(F32, 3), word(F32, 3), word(BOOL, *(3,) * rank)
    true, false = (constant(np.full(mask.shape, each)) for each in (True, False))
    assert algebra(op("select", true, x, y).node) is x
    assert algebra(op("select", false, x, y).node) is y
    assert algebra(op("select", mask, x, x).node) is x
    assert algebra(op("select", mask, x, y).node) is None
    turned = algebra(op("select", op("not", mask), x, y).node)
    assert turned.node.op == "select"
    assert turned.node.operands == (mask, y, x)


def test_twice_is_none_or_once():
    x, y = word(F32, 3), word(F32, 3)
    assert algebra(op("negate", op("negate", x)).node) is x
    assert algebra(op("not", op("not", word(I8, 3))).node).node.op == "parameter"
    assert algebra(op("negate", op("abs", x)).node) is None
    assert algebra(op("abs", op("abs", x)).node) is None
    for name in ("maximum", "minimum"):
        assert algebra(op(name, x, x).node) is x
        assert algebra(op(name, x, y).node) is None
    for name in ("and", "or"):
        z = word(I8, 3)
        assert algebra(op(name, z, z).node) is z
    assert algebra(op("add", x, x).node) is None


def test_what_is_no_elementwise_operation_of_one_result():
    assert algebra(word(F32, 3).node) is None
    [same, _] = ops("barrier", word(F32, 3), word(F32, 3))
    assert algebra(same.node) is None


A, B = word(F32, 3), word(F32, 3)
ROW = word(F32, 1, 3)


def wide(x, shape=(2, 3), dims=(1,)):
    return op("broadcast", x, shape=shape, dims=dims)


@pytest.mark.parametrize(("value", "operands", "dims"), [
    (op("add", wide(A), wide(B)), [A, B], (1,)),
    (op("exp", wide(A)), [A], (1,)),
    (op("add", wide(A, (3, 2), (0,)), wide(A, (3, 2), (0,))), [A, A], (0,)),
    (op("multiply", wide(ROW, dims=(0, 1)), wide(ROW, dims=(0, 1))), [ROW, ROW], (0, 1))])
def test_what_is_repeated_is_computed_before(value, operands, dims):
    found = before_broadcast(value.node)
    assert (found.node.op, found.type) == ("broadcast", value.type)
    assert found.node.attrs["dims"] == dims
    small = found.node.operands[0]
    assert small.node.op == value.node.op
    assert list(small.node.operands) == operands
    assert small.shape == operands[0].shape


@pytest.mark.parametrize("turned", [False, True])
def test_scalars_go_with_whatever_is_repeated(turned):
    x, number = wide(A), splat(2.0, TensorType(F32, (2, 3)))
    found = before_broadcast(op("subtract", *((number, x) if turned else (x, number))).node)
    assert found.node.attrs["dims"] == (1,)
    operands = found.node.operands[0].node.operands[::-1 if turned else 1]
    assert operands[0] is A
    assert operands[1].shape == (3,)
    assert scalar_of(operands[1]) == 2


def test_scalars_alone_are_computed_as_one():
    two, three = (splat(each, TensorType(F32, (2, 3))) for each in (2.0, 3.0))
    found = before_broadcast(op("add", two, three).node)
    assert found.node.attrs["dims"] == ()
    assert found.shape == (2, 3)
    assert found.node.operands[0].shape == ()


def test_attributes_are_kept():
    found = before_broadcast(op("compare", wide(A), wide(B), direction="ge").node)
    assert found.node.operands[0].node.attrs["direction"] == "ge"


@pytest.mark.parametrize("value", [
    op("add", wide(A), word(F32, 2, 3)),
    op("add", wide(A), wide(word(F32, 2), dims=(0,))),
    op("add", wide(A), wide(ROW, dims=(0, 1))),
    op("add", wide(A, (3, 3), (0,)), wide(B, (3, 3), (1,))),
    op("add", word(F32), word(F32)),
    op("exp", op("broadcast", A, shape=(3, 1), dims=(0,))),
    op("exp", op("reshape", A, shape=(1, 3))),
    op("transpose", wide(A), permutation=(1, 0)),
    op("iota", dtype=F32, shape=(2, 3), dim=0), A])
def test_all_else_stays_as_it_is(value):
    assert before_broadcast(value.node) is None
