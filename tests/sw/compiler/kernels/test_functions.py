"""Errors against float64, and what becomes of zeros, infinities and NaN."""

import math

import numpy as np
import pytest
from pages.accuracy import kernels as sweeps
from pages.accuracy.trace import kernel

from celosia.compiler.kernels import functions

CASES = (*sweeps.HARDWARE, *sweeps.LIBRARY)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 3e38, -3e38, 2.0**-126,
                    -(2.0**-126), 1e-20, -1e-20, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 100.0, -100.0,
                    1e10, -1e10, 16777217.0, 0.99999994, 1.0000001, 2.5, -2.5], np.float32)
EXACT = {
    "div": np.divide, "sqrt": np.sqrt, "exp": np.exp, "expm1": np.expm1, "log": np.log,
    "log1p": np.log1p, "tanh": np.tanh, "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "erf": np.vectorize(math.erf), "power": np.power, "cbrt": np.cbrt, "atan2": np.arctan2}


#: Largest errors of a sample of arguments: a change of a function's numbers changes them.
WORST = {
    "hardware": {"exp2": 0.83566, "log2": 0.553612, "recip": 0.823271, "div": 0.725225,
                 "rsqrt": 1.27374, "sqrt": 0.928888},
    "library": {"div": 0.819359, "sqrt": 0.928888, "cbrt": 0.855186, "atan2": 1.88502,
                "exp": 1.1044, "expm1": 1.91521, "log": 1.21105, "log1p": 1.23339,
                "tanh": 2.97042, "logistic": 2.44808, "erf": 2.09947, "erfc": 2.93703,
                "sin": 1.84631, "cos": 2.36427, "power": 1.71992}}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_errors_stay_below_their_bounds(case):
    worst = sweeps.measure(case, 1 << 13, seed=1)
    group = "hardware" if case in sweeps.HARDWARE else "library"
    assert worst.error <= case.bound
    assert worst.error == pytest.approx(WORST[group][case.name], rel=1e-4), worst


@pytest.mark.parametrize(("bits", "exact", "error"), [
    (0x3F800001, 1.0, 1.0), (0x3F7FFFFF, 1.0, 0.5), (0x3F800000, 1 + 2.0**-24, 0.5),
    (0x00800000, 2.0**-127, 0.0), (0x7F800000, 1.0, np.inf), (0x7FC00000, 2.0, np.inf),
    (0x7F800000, 2.0**128, 0.0), (0x00000000, 2.0**-126, 2.0**23)])
def test_errors_are_in_units_of_the_last_place(bits, exact, error):
    assert sweeps.errors(np.array([bits], np.uint32), np.array([exact])) == error


def test_every_number_is_in_a_sample_of_all():
    sample = sweeps.every(-1.0, 1.0)(np.random.default_rng(0), 9)
    assert sample[0] == -1
    assert sample[-1] == np.nextafter(np.float32(1), np.float32(0))
    assert (np.diff(sample) > 0).all()
    assert len(sweeps.every(1.0, 2.0)(np.random.default_rng(0), sweeps.POINTS)) == 1 << 23


@pytest.mark.parametrize("name", list(EXACT))
def test_specials_are_those_of_numpy(name):
    case = next(case for case in sweeps.LIBRARY if case.name == name)
    grids = np.meshgrid(*[SPECIAL] * len(case.kernel.inputs))
    arrays = [grid.reshape(1, -1) for grid in grids]
    found = case.kernel.evaluate(*arrays).view(np.float32)
    with np.errstate(all="ignore"):
        exact = np.asarray(EXACT[name](*(array.astype(np.float64) for array in arrays)))
        wanted = exact.astype(np.float32)
    wanted = np.where(np.abs(wanted) < 2.0**-126, np.copysign(np.float32(0), wanted), wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    real = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[real], np.signbit(wanted)[real])


@pytest.mark.parametrize("function", [functions.sin, functions.cos])
def test_sine_and_cosine_of_no_angle(function):
    x = np.array([[0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, -1e9]], np.float32)
    found = kernel("f", function).evaluate(x).view(np.float32)[0]
    if function is functions.sin:
        assert found[:2].tolist() == [0, 0]
        assert np.signbit(found[:2]).tolist() == [False, True]
    else:
        assert found[:2].tolist() == [1, 1]
    assert np.isnan(found[2:5]).all()
    assert (np.abs(found[5:]) <= 1).all()


def test_angles_next_to_multiples_of_pi_keep_their_digits():
    k = np.arange(1, 3184)
    near = (k * np.pi).astype(np.float32)
    near = near[near <= 1e4][np.newaxis]
    found = kernel("sin", functions.sin).evaluate(near)
    exact = np.sin(near.astype(np.longdouble)).astype(np.float64)
    assert sweeps.errors(found, exact).max() <= 4


def test_subnormal_arguments_are_zeros():
    x = np.array([[1e-40, -1e-40]], np.float32)
    log = kernel("log", functions.log).evaluate(x).view(np.float32)
    assert log.tolist() == [[-np.inf, -np.inf]]
    one = np.ones((1, 2), np.float32)
    div = kernel("div", functions.div, ("n", "d")).evaluate(one, x)
    assert div.view(np.float32).tolist() == [[np.inf, -np.inf]]


def test_exponentials_at_the_ends_of_their_range():
    x = np.concatenate([np.linspace(-87.34, -87.33, 999), np.linspace(88.7, 88.73, 999)])
    x = x.astype(np.float32)[np.newaxis]
    for name, exact in (("exp", np.exp), ("expm1", np.expm1)):
        found = kernel(name, getattr(functions, name)).evaluate(x)
        assert sweeps.errors(found, exact(x.astype(np.float64))).max() <= 4
        assert np.isinf(found.view(np.float32)).any()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_errors_stay_below_their_bounds_of_many_arguments(case):
    assert sweeps.measure(case, seed=2).error <= case.bound
