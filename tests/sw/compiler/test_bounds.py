"""Which elements are plain to see in a range: the smallest that holds them, and none smaller."""

import pytest

from celosia.compiler.builder import Builder
from celosia.compiler.passes.bounds import within
from celosia.graph import DType, Source, TensorType, parameter

b = Builder(Source.UNKNOWN)


def word(*shape):
    return parameter(TensorType(DType.I32, shape))


def between(low, high):
    x = word(3)
    return b("clamp", b.full(low, x.type), x, b.full(high, x.type))


def chosen(x, y):
    return b("select", b.compare("lt", word(3), word(3)), x, y)


@pytest.mark.parametrize(("value", "extent"), [
    (between(0, 9), 10), (b.constant([4, 0, 2], DType.I32), 5),
    (b("iota", dtype=DType.I32, shape=(4, 7), dim=1), 7),
    (b("and", word(3), b.full(7, word(3).type)), 8), (b("and", between(0, 5), between(-1, 9)), 6),
    (chosen(between(0, 3), between(2, 5)), 6), (b("maximum", between(0, 3), between(2, 9)), 10),
    (b("minimum", between(0, 3), between(2, 9)), 4), (b("add", between(1, 3), between(-1, 4)), 8),
    (b("multiply", between(1, 3), between(2, 4)), 13),
    (b("multiply", between(-3, -1), between(-4, 0)), 13),
    (b.reshape(between(0, 9), 1, 3), 10),
    (b("add", between(0, 1 << 30), between(0, (1 << 30) - 1)), 1 << 31),
])
def test_the_smallest_range(value, extent):
    assert within(value, extent)
    assert not within(value, extent - 1)


@pytest.mark.parametrize("value", [
    word(3), between(-1, 9), b("and", word(3), between(-1, 9)), chosen(between(0, 3), word(3)),
    b("multiply", between(-2, 3), between(-3, 2)), b("subtract", between(5, 5), between(1, 1)),
    b("add", between(0, 1 << 30), between(0, 1 << 30)),  # may be 2**31, which is no word
])
def test_what_may_be_any_number(value):
    assert not within(value, 1 << 40)


def test_there_may_be_no_element():
    assert within(word(2, 0), 1)
