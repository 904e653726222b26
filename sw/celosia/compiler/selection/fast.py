"""Short forms of the functions, for `Options.fast`; their errors are in the package's table.

Second stages do the work: 2**x, log2(x), 1 / x and 1 / sqrt(x) cost nothing where the operation
before has none. `celosia.compiler.selection.rules` then merges the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.selection.exact import exact
from celosia.compiler.selection.pool import Pool
from celosia.compiler.selection.translate import Rule
from celosia.graph import Node
from celosia.kernels.terms import Extent, Term, clamp_bounds

__all__ = ["FUNCTIONS", "is_normal", "short_tanh", "to_bf16"]

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
        return pool.op(Op.FMUL, n, pool.fp32(1 / d.number))
    if d.extent is Extent.FULL:
        return pool.div(n, d)
    return pool.op(Op.FMUL, n, pool.post(Post.RECIP, d))


def _sqrt(pool: Pool, node: Node, args: list[Term]) -> Term:
    return pool.post(Post.SQRT, args[0])


def _exp2(pool: Pool, x: Term, factor: float) -> Term:
    return pool.post(Post.EXP2, pool.op(Op.FMUL, x, pool.fp32(factor)))


def _exp(pool: Pool, node: Node, args: list[Term]) -> Term:
    return _exp2(pool, args[0], _LOG2_E)


def _expm1(pool: Pool, node: Node, args: list[Term]) -> Term:
    return pool.op(Op.FADD, _exp2(pool, args[0], _LOG2_E), pool.fp32(-1.0))


def _log(pool: Pool, node: Node, args: list[Term]) -> Term:
    return pool.op(Op.FMUL, pool.post(Post.LOG2, args[0]), pool.fp32(math.log(2)))


def _log1p(pool: Pool, node: Node, args: list[Term]) -> Term:
    return _log(pool, node, [pool.op(Op.FADD, args[0], pool.fp32(1.0))])


def _tanh_of(pool: Pool, power: Term) -> Term:
    """tanh(x), given e**(2 x): 1 - 2 / (e**(2 x) + 1)."""
    inverse = pool.post(Post.RECIP, pool.op(Op.FADD, power, pool.fp32(1.0)))
    return pool.op(Op.FFMA, inverse, pool.fp32(-2.0), pool.fp32(1.0))


def short_tanh(pool: Pool, x: Term) -> Term:
    """Return tanh(x), off by 2**-22 of 1: three instructions."""
    return _tanh_of(pool, _exp2(pool, x, 2 * _LOG2_E))


def _tanh(pool: Pool, node: Node, args: list[Term]) -> Term:
    return short_tanh(pool, args[0])


def _erf(pool: Pool, node: Node, args: list[Term]) -> Term:
    # As the hyperbolic tangent of a polynomial, which has the sign of x by itself.
    [x] = args
    squared = pool.post(Post.SQUARE, x)
    scale = 1.0
    if x.is_op(Op.FMUL) and x.args[1].is_word and is_normal(x.args[1].number):
        # A constant factor of x goes into the coefficients.
        x, scale = x.args[0], x.args[1].number
    *rest, last = _ERF
    value = pool.fp32(last * scale)
    for coefficient in reversed(rest):
        value = pool.op(Op.FFMA, squared, value, pool.fp32(coefficient * scale))
    return _tanh_of(pool, pool.post(Post.EXP2, pool.op(Op.FMUL, x, value)))


def to_bf16(pool: Pool, x: Term) -> Term:
    """Return an fp32 rounded to bf16, to nearest even: three instructions.

    Adding 1.5 * 2**16 times the power of two in x, and taking it away, leaves eight bits. From
    2**111 on more bits are left; infinities and NaN stay, -0 becomes +0.
    """
    power = pool.post(Post.CLAMP_F, pool.op(Op.AND, x, pool.word(0x7F800000)),
                      clamp_bounds(0.0, 2.0**110))
    moved = pool.op(Op.FFMA, power, pool.fp32(98304.0), x)
    return pool.op(Op.FFMA, power, pool.fp32(-98304.0), moved)


def _power(pool: Pool, node: Node, args: list[Term]) -> Term:
    base, exponent = args
    if exponent.is_word:
        found = _fixed_power(pool, node, base, exponent.number)
        if found is not None:
            return found
    if base.is_word and is_normal(base.number) and base.number > 0:
        return _exp2(pool, exponent, math.log2(base.number))
    return exact(pool, "power", base, exponent)


def _fixed_power(pool: Pool, node: Node, x: Term, exponent: float) -> Term | None:
    size = abs(exponent)
    if size == 0 or size > _PRODUCTS or not (2 * size).is_integer():
        return None
    found = None
    if not size.is_integer():
        found = pool.post(Post.RSQRT, x) if exponent < 0 else _sqrt(pool, node, [x])
    square, whole = x, int(size)
    inverted = exponent < 0
    product = None
    while whole:
        if whole & 1:
            product = square if product is None else pool.op(Op.FMUL, product, square)
        whole >>= 1
        square = pool.post(Post.SQUARE, square)
    if product is not None:
        product = pool.post(Post.RECIP, product) if inverted else product
        found = product if found is None else pool.op(Op.FMUL, product, found)
    return found


def _erfc(pool: Pool, node: Node, args: list[Term]) -> Term:
    return pool.op(Op.FSUB, pool.fp32(1.0), _erf(pool, node, args))


#: By operation of the graph.
FUNCTIONS: Mapping[str, Rule] = {
    "divide": _divide, "sqrt": _sqrt, "exp": _exp, "expm1": _expm1, "log": _log, "log1p": _log1p,
    "tanh": _tanh, "erf": _erf, "erfc": _erfc, "power": _power,
}
