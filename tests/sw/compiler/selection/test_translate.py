"""What each operation of a cluster is as a term, and what a cluster must not have."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from clusters import CORE, access, cluster_of

from celosia.arch.vector import Post, ReduceOp
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.errors import CompileError
from celosia.compiler.kernels.terms import Extent, recording, step
from celosia.compiler.lowered import Write
from celosia.compiler.selection import select_instructions
from celosia.compiler.selection.notation import both, either, imax, rsqrt, select
from celosia.compiler.selection.pool import Pool
from celosia.compiler.selection.translate import rounded, translate
from celosia.graph import DType, Graph, TensorType, constant, op, parameter, splat

SPACE = (6, 40)
BOOL, I8, U8, I16, U16 = DType.BOOL, DType.I8, DType.U8, DType.I16, DType.U16
I32, U32, F16, BF16, F32 = DType.I32, DType.U32, DType.F16, DType.BF16, DType.F32


def word(dtype=F32, shape=SPACE):
    return parameter(TensorType(dtype, shape))


def translated(value, *params, rules=None):
    """Return the pool, the terms of parameters, and the term of a value with that of its store."""
    pool = Pool()
    cluster = cluster_of(Graph("g", params, [value]), SPACE)
    found = translate(pool, cluster, rules or {})
    return pool, [found.terms[each] for each in params], found.terms[value], found.stored[value]


def check(value, *params, wanted, stored=None, rules=None):
    pool, terms, found, kept = translated(value, *params, rules=rules)
    with recording(pool):
        assert found is wanted(*terms)
        assert kept is (stored(*terms) if stored else found)


def of(pool, array):
    """The term of a constant that goes with a row."""
    x = word(DType.of(array.dtype) if array.dtype != np.bool_ else BOOL)
    made = constant(array)
    wide = op("broadcast", made, shape=SPACE, dims=range(2 - array.ndim, 2))
    cluster = cluster_of(Graph("g", [x], [op("select", word(BOOL), x, wide)]), SPACE)
    nodes = tuple(node for node in cluster.nodes if node.op in ("constant", "broadcast"))
    return translate(pool, replace(cluster, nodes=nodes, writes=()), {}).terms[made]


@pytest.mark.parametrize(("number", "bits"), [
    (np.bool_(True), 0xFFFFFFFF), (np.bool_(False), 0), (np.int32(-2), 0xFFFFFFFE),
    (np.uint32(2**32 - 1), 0xFFFFFFFF), (np.int8(-1), 0xFFFFFFFF), (np.uint8(200), 200),
    (np.float32(1.5), 0x3FC00000), (np.float16(-2), 0xC0000000)])
def test_constants_are_immediates(number, bits):
    pool = Pool()
    assert of(pool, np.asarray(number)) is pool.word(bits)
    assert of(pool, np.full(40, number)) is pool.word(bits)


@pytest.mark.parametrize(("first", "dtype"), [
    (0, np.int32), (3, np.int32), (-7, np.int32), (1 << 20, np.int32), (-(1 << 20), np.int32),
    (9, np.uint8), (0, np.float32), (-3, np.float32)])
def test_constants_that_count_are_the_number_of_the_lane(first, dtype):
    pool = Pool()
    found = of(pool, (first + np.arange(40)).astype(dtype))
    lane = pool.lane(first)
    assert found is (pool.op(Op.I2F, lane) if dtype is np.float32 else lane)


@pytest.mark.parametrize(("array", "type"), [
    ((1 << 20) + 1 + np.arange(40, dtype=np.int32), "i32[40]"),
    (np.arange(40, dtype=np.int32)[::-1], "i32[40]"), (np.arange(40, dtype=np.float32) + 0.5,
                                                       "f32[40]"),
    (np.r_[np.arange(39), 40].astype(np.int32), "i32[40]"),
    (np.arange(40) == 1, "bool[40]"), (np.r_[np.nan, np.arange(1, 40)].astype(np.float32),
                                       "f32[40]"),
    (np.arange(240, dtype=np.int32).reshape(6, 40), "i32[6,40]"),
    (np.arange(40, dtype=np.int32).reshape(40, 1)[:6], "i32[6,1]")])
def test_other_constants_are_read(array, type):
    with pytest.raises(CompileError) as caught:
        of(Pool(), array)
    assert str(caught.value) == (f"unknown source: constant must be of equal elements, not {type}; "
                                 "others are read")


def test_an_iota_counts_columns():
    pool, _, found, _ = translated(op("iota", dtype=I32, shape=SPACE, dim=1))
    assert found is pool.lane()
    pool, _, found, _ = translated(op("iota", dtype=F32, shape=SPACE, dim=1))
    assert found is pool.op(Op.I2F, pool.lane())
    pool, _, found, _ = translated(op("iota", dtype=BF16, shape=SPACE, dim=1))
    with recording(pool):
        assert found is rounded(pool.op(Op.I2F, pool.lane()))
    for shape, dim in ((SPACE, 0), ((40, 6), 0)):
        line = op("iota", dtype=I32, shape=shape, dim=dim)
        with pytest.raises(CompileError) as caught:
            translated(op("reshape", line, shape=SPACE))
        assert str(caught.value) == (
            f"unknown source: iota must count the columns of (6, 40), not dimension {dim} of "
            f"{shape}; others are read")


DIRECTIONS = {"eq": (Op.FEQ, Op.IEQ), "ne": (Op.FNE, Op.INE), "lt": (Op.FLT, Op.ILT),
              "le": (Op.FLE, Op.ILE), "gt": (Op.FGT, Op.IGT), "ge": (Op.FGE, Op.IGE)}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_comparisons(direction):
    for dtype, code in zip((F32, I32), DIRECTIONS[direction], strict=True):
        x, y = word(dtype), word(dtype)
        check(op("compare", x, y, direction=direction), x, y, wanted=lambda x, y, code=code: step(
            code, x, y))


def half_up(x):
    """To bf16: half of the last place more, less a bit where that is even; the rest cut off."""
    half = select(both(x, 0x10000), 0x8000, 0x7FFF)
    return both(step(Op.IADD, x, half), 0xFFFF0000)


def to_f16(x):
    size = abs(x)
    coarse = imax(step(Op.IADD, both(size, 0x7F800000), 13 << 23), 0x3F000000)
    found = select(step(Op.FGE, size, 65520.0), math.inf, size + coarse - coarse)
    return either(found, both(x, 0x80000000))


@pytest.mark.parametrize(("a", "b", "wanted"), [
    (F32, BF16, lambda x: half_up(x + -0.0)), (F32, F16, to_f16),
    (F32, I32, lambda x: step(Op.MOV, x, post=Post.F2I_TRUNC)), (I32, F32, lambda x: step(
        Op.I2F, x)),
    (I32, I8, lambda x: step(Op.SAR, step(Op.SHL, x, 24), 24)),
    (I32, U8, lambda x: step(Op.SHR, step(Op.SHL, x, 24), 24)),
    (I32, I16, lambda x: step(Op.SAR, step(Op.SHL, x, 16), 16)),
    (I32, U16, lambda x: step(Op.SHR, step(Op.SHL, x, 16), 16)),
    *((short, I32, lambda x: x) for short in (I8, U8, I16, U16)),
    (BF16, F32, lambda x: x), (F16, F32, lambda x: x), (F32, F32, lambda x: x)])
def test_conversions(a, b, wanted):
    x = word(a)
    stored = (lambda x: x) if (a, b) == (F32, BF16) else None
    check(op("convert", x, dtype=b), x, wanted=wanted, stored=stored)


@pytest.mark.parametrize(("low", "high", "dtype", "wraps"), [
    (-128, 127, I8, False), (-129, 127, I8, True), (-128, 128, I8, True), (0, 255, U8, False),
    (-1, 255, U8, True), (0, 256, U8, True), (-(2**15), 2**15 - 1, I16, False),
    (0, 2**16 - 1, U16, False), (0, 2**16, U16, True)])
def test_what_is_in_the_range_of_a_short_type_is_not_wrapped(low, high, dtype, wraps):
    x = word(I32)
    bounded = op("maximum", op("minimum", x, splat(high, x.type)), splat(low, x.type))
    pool, _, before, _ = translated(bounded, x)
    _, _, found, _ = translated(op("convert", bounded, dtype=dtype), x)
    assert (found.op is before.op) == (not wraps)


@pytest.mark.parametrize(("a", "b"), [(U32, I32), (BF16, F16), (I8, F32), (F32, I8), (BOOL, I32),
                                      (I8, U8), (U32, I8)])
def test_other_conversions_are_refused(a, b):
    x = word(a)
    with pytest.raises(CompileError, match=f"^unknown source: convert must be one of the canonical "
                                           f"level, not from {a} to {b}$"):
        translated(op("convert", x, dtype=b), x)


def test_what_arithmetic_has_made_needs_no_care_where_it_is_rounded():
    x, y, mask = word(), word(), word(BOOL)

    def bf16(value):
        return op("convert", value, dtype=BF16)

    check(bf16(op("add", x, y)), x, y, wanted=lambda x, y: half_up(x + y),
          stored=lambda x, y: x + y)
    check(bf16(op("rsqrt", x)), x, wanted=lambda x: half_up(rsqrt(x)), stored=lambda x: rsqrt(x))
    for name, made in (("abs", abs), ("negate", lambda x: -x)):
        check(bf16(op(name, x)), x, wanted=lambda x, made=made: half_up(made(x) + -0.0),
              stored=made)
    total = op("add", x, y)
    check(bf16(op("select", mask, total, splat(1.0, x.type))), mask, x, y,
          wanted=lambda m, x, y: half_up(select(m, x + y, 1.0)),
          stored=lambda m, x, y: select(m, x + y, 1.0))
    for other in (splat(np.nan, x.type), x):
        pool, (m, a, b), found, _ = translated(bf16(op("select", mask, total, other)), mask, x, y)
        with recording(pool):
            term = select(m, a + b, a if other is x else math.nan)
            assert found is half_up(term + -0.0)


def test_a_choice_of_bf16_is_stored_unrounded():
    x, y, mask = word(), word(), word(BOOL)
    a, b = (op("convert", each, dtype=BF16) for each in (x, y))
    check(op("select", mask, a, b), mask, x, y,
          wanted=lambda m, x, y: select(m, half_up(x + -0.0), half_up(y + -0.0)),
          stored=lambda m, x, y: select(m, x, y))


def whole(x, post, signed):
    found = step(Op.I2F, step(Op.MOV, x, post=post))
    if signed:
        found = either(found, both(x, 1 << 31))
    return select(step(Op.FLT, abs(x), 2.0**23), found, x)


@pytest.mark.parametrize(("name", "post"), [("floor", Post.F2I_FLOOR), ("round", Post.F2I)])
def test_whole_numbers_keep_the_sign_of_a_zero_where_it_shows(name, post):
    x = word()
    made = op(name, x)
    for signed, value in ((True, made), (True, op("negate", made)),
                          (True, op("maximum", made, splat(2.0, x.type))),
                          (False, op("convert", made, dtype=I32)),
                          (True, op("convert", made, dtype=BF16)),
                          (False, op("compare", made, splat(1.0, x.type), direction="lt")),
                          (False, op("convert", op("maximum", made, splat(2.0, x.type)),
                                     dtype=I32))):
        pool, (term,), _, _ = translated(value, x)
        cluster = cluster_of(Graph("g", [x], [value]), SPACE)
        terms = translate(pool, cluster, {}).terms
        with recording(pool):
            assert terms[made] is whole(term, post, signed), value


def test_requantising_has_its_numbers_in_one():
    x = word(I32)
    scale, bias = word(I32), word(I32)
    made = op("requantise", x, scale, bias, zero_point=-3, low=-128, high=127)
    _, terms, found, _ = translated(made, x, scale, bias)
    assert (found.op, found.param) == (Op.REQUANT, 0xFD | 0x80 << 8 | 0x7F << 16)
    assert list(found.args) == terms


def test_rules_take_the_place_of_what_is_exact():
    x = word()
    made = op("exp", x)
    seen = []

    def rule(pool, node, terms):
        seen.append((node, terms))
        return terms[0]

    check(made, x, wanted=lambda x: x, rules={"exp": rule})
    assert [node for node, _ in seen] == [made.node]


def reduced(x, dims, reducer="add"):
    start = {"add": 0, "maximum": -np.inf if x.dtype.is_float else -2**31}.get(reducer, 0)
    return op("reduce", x, constant(start, x.dtype), dims=dims, reducer=reducer)


@pytest.mark.parametrize(("dtype", "reducer", "code"), [
    (F32, "add", ReduceOp.SUM_F), (F32, "maximum", ReduceOp.MAX_F), (I32, "add", ReduceOp.SUM_I),
    (I32, "maximum", ReduceOp.MAX_I), (I32, "or", ReduceOp.OR)])
def test_reductions_of_lanes_and_of_rows(dtype, reducer, code):
    x = word(dtype)
    pool, (term,), found, _ = translated(reduced(x, [1], reducer), x)
    assert found is pool.join(code, term)
    pool, (term,), found, _ = translated(reduced(x, [0], reducer), x)
    assert found is pool.join_rows(code, term, Extent.FULL)
    pool, (term,), found, _ = translated(reduced(x, [0, 1], reducer), x)
    assert found is pool.join_rows(code, pool.join(code, term), Extent.ROWS)


@pytest.mark.parametrize(("dtype", "reducer", "wanted"), [
    (F32, "add", lambda x: x * 40.0), (I32, "add", lambda x: step(Op.IMUL, x, 40)),
    (F32, "maximum", lambda x: x), (I32, "maximum", lambda x: x)])
def test_the_same_element_in_all_lanes_is_joined_by_itself(dtype, reducer, wanted):
    x = word(dtype, SPACE[:1])
    check(reduced(op("broadcast", x, shape=SPACE, dims=[0]), [1], reducer), x, wanted=wanted)


@pytest.mark.parametrize(("make", "text"), [
    (lambda x: reduced(op("convert", x, dtype=I32), [1], "xor"),
     "reduce must be one of add, maximum, minimum, and, or, not xor"),
    (lambda x: reduced(x, [1], "multiply"),
     "reduce must be one of add, maximum, minimum, not multiply"),
    (lambda x: op("ceil", x), "ceil has no vector instructions"),
    (lambda x: op("negate", op("broadcast", reduced(x, [0]), shape=SPACE, dims=[1])),
     "negate must not use what its cluster joins over rows")])
def test_what_a_cluster_must_not_have(make, text):
    x = word()
    with pytest.raises(CompileError) as caught:
        translated(make(x), x)
    assert str(caught.value) == f"unknown source: {text}"


def test_a_cluster_reads_what_it_needs_and_writes_what_it_has():
    x, y = word(), word()
    made = op("add", x, y)
    cluster = cluster_of(Graph("g", [x, y], [made]), SPACE)
    with pytest.raises(CompileError, match="^" + re.escape(
            "unknown source: add must have operands that its cluster reads or makes, not "
            f"{y!r}") + "$"):
        translate(Pool(), replace(cluster, reads=cluster.reads[:1]), {})
    other = word()
    writes = (Write(other, Extent.FULL, access(other)),)
    with pytest.raises(CompileError, match="^" + re.escape(
            f"a test: a cluster must write what it reads or makes, not {other!r}") + "$"):
        select_instructions(CORE, replace(cluster, writes=writes))
