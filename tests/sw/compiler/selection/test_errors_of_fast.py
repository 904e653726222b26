"""How far off `fast` is: what the table of the package says, measured."""

import math

import numpy as np
import pytest
from clusters import FAST, run
from test_fast import Maker, logistic

from celosia.graph import DType, Graph, TensorType, op, parameter

COUNT = 1 << 15
SPACE = (COUNT // 64, 64)


def values(low, high, seed=0):
    return np.random.default_rng(seed).uniform(low, high, SPACE).astype(np.float32)


def binades(low, high, seed=0):
    rng = np.random.default_rng(seed)
    return np.ldexp(rng.uniform(1, 2, SPACE), rng.integers(low, high, SPACE)).astype(np.float32)


def made(name, *inputs):
    b = Maker(SPACE)
    xs = [b.read() for _ in inputs]
    y = logistic(b, xs[0]) if name == "logistic" else op(name, *xs)
    _, [got], _ = run(b.graph(y), list(inputs), SPACE, options=FAST)
    return got


def ulps(got, want):
    with np.errstate(over="ignore"):
        spacing = np.spacing(np.abs(want).astype(np.float32)).astype(np.float64)
    return (np.abs(got.astype(np.float64) - want) / spacing).max()


def test_divide():
    n, d = binades(-50, 50), binades(-50, 50, 1)
    assert ulps(made("divide", n, d), n.astype(np.float64) / d) <= 2


def test_sqrt():
    x = binades(-120, 120)
    assert ulps(made("sqrt", x), np.sqrt(x.astype(np.float64))) <= 3
    special = np.full(SPACE, 1, np.float32)
    special[0, :5] = [0.0, -0.0, np.inf, np.nan, -1.0]
    got = made("sqrt", special)[0, :5]
    np.testing.assert_array_equal(got, np.float32([0.0, -0.0, np.inf, np.nan, np.nan]))
    np.testing.assert_array_equal(np.signbit(got[:2]), [False, True])


@pytest.mark.parametrize(("name", "function", "bound"), [
    ("cbrt", np.cbrt, 1.5), ("atan2", np.arctan2, 4)])
def test_cube_roots_and_angles(name, function, bound):
    count = 2 if name == "atan2" else 1
    for low, high in ((-126, 128), (-3, 4)):
        inputs = [binades(low, high, seed) for seed in range(count)]
        want = function(*(each.astype(np.float64) for each in inputs))
        want = np.where(np.abs(want) < 2.0**-126, 0.0, want)
        assert ulps(made(name, *inputs), want) <= bound
    edges = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2e37])
    special = [each.ravel() for each in np.meshgrid(*[edges] * count)]
    inputs = [np.resize(each, SPACE) for each in special]
    with np.errstate(invalid="ignore"):
        want = function(*special)
    got = made(name, *inputs).ravel()[:want.size]
    np.testing.assert_allclose(got, want, rtol=4e-7)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


@pytest.mark.parametrize("reach", [1, 10, 87])
def test_exp(reach):
    x = values(-reach, reach)
    wide = x.astype(np.float64)
    error = np.abs(made("exp", x) / np.exp(wide) - 1)
    assert (error <= 2.0**-24 * (2 + 1.5 * np.abs(wide))).all()


def test_log():
    for x in (binades(-100, 100), values(0.5, 2)):
        assert ulps(made("log", x), np.log(x.astype(np.float64))) <= 2


@pytest.mark.parametrize(("name", "function", "low", "high", "bound"), [
    ("expm1", np.expm1, -10, 3, 2.0**-21), ("log1p", np.log1p, -0.9, 10, 2.0**-21),
    ("tanh", np.tanh, -10, 10, 2.0**-21), ("erf", np.vectorize(math.erf), -6, 6, 2.0**-21),
    ("logistic", lambda x: 1 / (1 + np.exp(-x)), -80, 80, 2.0**-22)])
def test_absolute(name, function, low, high, bound):
    for reach in (1, 0.01):
        x = values(low * reach, high * reach)
        want = function(x.astype(np.float64))
        assert (np.abs(made(name, x) - want) <= bound * (1 + np.abs(want))).all()


@pytest.mark.parametrize("name", ["tanh", "erf"])
def test_infinities(name):
    x = np.full(SPACE, 0, np.float32)
    x[0, :3] = [np.inf, -np.inf, np.nan]
    np.testing.assert_array_equal(made(name, x)[0, :4], np.float32([1, -1, np.nan, 0]))


@pytest.mark.parametrize("exponent", [0.5, -0.5, 1.0, -1.0, 2.0, 3.0, -2.0, 1.5, 5.0])
def test_powers(exponent):
    b = Maker(SPACE)
    graph = b.graph(b("power", b.read(), exponent))
    x = binades(-8, 8)
    code, [got], _ = run(graph, [x], SPACE, options=FAST)
    assert ulps(got, x.astype(np.float64)**exponent) <= 6
    assert len(code.steps) <= 5


def test_powers_of_a_constant():
    b = Maker(SPACE)
    graph = b.graph(b("power", 0.999, b.read()))
    x = values(0, 2000).round()
    _, [got], _ = run(graph, [x], SPACE, options=FAST)
    np.testing.assert_allclose(got, float(np.float32(0.999))**x.astype(np.float64), 1e-6)


def test_rounding_to_bf16():
    x = parameter(TensorType(DType.F32, SPACE), "x")
    y = op("convert", op("convert", x, dtype=DType.BF16), dtype=DType.F32)
    bits = np.random.default_rng(0).integers(0, 1 << 32, SPACE, dtype=np.uint32)
    bits.reshape(-1)[:COUNT // 2] = bits.reshape(-1)[:COUNT // 2] & 0xFFFF8000  # ties
    value = bits.view(np.float32)
    value = np.where(np.abs(value) < 2.0**111, value, np.float32(np.inf))
    value = np.where(np.abs(value) < 2.0**-126, np.float32(0), value)
    value[0, :3] = [np.inf, -np.inf, np.nan]
    code, [got], [want] = run(Graph("g", [x], [y]), [value], SPACE, options=FAST)
    np.testing.assert_array_equal(got, want)
    assert len(code.steps) == 3
