"""What is known of numbers before they are made short: the least and the greatest there may be."""

import math

import numpy as np
import pytest

from celosia.compiler.builder import Builder
from celosia.compiler.selection.bounds import bounds
from celosia.graph import DType, Source, TensorType, op, ops, parameter

INF = math.inf
ANY = (-INF, INF)
F32, I32 = DType.F32, DType.I32
b = Builder(Source.UNKNOWN)


def word(dtype=F32, *shape):
    return parameter(TensorType(dtype, shape or (3,)))


def known(*numbers, dtype=F32):
    return b.constant(np.array(numbers), dtype)


def between(low, high, dtype=F32):
    """Return numbers of which that is known, as what is no constant."""
    x = word(dtype, 2)
    low, high = (b.full(each, x.type) for each in (low, high))
    return b("minimum", b("maximum", b("minimum", x, high), low), high)


@pytest.mark.parametrize(("value", "wanted"), [
    (word(), ANY), (word(I32), ANY), (known(3, -2, 7), (-2, 7)), (known(-2.5, 7.25), (-2.5, 7.25)),
    (known(1, math.nan), ANY), (known(1, INF), (1, INF)), (known(5, 6, dtype=DType.U8), (5, 6)),
    (b.constant(np.zeros((2, 0), np.float32)), ANY),
    (between(-3, 5), (-3, 5)), (b.reshape(known(1, 2), 1, 2), (1, 2)),
    (b("minimum", word(), known(1, 2, 9)), (-INF, 9)),
    (b("maximum", word(), known(1, 2, 9)), (1, INF)),
    (b("minimum", between(-3, 5), between(-7, 4)), (-7, 4)),
    (b("maximum", between(-3, 5), between(-7, 4)), (-3, 5)),
    (b("select", word(DType.BOOL, 2), between(-3, 4), between(-2, 5)), (-3, 5)),
    (b("select", word(DType.BOOL, 2), between(-2, 5), between(-3, 4)), (-3, 5)),
    (b("floor", between(-2.5, 2.5)), (-3, 3)), (b("round", between(-2.5, 2.25)), (-3, 3)),
    (b("floor", between(-2, 2)), (-2, 2)), (b("floor", word()), ANY),
    (b("floor", b("minimum", word(), known(1.5, 1.5, 1.5))), (-INF, 2)),
    (b("round", b("maximum", word(), known(1.5, 1.5, 1.5))), (1, INF)),
    (b("and", word(I32), known(7, 3, 1, dtype=I32)), (0, 7)),
    (b("and", known(7, 3, 1, dtype=I32), word(I32)), (0, 7)),
    (b("and", between(0, 5, I32), between(2, 9, I32)), (0, 5)),
    (b("and", between(-1, 5, I32), between(2, 9, I32)), (0, 9)),
    (b("and", between(-1, 5, I32), word(I32, 2)), ANY),
    (b("add", between(0, 1), between(0, 1)), ANY)])
def test_bounds(value, wanted):
    assert bounds(value) == wanted


@pytest.mark.parametrize(("x", "dtype", "wanted"), [
    (between(0, 1), DType.BF16, ANY), (between(0, 1, I32), F32, ANY),
    (word(DType.I8), I32, (-128, 127)), (word(DType.U8), I32, (0, 255)),
    (word(DType.I16), I32, (-32768, 32767)), (word(DType.U16), I32, (0, 65535)),
    (word(DType.U8), DType.I16, (0, 255)),
    (between(-3, 300, DType.I16), I32, (-3, 300)), (between(3, 30, DType.U8), I32, (3, 30)),
    (between(2, 5), I32, (0, 5)), (between(-5, -2), I32, (-5, 0)), (between(-5, 2), I32, (-5, 2)),
    (between(2, 5), DType.U8, (0, 5)), (word(), I32, ANY),
    (between(3, 9, DType.U32), I32, ANY), (between(3, 9, I32), DType.U32, ANY),
    (between(3, 9, I32), DType.I8, ANY)])
def test_bounds_of_conversions(x, dtype, wanted):
    assert bounds(op("convert", x, dtype=dtype)) == wanted


def test_of_a_barrier_each_result_is_its_operand():
    first, second = ops("barrier", known(1, 2), known(3, 4))
    assert (bounds(first), bounds(second)) == ((1, 2), (3, 4))


def test_bounds_are_looked_for_in_24_operations():
    value, found = known(1, 2), []
    for _ in range(26):
        found.append(bounds(value))
        value = b.reshape(value, *((1, 2) if value.shape == (2,) else (2,)))
    assert found == [(1, 2)] * 25 + [ANY]
