"""What counts as an error, and that one is found."""

import dataclasses
import math

import numpy as np
import pytest
from pages.accuracy import GRAPH, JAX, errors, exact, measure

from celosia.graph.operations.elementwise import FLOAT_BINARY, FLOAT_UNARY

MAX = float(np.finfo(np.float32).max)
LEAST = 2.0**-126
ULP, SMALL, GREAT = 2.0**-23, 2.0**-149, 2.0**104


@pytest.mark.parametrize(("found", "wanted", "error"), [
    (1 + ULP, 1, 1), (1 - ULP / 2, 1, 0.5), (1, 1 - ULP, 2), (-3, 3, 6 / (2 * ULP)),
    # Beyond the range: infinite, and as wrong as what is next to it.
    (math.inf, 1e39, 0), (MAX, 1e39, 1), (math.inf, MAX, 1), (math.inf, MAX - 3 * GREAT, 4),
    (-math.inf, 1e39, math.inf), (-1, 1e39, (2.0**128 + 1) / GREAT),
    (math.inf, 2.0**128 - GREAT / 2, 0),
    # Below the range: zero.
    (0, 1e-39, 0), (-0.0, 1e-39, math.inf), (0, -1e-39, math.inf), (LEAST, 1e-39, 0),
    (0, LEAST + 3 * SMALL, 3), (LEAST + 2 * SMALL, 1e-40, 2), (-LEAST, 1e-39, math.inf),
    (1, 1e-39, (1 - LEAST) / SMALL), (0, 1, (1 - LEAST) / ULP),
    # Zeros, infinities and NaN.
    (0, 0, 0), (-0.0, -0.0, 0), (-0.0, 0, math.inf), (0, -0.0, math.inf),
    (math.nan, math.nan, 0), (math.nan, 1, math.inf), (1, math.nan, math.inf),
    (math.nan, math.inf, math.inf), (math.inf, math.inf, 0), (-math.inf, math.inf, math.inf),
    (MAX, math.inf, math.inf), (math.inf, math.nan, math.inf), (0, math.nan, math.inf)])
def test_errors(found, wanted, error):
    result = errors(np.array([found], np.float32), np.array([wanted], np.float64))
    assert result == pytest.approx(error, rel=1e-6)


def test_errors_in_ulp_of_another_number_and_of_few_bits():
    found, wanted = np.array([0.25, 0, -0.0], np.float32), np.array([0.25 + ULP, ULP, -ULP / 8])
    assert errors(found, wanted, np.array([1.0, 2.0, 1.0])).tolist() == [1, 0.5, 0.125]
    assert errors(np.array([1.0], np.float32), np.array([1 + 2.0**-8]), bits=8) == 0.5


def test_a_worse_function_is_found():
    case = next(case for case in GRAPH if case.name == "sqrt")
    good = measure(case, 256)
    assert good.error <= case.bound
    assert good.beyond == 0
    worse = dataclasses.replace(case, exact=lambda x: case.exact(x) * (1 + 2.0**-20))
    found = measure(worse, 256)
    assert 8 < found.error < 18
    assert found.beyond > 0.2
    assert found.wrong is None
    assert found.worst.result == pytest.approx(math.sqrt(found.worst.arguments[0]), rel=1e-6)
    unsigned = dataclasses.replace(case, exact=lambda x: case.exact(np.abs(x)))
    signed = measure(unsigned, 256)
    assert signed.error == math.inf
    assert signed.wrong is not None
    assert str(signed.wrong.arguments) == "(-0.0,)"
    assert signed.worst.error <= case.bound
    positive = dataclasses.replace(unsigned, within=lambda x: x > 0)
    assert measure(positive, 256).error <= case.bound


def test_every_function_of_floats_is_measured():
    names = [case.name for case in (*GRAPH, *JAX)]
    assert len(names) == len(set(names))
    assert set(FLOAT_UNARY) | set(FLOAT_BINARY) <= set(names)


@pytest.mark.parametrize(("function", "x", "value"), [
    (exact.digamma, 1.0, -0.5772156649015329), (exact.digamma, -0.5, 0.03648997397857652),
    (exact.digamma, 0.0, -math.inf), (exact.digamma, -math.inf, math.nan),
    (exact.digamma, -2.0, math.nan), (exact.digamma, math.inf, math.inf),
    (exact.lgamma, 0.5, math.log(math.pi) / 2), (exact.lgamma, -3.0, math.inf),
    (exact.lgamma, -math.inf, math.inf), (exact.erf_inv, math.erf(0.3), 0.3),
    (exact.erf_inv, -math.erf(2.5), -2.5), (exact.erf_inv, math.erf(2e-5), 2e-5),
    (exact.erf_inv, 1.0, math.inf), (exact.erf_inv, 1.5, math.nan),
    (exact.gelu, -10.0, -7.61985302416052e-23), (exact.gelu_tanh, 1.0, 0.8411919906082768),
    (exact.softplus, -800.0, 0.0), (exact.softplus, 1000.0, 1000.0),
    (exact.log_sigmoid, 40.0, -4.248354255291589e-18), (exact.silu, -1.0, -0.2689414213699951)])
def test_what_is_exact(function, x, value):
    with np.errstate(all="ignore"):
        assert function(np.array([x])) == pytest.approx(value, rel=1e-14, nan_ok=True)
