"""What functions are exactly: in long double or float64, better than float32 can show.

Arguments are arrays of float64. Zeros, infinities and NaN are those of IEEE 754 and C, and of a
composed function those of its formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["digamma", "each", "erf", "erf_inv", "erfc", "gelu", "gelu_tanh", "greater", "lesser",
           "lgamma", "log_sigmoid", "logistic", "power", "sign", "silu", "softplus", "wide"]

F64 = NDArray[np.float64]
_ROOT_2 = math.sqrt(2)
#: log(gamma(x)) is (x - 1/2) log(x) - x + log(2 pi) / 2 and these times 1/x, 1/x**3, ...
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
#: The series is exact enough from here on.
_LARGE = 24.0


def wide(function: Callable[..., Any]) -> Callable[..., NDArray]:
    """Compute with more than float64 where the machine can."""
    return lambda *arrays: np.asarray(
        function(*(array.astype(np.longdouble) for array in arrays)))


def each(function: Callable[[float], float]) -> Callable[[F64], F64]:
    """Compute number by number."""
    return lambda x: np.array([function(value) for value in x.tolist()], np.float64)


erf, erfc = each(math.erf), each(math.erfc)


def sign(x: F64) -> F64:
    """-1 or 1; a zero and a NaN themselves."""
    return np.where(x == 0, x, np.sign(x))


def greater(a: F64, b: F64) -> F64:
    """The greater, +0 above -0."""
    return np.where(a == b, np.where(np.signbit(a), b, a), np.maximum(a, b))


def lesser(a: F64, b: F64) -> F64:
    """The lesser, -0 below +0."""
    return -greater(-a, -b)


def power(exponent: float) -> Callable[..., NDArray]:
    """Return x to a constant that is a float32."""
    return wide(lambda x: np.power(x, np.longdouble(np.float32(exponent))))


def logistic(x: F64) -> F64:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def silu(x: F64) -> F64:
    """x * logistic(x)."""  # noqa: D403 (a formula)
    return x * logistic(x)


def softplus(x: F64) -> F64:
    """log(1 + exp(x))."""  # noqa: D403 (a formula)
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def log_sigmoid(x: F64) -> F64:
    """log(logistic(x))."""  # noqa: D403 (a formula)
    return -softplus(-x)


def gelu(x: F64) -> F64:
    """x times the share of the normal distribution below x."""  # noqa: D403 (a formula)
    return 0.5 * x * erfc(-x / _ROOT_2)


def gelu_tanh(x: F64) -> F64:
    """x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2."""  # noqa: D403 (a formula)
    return x * logistic(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


def _erf_inv(y: float) -> float:
    size = abs(y)
    if not size <= 1:
        return math.nan
    if size in (0, 1):
        return y and math.copysign(math.inf, y)
    if size < 1e-4:
        return math.sqrt(math.pi) / 2 * (y + math.pi / 12 * y**3)
    # Winitzki's, then Newton's method on erf, or on the logarithm of erfc where that is small.
    log = math.log1p(-size * size)
    first = 2 / (math.pi * 0.147) + log / 2
    x = math.sqrt(math.sqrt(first * first - log / 0.147) - first)
    for _ in range(5):
        slope = 2 / math.sqrt(math.pi) * math.exp(-x * x)
        if size < 0.5:
            x -= (math.erf(x) - size) / slope
        else:
            rest = math.erfc(x)
            x += rest * (math.log(rest) - math.log1p(-size)) / slope
    return math.copysign(x, y)


erf_inv = each(_erf_inv)


def _lgamma(x: float) -> float:
    pole = math.isinf(x) or (x <= 0 and x.is_integer())
    return math.inf if pole else math.lgamma(x)


#: Of log(abs(gamma(x))); about its roots below 0 as good as the C library.
lgamma = each(_lgamma)


def _digamma(x: float) -> float:
    if x == 0:
        return -math.copysign(math.inf, x)
    if x < 0:
        if math.isinf(x) or x.is_integer():
            return math.nan
        return _digamma(1 - x) - math.pi / math.tan(math.pi * math.fmod(x, 1.0))
    total = 0.0
    while x < _LARGE:
        total -= 1 / x
        x += 1
    if not math.isfinite(x):
        return x
    series = sum((2 * i + 1) * c * (1 / x)**(2 * i + 2) for i, c in enumerate(_STIRLING))
    return total + math.log(x) - 0.5 / x - series


#: Of the slope of log(gamma(x)).
digamma = each(_digamma)
