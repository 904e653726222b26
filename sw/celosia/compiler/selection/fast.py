"""Short forms of the functions (`SelectionOptions.fast`); their errors are in the package's table.

Second stages do the work: 2**x, log2(x), 1 / x and 1 / sqrt(x) cost nothing where the operation
before has none. `celosia.compiler.selection.rules` then merges the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import Extent, Term, clamp, step, word
from celosia.compiler.selection.exact import exact
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
from celosia.compiler.selection.translate import TermMaker
from celosia.graph import Node

__all__ = ["SHORT_FORMS", "is_normal", "short_tanh", "to_bf16", "whole_power"]

_LOG2_E = 1 / math.log(2)
#: 2 * atanh(erf(x)) / x / ln(2) in x**2: the largest error of the erf made of it is least.
_ERF = (3.255815610634145, 0.29651850101087224, -0.0005320190477826219, -0.0018054448822760645,
        0.0002588557379386715, -1.727103955626564e-05, 4.5866145138585435e-07)
#: Integer exponents up to this one are products.
_PRODUCTS = 8


def is_normal(number: float) -> bool:
    """Whether a number is a normal fp32."""
    return 2.0**-126 <= abs(number) < 2.0**128


def _divide(pool: Pool, node: Node, args: list[Term]) -> Term:
    n, d = args
    if d.is_word and is_normal(d.number) and is_normal(1 / d.number):
        return n * (1 / d.number)
    return div(n, d) if d.extent is Extent.FULL else n * recip(d)


def _sqrt(pool: Pool, node: Node, args: list[Term]) -> Term:
    return sqrt(args[0])


def _exp(pool: Pool, node: Node, args: list[Term]) -> Term:
    return exp2(args[0] * _LOG2_E)


def _expm1(pool: Pool, node: Node, args: list[Term]) -> Term:
    return exp2(args[0] * _LOG2_E) + -1.0


def _log(pool: Pool, node: Node, args: list[Term]) -> Term:
    return log2(args[0]) * math.log(2)


def _log1p(pool: Pool, node: Node, args: list[Term]) -> Term:
    return log2(args[0] + 1.0) * math.log(2)


def _tanh_of(power: Term) -> Term:
    """tanh(x), given e**(2 x): 1 - 2 / (e**(2 x) + 1)."""
    return fma(recip(power + 1.0), -2.0, 1.0)


def short_tanh(x: Term) -> Term:
    """Return tanh(x), off by 2**-22 of 1: three instructions."""
    return _tanh_of(exp2(x * (2 * _LOG2_E)))


def _tanh(pool: Pool, node: Node, args: list[Term]) -> Term:
    return short_tanh(args[0])


def _erf_of(x: Term) -> Term:
    # As the hyperbolic tangent of a polynomial, which has the sign of x by itself.
    squared, scale = square(x), 1.0
    if x.is_op(Op.FMUL) and x.args[1].is_word and is_normal(x.args[1].number):
        # A constant factor of x goes into the coefficients.
        x, scale = x.args[0], x.args[1].number
    *rest, last = _ERF
    value = word(last * scale)
    for coefficient in reversed(rest):
        value = fma(squared, value, coefficient * scale)
    return _tanh_of(exp2(x * value))


def _erf(pool: Pool, node: Node, args: list[Term]) -> Term:
    return _erf_of(args[0])


def _erfc(pool: Pool, node: Node, args: list[Term]) -> Term:
    return 1.0 - _erf_of(args[0])


def to_bf16(x: Term) -> Term:
    """Return an fp32 rounded to bf16, to nearest even: three instructions.

    Adding 1.5 * 2**16 times the power of two in x, and taking it away, leaves eight bits. From
    2**111 on more bits are left; infinities and NaN stay, -0 becomes +0.
    """
    power = step(Op.MOV, both(x, 0x7F800000), **clamp(0.0, 2.0**110))
    return fma(power, -98304.0, fma(power, 98304.0, x))


def whole_power(x: Term, exponent: int) -> Term:
    """Return a power of x whose exponent is at least 1, by squares and products."""
    product = None
    while exponent:
        if exponent & 1:
            product = x if product is None else product * x
        exponent >>= 1
        x = square(x)
    assert product is not None
    return product


def _power(pool: Pool, node: Node, args: list[Term]) -> Term:
    base, exponent = args
    if exponent.is_word:
        found = _fixed_power(base, exponent.number)
        if found is not None:
            return found
    if base.is_word and is_normal(base.number) and base.number > 0:
        return exp2(exponent * math.log2(base.number))
    return exact(pool, "power", base, exponent)


def _fixed_power(x: Term, exponent: float) -> Term | None:
    size = abs(exponent)
    if size == 0 or size > _PRODUCTS or not (2 * size).is_integer():
        return None
    root = None
    if not size.is_integer():
        root = rsqrt(x) if exponent < 0 else sqrt(x)
        if size < 1:
            return root
    product = whole_power(x, int(size))
    product = recip(product) if exponent < 0 else product
    return product if root is None else product * root


#: By operation of the graph.
SHORT_FORMS: Mapping[str, TermMaker] = {
    "divide": _divide, "sqrt": _sqrt, "exp": _exp, "expm1": _expm1, "log": _log, "log1p": _log1p,
    "tanh": _tanh, "erf": _erf, "erfc": _erfc, "power": _power,
}
