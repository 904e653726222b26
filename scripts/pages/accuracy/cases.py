"""The functions that programs have, how exact they are stated to be, and where that is measured.

Those of graphs are operations of `celosia.graph.operations.elementwise`; those of JAX are what it
makes its functions of. Where its formula is the limit, the bound is that of the formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.graph import DType, Value, op
from celosia.graph.build import splat
from pages.accuracy import exact
from pages.accuracy.samples import Arguments, column, pairs, row, scalar, unary

__all__ = ["CASES", "GRAPH", "JAX", "Case"]

_TRIG = 1e4
_LEAST = 2.0**-126


@dataclass(frozen=True)
class Case:
    """A function of a program.

    Attributes
    ----------
    name
        As a reader would write it.
    make
        Makes it of values of a graph; where ``jax``, of the module jax and arrays.
    exact
        The same of float64 arguments.
    bound
        ULP that the error is stated not to exceed.
    arguments
        What it is measured with.
    within
        Where the bound is stated, by arguments; None: everywhere.
    size
        Numbers, by arguments, whose ULP are meant where they are greater than the result.
    notes
        Of ``within``, ``size`` and the bound, for docs/numerics.md.
    jax
        Whether it is a function of JAX.
    bits
        Of the significands of results.
    """

    name: str
    make: Callable[..., Any]
    exact: Callable[..., NDArray[Any]]
    bound: float
    arguments: Arguments
    within: Callable[..., NDArray[Any]] | None = None
    size: Callable[..., NDArray[Any]] | None = None
    notes: str = ""
    jax: bool = False
    bits: int = 24


def _unary(name: str, made: Callable[..., NDArray[Any]], *ranges: tuple[float, float],
           bound: float = 4, **more: Any) -> Case:
    return Case(name, lambda x: op(name, x), made, bound, unary(*ranges), **more)


def _binary(name: str, made: Callable[..., NDArray[Any]], bound: float) -> Case:
    return Case(name, lambda a, b: op(name, a, b), made, bound, pairs((-4, 4)))


def _constant(name: str, number: float, code: str, made: Callable[..., NDArray[Any]],
              bound: float, first: bool = False) -> Case:
    """An operation on x and a constant."""
    def make(x: Value) -> Value:
        other = splat(np.float32(number), x.type)
        return op(code, other, x) if first else op(code, x, other)
    return Case(name, make, made, bound, unary((-4, 4)))


def _over(divisor: float) -> Case:
    return _constant(f"divide(x, {divisor:g})", divisor, "divide", exact.wide(
        lambda x: x / np.longdouble(np.float32(divisor))), 1)


def _inverse(number: float) -> Case:
    return _constant(f"divide({number:g}, x)", number, "divide", exact.wide(
        lambda x: np.longdouble(np.float32(number)) / x), 1, first=True)


def _raised(exponent: float, bound: float = 8) -> Case:
    return _constant(f"power(x, {exponent:g})", exponent, "power", exact.power(exponent), bound)


def _jax(name: str, make: Callable[..., Any], made: Callable[..., NDArray[Any]],
         *ranges: tuple[float, float], bound: float = 4, **more: Any) -> Case:
    return Case(name, make, made, bound, more.pop("arguments", None) or unary(*ranges), jax=True,
                **more)


_w = exact.wide
_ALL, _EXP, _UNIT = (-4, 4), (-104, 89.5), (-1, 1)
_ANGLES = {"within": lambda x: ~(np.abs(x) > _TRIG) | ~np.isfinite(x), "notes": "abs(x) <= 1e4"}
_OF_LARGER = "ULP of the greatest of the result and both arguments, whose signs may differ"


def _larger(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return np.fmax(np.abs(a), np.abs(b))


GRAPH = (
    _unary("exp", _w(np.exp), _EXP, (-2, 2)),
    _unary("expm1", _w(np.expm1), _EXP, (-2, 2)),
    _unary("log", _w(np.log), (0.5, 2)),
    _unary("log1p", _w(np.log1p), (-1, 3), (-0.1, 0.1)),
    _unary("tanh", _w(np.tanh), (-10, 10), _UNIT),
    _unary("sqrt", _w(np.sqrt), (0, 4), bound=1),
    _unary("rsqrt", _w(lambda x: 1 / np.sqrt(x)), (0, 4)),
    _unary("cbrt", _w(np.cbrt), (-9, 9), bound=1),
    _unary("sin", _w(np.sin), (-_TRIG, _TRIG), _ALL, **_ANGLES),
    _unary("cos", _w(np.cos), (-_TRIG, _TRIG), _ALL, **_ANGLES),
    _unary("cosh", _w(np.cosh), (-91, 91), (-2, 2)),
    _unary("erf", exact.erf, _ALL, _UNIT),
    _unary("erfc", exact.erfc, (-4, 10.2), _UNIT),
    _unary("erf_inv", exact.erf_inv, _UNIT),
    *(_unary(name, made, (-10, 10), (-2.0**24, 2.0**24), bound=0)
      for name, made in (("floor", np.floor), ("ceil", np.ceil), ("round", np.rint))),
    _unary("abs", np.abs, bound=0),
    _unary("sign", exact.sign, bound=0),
    _unary("negate", np.negative, bound=0),
    _binary("add", _w(np.add), 0.5),
    _binary("subtract", _w(np.subtract), 0.5),
    _binary("multiply", _w(np.multiply), 0.5),
    _binary("divide", _w(np.divide), 1),
    _binary("remainder", np.fmod, 0),
    _binary("maximum", exact.greater, 0),
    _binary("minimum", exact.lesser, 0),
    _binary("atan2", _w(np.arctan2), 4),
    Case("logaddexp", lambda a, b: op("logaddexp", a, b), _w(np.logaddexp), 4, pairs((-4, 4)),
         size=_larger, notes=_OF_LARGER),
    _binary("power", _w(np.power), 8),
    _raised(2, 0.5), _raised(-1, 1), _raised(0.5, 1),
    *map(_raised, (3, 5, 8, -2, -3, -8, -0.5, 1.5)),
    *map(_over, (3, 7, 0.1, -3, 1e-30, 3e38)),
    *map(_inverse, (1, 3, -2, 0.1)),
    Case("convert to bf16", lambda x: op("convert", x, dtype=DType.BF16), lambda x: x, 0.5,
         unary(_ALL), bits=8),
)

_SUMMED = "ULP of the greater of 1 and the result: its formula adds numbers of that size"
JAX = (
    _jax("jnp.sinh", lambda j, x: j.numpy.sinh(x), _w(np.sinh), (-91, 91), (-2, 2), bound=32,
         notes="exp(x - log 2)"),
    _jax("jnp.cosh", lambda j, x: j.numpy.cosh(x), _w(np.cosh), (-91, 91), (-2, 2)),
    _jax("jnp.tan", lambda j, x: j.numpy.tan(x), _w(np.tan), (-_TRIG, _TRIG), _ALL,
         **_ANGLES),
    _jax("jnp.arcsinh", lambda j, x: j.numpy.arcsinh(x), _w(np.arcsinh), _ALL, (-100, 100)),
    _jax("jnp.arccosh", lambda j, x: j.numpy.arccosh(x), _w(np.arccosh), (1, 4), (1, 100)),
    _jax("jnp.arctanh", lambda j, x: j.numpy.arctanh(x), _w(np.arctanh), _UNIT, (-0.1, 0.1)),
    _jax("jnp.arcsin", lambda j, x: j.numpy.arcsin(x), _w(np.arcsin), _UNIT,
         within=lambda x: ~((np.abs(x) < 2 * _LEAST * (1 + 2.0**-20)) & (x != 0)),
         notes="abs(x) > 2**-125: x / 2 is flushed below"),
    _jax("jnp.arccos", lambda j, x: j.numpy.arccos(x), _w(np.arccos), _UNIT),
    _jax("jnp.arctan", lambda j, x: j.numpy.arctan(x), _w(np.arctan), _ALL),
    _jax("jnp.arctan2", lambda j, a, b: j.numpy.arctan2(a, b), _w(np.arctan2),
         arguments=pairs(_ALL)),
    _jax("jnp.hypot", lambda j, a, b: j.numpy.hypot(a, b), _w(np.hypot), arguments=pairs(_ALL)),
    _jax("jnp.cbrt", lambda j, x: j.numpy.cbrt(x), _w(np.cbrt), (-9, 9), bound=1),
    _jax("jnp.exp2", lambda j, x: j.numpy.exp2(x), _w(np.exp2), (-151, 129), (-2, 2), bound=80,
         notes="exp(x * log 2)"),
    _jax("jnp.log2", lambda j, x: j.numpy.log2(x), _w(np.log2), (0.5, 2)),
    _jax("jnp.log10", lambda j, x: j.numpy.log10(x), _w(np.log10), (0.5, 2)),
    _jax("jnp.logaddexp", lambda j, a, b: j.numpy.logaddexp(a, b), _w(np.logaddexp),
         arguments=pairs(_ALL), size=_larger, notes=_OF_LARGER),
    _jax("jax.nn.softplus", lambda j, x: j.nn.softplus(x), exact.softplus, (-104, 20), (-2, 2)),
    _jax("jax.nn.sigmoid", lambda j, x: j.nn.sigmoid(x), exact.logistic, (-104, 20), (-2, 2)),
    _jax("jax.nn.silu", lambda j, x: j.nn.silu(x), exact.silu, (-104, 20), (-2, 2),
         within=lambda x: ~((x < -87.3) & (x > -92) | (x == -np.inf)),
         notes="but -92 < x < -87.3, where the sigmoid is flushed, and -inf (NaN)"),
    _jax("jax.nn.log_sigmoid", lambda j, x: j.nn.log_sigmoid(x), exact.log_sigmoid, (-20, 104),
         (-2, 2)),
    _jax("jax.nn.gelu", lambda j, x: j.nn.gelu(x), exact.gelu_tanh, (-15, 10), (-2, 2),
         size=np.abs, within=lambda x: x != -np.inf,
         notes="ULP of x, to which 1 + tanh is multiplied; -inf gives NaN"),
    _jax("jax.nn.gelu, exact", lambda j, x: j.nn.gelu(x, approximate=False), exact.gelu,
         (-15, 10), (-2, 2), bound=256, within=lambda x: ~((x < -12.9) & (x > -13.2)
                                                           | (x == -np.inf)),
         notes="erfc of a rounded number; but -13.2 < x < -12.9, where it is flushed, and -inf "
               "(NaN)"),
    _jax("lax.erf", lambda j, x: j.lax.erf(x), exact.erf, _ALL, _UNIT),
    _jax("lax.erfc", lambda j, x: j.lax.erfc(x), exact.erfc, (-4, 10.2)),
    _jax("lax.erf_inv", lambda j, x: j.lax.erf_inv(x), exact.erf_inv, _UNIT),
    _jax("lax.lgamma", lambda j, x: j.lax.lgamma(x), exact.lgamma, (0, 10), (0, 100), bound=40,
         size=np.ones_like, within=lambda x: ~(x < 0), notes=f"x >= 0; {_SUMMED}"),
    _jax("lax.digamma", lambda j, x: j.lax.digamma(x), exact.digamma, (0, 10), (0, 100), bound=16,
         size=np.ones_like, within=lambda x: x > 0, notes=f"x > 0; {_SUMMED}"),
    _jax("jnp.sqrt", lambda j, x: j.numpy.sqrt(x), _w(np.sqrt), (0, 4), bound=1),
    _jax("lax.rsqrt", lambda j, x: j.lax.rsqrt(x), _w(lambda x: 1 / np.sqrt(x)), (0, 4)),
    _jax("jnp.reciprocal", lambda j, x: j.numpy.reciprocal(x), _w(lambda x: 1 / x), _ALL, bound=1),
    _jax("jnp.power", lambda j, a, b: j.numpy.power(a, b), _w(np.power), arguments=pairs(_ALL),
         bound=8),
    _jax("x**2", lambda j, x: x**2, exact.power(2), _ALL, bound=0.5),
    _jax("x**3", lambda j, x: x**3, exact.power(3), _ALL),
    _jax("x**7", lambda j, x: x**7, exact.power(7), _ALL, bound=8),
    _jax("x**-1", lambda j, x: x**-1, exact.power(-1), _ALL, bound=1),
    _jax("x**-2", lambda j, x: x**-2, exact.power(-2), _ALL,
         within=lambda x: ~((np.abs(x) <= 2.0**-63) & (x != 0)),
         notes="abs(x) > 2**-63: 1 / (x * x)"),
    _jax("x**0.5", lambda j, x: x**0.5, exact.power(0.5), _ALL, bound=1),
    _jax("x**-0.5", lambda j, x: x**-0.5, exact.power(-0.5), _ALL),
    _jax("x**1.5", lambda j, x: x**1.5, exact.power(1.5), _ALL, bound=8),
    _jax("x / 7", lambda j, x: x / 7, _w(lambda x: x / 7), _ALL, bound=1),
    _jax("x / y", lambda j, x, y: x / y, _w(np.divide), arguments=pairs(_ALL), bound=1),
    *(_jax(f"x / s, s = {number:g}", lambda j, x, y: x / y, _w(np.divide),
           arguments=scalar(number, _ALL), bound=1) for number in (3, 0.1, -7e30, 3e38, 0)),
    _jax("x / column", lambda j, x, y: x / y, _w(np.divide), arguments=column, bound=1,
         within=lambda x, y: ~((np.abs(x) < 2.0**-100 * np.abs(y)) & (x != 0)),
         notes="2.5 for results below 2**-100"),
    _jax("x / row", lambda j, x, y: x / y, _w(np.divide), arguments=row, bound=1),
    _jax("column / x", lambda j, x, y: y / x, _w(lambda x, y: y / x), arguments=column, bound=1),
    _jax("jax.nn.elu", lambda j, x: j.nn.elu(x), lambda x: np.where(x > 0, x, np.expm1(x)),
         (-20, 4)),
    _jax("1 / (1 + exp(-x))", lambda j, x: 1 / (1 + j.numpy.exp(-x)), exact.logistic, (-104, 20),
         (-2, 2)),
    _jax("1 + tanh(x)", lambda j, x: 1 + j.numpy.tanh(x), lambda x: 1 + np.tanh(x), (-10, 10),
         _UNIT, size=np.ones_like, notes="ULP of the greater of 1 and the result"),
    _jax("jax.nn.soft_sign", lambda j, x: j.nn.soft_sign(x), lambda x: x / (1 + np.abs(x)), _ALL),
    _jax("x.astype(bfloat16)", lambda j, x: x.astype(j.numpy.bfloat16), lambda x: x, _ALL,
         bound=0.5, bits=8),
)
CASES = (*GRAPH, *JAX)
