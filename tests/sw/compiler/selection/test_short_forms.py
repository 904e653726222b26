"""The short forms of functions, instruction by instruction."""

import math
from types import SimpleNamespace

import pytest

from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import Extent, clamp, recording, step
from celosia.compiler.selection.exact import exact
from celosia.compiler.selection.fast import SHORT_FORMS, is_normal, to_bf16, whole_power
from celosia.compiler.selection.notation import (
    both,
    div,
    exp2,
    fma,
    log2,
    recip,
    rsqrt,
    sqrt,
    square,
)
from celosia.compiler.selection.pool import Pool

INF = math.inf
LOG2_E, LN_2 = 1.4426950408889634, 0.6931471805599453


@pytest.fixture
def k():
    pool = Pool()
    known = SimpleNamespace(pool=pool, x=pool.read("x", Extent.FULL), y=pool.read("y", Extent.FULL),
                            s=pool.read("s", Extent.LANES), r=pool.read("r", Extent.ROWS))
    with recording(pool):
        yield known


def made(k, name, *args):
    args = [k.pool.fp32(each) if isinstance(each, float) else each for each in args]
    return SHORT_FORMS[name](k.pool, None, args)


@pytest.mark.parametrize(("number", "normal"), [
    (1.0, True), (-1.0, True), (2.0**-126, True), (-(2.0**-126), True), (2.0**-127, False),
    (0.0, False), (2.0**127, True), (2.0**128, False), (-(2.0**128), False), (INF, False),
    (math.nan, False)])
def test_numbers_that_are_normal(number, normal):
    assert is_normal(number) == normal


def test_quotients(k):
    assert made(k, "divide", k.x, 4.0) is k.x * 0.25
    assert made(k, "divide", k.x, 3.0) is k.x * (1 / 3)
    assert made(k, "divide", k.x, 2.0**126) is k.x * 2.0**-126
    assert made(k, "divide", k.x, 2.0**127) is k.x * recip(k.pool.fp32(2.0**127))
    assert made(k, "divide", k.x, 0.0) is k.x * recip(k.pool.fp32(0.0))
    assert made(k, "divide", k.x, k.y) is div(k.x, k.y)
    for less in (k.s, k.r):
        assert made(k, "divide", k.x, less) is k.x * recip(less)
        assert made(k, "divide", less, k.x) is div(less, k.x)


def test_functions_of_one_stage_more(k):
    x = k.x
    assert made(k, "sqrt", x) is sqrt(x)
    assert made(k, "exp", x) is exp2(x * LOG2_E)
    assert made(k, "expm1", x) is exp2(x * LOG2_E) + -1.0
    assert made(k, "log", x) is log2(x) * LN_2
    assert made(k, "log1p", x) is log2(x + 1.0) * LN_2
    assert made(k, "tanh", x) is fma(recip(exp2(x * (2 * LOG2_E)) + 1.0), -2.0, 1.0)


def polynomial(x, number=1.0):
    """The exponent of the error function of a multiple of x, less the factor x."""
    found = None
    for coefficient in (4.5866145138585435e-07, -1.727103955626564e-05, 0.0002588557379386715,
                        -0.0018054448822760645, -0.0005320190477826219, 0.29651850101087224,
                        3.255815610634145):
        scaled = coefficient * number
        found = scaled if found is None else fma(square(x), found, scaled)
    return found


def test_error_functions(k):
    def erf(power):
        return fma(recip(exp2(power) + 1.0), -2.0, 1.0)

    x, y = k.x, k.x * k.y
    assert made(k, "erf", x) is erf(x * polynomial(x))
    assert made(k, "erfc", x) is 1.0 - erf(x * polynomial(x))
    assert made(k, "erf", y) is erf(y * polynomial(y))
    whole = square(x * 0.75)
    value = k.pool.fp32(4.5866145138585435e-07 * 0.75)
    for coefficient in (-1.727103955626564e-05, 0.0002588557379386715, -0.0018054448822760645,
                        -0.0005320190477826219, 0.29651850101087224, 3.255815610634145):
        value = fma(whole, value, coefficient * 0.75)
    assert made(k, "erf", x * 0.75) is erf(x * value)
    infinite = x * INF
    assert made(k, "erf", infinite) is erf(infinite * polynomial(infinite))


def test_rounding_to_bf16(k):
    power = step(Op.MOV, both(k.x, 0x7F800000), **clamp(0.0, 2.0**110))
    assert to_bf16(k.x) is fma(power, -98304.0, fma(power, 98304.0, k.x))


def test_whole_powers(k):
    x = k.x
    two, four = square(x), square(square(x))
    wanted = {1: x, 2: two, 3: two * x, 4: four, 5: four * x, 6: four * two,
              7: four * (two * x), 8: square(four)}
    assert {each: whole_power(x, each) for each in wanted} == wanted
    with pytest.raises(AssertionError):
        whole_power(x, 0)


def test_fixed_powers(k):
    x = k.x
    for size in range(1, 9):
        product = whole_power(x, size)
        assert made(k, "power", x, float(size)) is product
        assert made(k, "power", x, float(-size)) is recip(product)
        if size < 8:
            assert made(k, "power", x, size + 0.5) is product * sqrt(x)
            assert made(k, "power", x, -size - 0.5) is recip(product) * rsqrt(x)
    assert made(k, "power", x, 0.5) is sqrt(x)
    assert made(k, "power", x, -0.5) is rsqrt(x)


def test_other_powers(k):
    for exponent in (0.0, 8.5, 9.0, -9.0, 1.25, INF):
        assert made(k, "power", k.x, exponent) is exact(
            k.pool, "power", k.x, k.pool.fp32(exponent))
    assert made(k, "power", k.x, k.y) is exact(k.pool, "power", k.x, k.y)
    for base, log in ((2.0, 1.0), (8.0, 3.0), (0.25, -2.0), (10.0, math.log2(10))):
        assert made(k, "power", base, k.y) is exp2(k.y * log)
    for base in (0.0, -2.0, INF, 2.0**-127):
        number = k.pool.fp32(base)
        assert made(k, "power", base, k.y) is exact(k.pool, "power", number, k.y)
