"""Mathematical functions of fp32 tiles.

docs/numerics.md has their errors and instructions. Subnormal arguments are zeros and subnormal
results are flushed, as everywhere on the chip; zeros, infinities and NaN are as in IEEE 754 and C
unless a function says otherwise. An instruction reads two streams, so there is no residual
``n - q * d``: where one would help, a residual against a constant does the work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.table import computes
from celosia.compiler.kernels.terms import Term, clamp, step

__all__ = ["UPPER_HALF", "choose", "cos", "cosh", "div", "erf", "exp", "exp_of_sum", "expm1", "log",
           "log1p", "logaddexp", "logistic", "polynomial", "power", "sin", "small_erf", "sqrt",
           "tanh"]


_SIGN, _EXPONENT = 0x80000000, 0x7F800000


def _down(value: float, bits: int = 24) -> float:
    """Return the number of ``bits`` bits next to ``value``, towards zero."""
    scale = 2.0**(bits - math.frexp(value)[1])
    return math.trunc(value * scale) / scale


_LOG2_E = 1 / math.log(2)
_LOG2_E_HIGH = _down(_LOG2_E)
#: log2(e) a little short: 2**-22 keep the power of two inside its range at both its ends.
_LOG2_E_SHORT = _LOG2_E * (1 - 2.0**-22)
#: The upper 12 bits of a significand: products of two such are exact.
UPPER_HALF = 0xFFFFF000
_ROOT_HALF = 0x3F3504F3
#: To 16 bits behind the point: exact when added to an exponent.
_LOG2_4_3, _LOG2_4_5 = 0.4150390625, -0.321929931640625
_LN2_HIGH = _down(math.log(2))
_LN2_LOW = math.log(2) - _LN2_HIGH
#: Adding it rounds a number below 2**22 to an integer; that integer is in the lowest bits.
_ROUND = 1.5 * 2.0**23
_HUGE = 2.0**127
#: pi in three parts, none of them too large: a zero of either sign stays what it is.
_PI = (3.1415925, 1.5099579e-07, 1.0780606e-14)

# Coefficients that make the largest relative error of the function least, each rounded to fp32.
#: (sin(r) / r - 1) / r**2 in r**2, |r| <= pi / 2.
_SIN = (-0.1666666, 0.008333069, -0.00019809774, 2.6060818e-06)
#: (expm1(r) / r - 1) / r in r, |r| <= ln(2) / 2.
_EXPM1 = (0.49999997, 0.16666546, 0.041667435, 0.008366259, 0.0013870649)
#: Where tanh rounds to 1, and as much as it may be off before.
_TANH_LARGEST, _TANH_REST = 9.5, 1.5 * 2.0**-25
#: erf(x) / x in x**2, |x| <= _ERF_SMALL.
_ERF = (1.1283791, -0.3761223, 0.11279232, -0.02667806, 0.0048692888,
        -0.0005384196)
_ERF_SMALL = 0.9
#: (log(1 + f) - f + f**2 / 2) / f**3 in f, -0.146 <= f <= 0.141.
_LOG1P = (0.3333335, -0.2500006, 0.19994944, -0.1665502, 0.14723754, -0.13151284)
#: log2(erfc(t)) / t in t, _ERF_SMALL <= t <= 4.
_ERFC = (-1.6281102, -0.9171202, -0.15189697, 0.033046514, -0.0046454747,
         0.0003095996)


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """Return c0 + c1 * x + c2 * x**2 + ...: as many steps as coefficients but one (at least 2)."""
    *rest, last_but_one, last = coefficients
    value = step(Op.FFMA, x, last, last_but_one)
    for coefficient in reversed(rest):
        value = step(Op.FFMA, value, x, coefficient)
    return value


def choose(mask: Term, a: Term, b: Term) -> Term:
    """Return a where the mask is all ones, b where it is 0: three steps, for `select` reads two."""
    return step(Op.OR, step(Op.AND, mask, a), step(Op.SELECT, mask, 0, b))


@computes("divide")
def div(n: Term, d: Term) -> Term:
    """Quotient n / d."""
    return step(Op.MOV, d, n, post=Post.DIV)


@computes("sqrt")
def sqrt(x: Term) -> Term:
    """Square root; of -0 it is -0, of other negative numbers NaN."""
    return step(Op.MOV, x, post=Post.SQRT)


def _exp_parts(x: Term, sign: float) -> tuple[Term, Term]:
    """Factors of exp(sign * x): one about 1..2, and a power of two."""
    return exp_of_sum(x, None, sign)


def exp_of_sum(x: Term, small: Term | None, sign: float) -> tuple[Term, Term]:
    """Factors of exp(sign * x + small), for a small number that x has no digits for.

    One is about 1..2 (where nothing is added), the other a power of two.
    """
    power, whole = _exp_split(x, small, sign)
    return power, step(Op.FNEG, whole, post=Post.EXP2)


def _exp_split(x: Term, small: Term | None, sign: float) -> tuple[Term, Term]:
    """Return the first factor of exp(sign * x + small), and minus the exponent of the other."""
    whole = step(Op.FFMA, x, -sign * _LOG2_E_SHORT, 0.5, post=Post.F2I)
    whole = step(Op.I2F, whole)
    rest = step(Op.FFMA, x, sign * _LOG2_E_HIGH, whole)
    if small is not None:
        rest = step(Op.FFMA, small, _LOG2_E, rest)
    return step(Op.FFMA, x, sign * (_LOG2_E - _LOG2_E_HIGH), rest, post=Post.EXP2), whole


@computes("exp")
def exp(x: Term) -> Term:
    """Exponential function e**x."""
    power, scale = _exp_parts(x, 1.0)
    return power * scale


@computes("cosh")
def cosh(x: Term) -> Term:
    """Hyperbolic cosine."""
    # e**|x| / 2, whose power of two is in range where that of e**|x| is not, and what is left.
    power, whole = _exp_split(abs(x), None, 1.0)
    half = power * step(Op.FSUB, -1.0, whole, post=Post.EXP2)
    return step(Op.FFMA, step(Op.MOV, half, post=Post.RECIP), 0.25, half)


@computes("expm1")
def expm1(x: Term) -> Term:
    """Exponential less one, e**x - 1."""
    # x = k * ln(2) + r, |r| <= ln(2) / 2, and scale = 2**(k - 1), which is in range where 2**k is
    # not: 2 * scale * expm1(r) - (0.5 - scale) - (0.5 - scale) keeps the sign of a zero.
    # Beyond its bounds the clamp of r makes the result infinite, or -1.
    k = step(Op.I2F, step(Op.FMUL, x, _LOG2_E, post=Post.F2I), **clamp(-128.0, 128.0))
    r = step(Op.FFMA, k, -_LN2_HIGH, x)
    r = step(Op.FFMA, k, -_LN2_LOW, r, **clamp(-1.0, 1.0))
    scale = step(Op.FADD, k, -1.0, post=Post.EXP2)
    twice = [2 * coefficient for coefficient in _EXPM1]
    series = r * step(Op.FFMA, r, polynomial(r, twice), 2.0)
    rest = step(Op.FSUB, 0.5, scale)
    return series * scale - rest - rest


@computes("log")
def log(x: Term) -> Term:
    """Natural logarithm; of a zero -inf, of a negative number NaN."""
    return step(Op.MOV, x, post=Post.LOG2) * math.log(2)


@computes("log1p")
def log1p(x: Term) -> Term:
    """Natural logarithm of 1 + x."""
    # With u = 1 + x, rounded, and lost = x - (u - 1): log(u) + lost / u. The clamps are for
    # x = inf; below u = 0.5 nothing is lost. The minimum is for x = -0, whose logarithm is +0 else.
    u = x + 1.0
    lost = step(Op.FSUB, x, step(Op.FADD, u, -1.0, **clamp(-_HUGE, _HUGE)), **clamp(-1.0, 1.0))
    lost = step(Op.FMAX, u, 0.5, lost, post=Post.DIV)
    value = step(Op.FFMA, step(Op.MOV, u, post=Post.LOG2), math.log(2), lost)
    return step(Op.FMIN, value, x)


@computes("logaddexp")
def logaddexp(x: Term, y: Term) -> Term:
    """Logarithm of e**x + e**y."""
    # Of infinities of one sign there is no difference: one is taken as a large number.
    finite = step(Op.FMAX, x, y, **clamp(-_HUGE, _HUGE))
    apart = step(Op.FSUB, step(Op.FMIN, x, y), finite, **clamp(-128.0, 0.0))
    return step(Op.FMAX, x, y) + log1p(exp(apart))


def logistic(x: Term) -> Term:
    """Sigmoid 1 / (1 + e**-x)."""
    power, scale = _exp_parts(x, -1.0)
    return step(Op.FFMA, power, scale, 1.0, post=Post.RECIP)


@computes("tanh")
def tanh(x: Term) -> Term:
    """Hyperbolic tangent."""
    # With v about e**(-2 * t), t = min(|x|, 9): (1 - v) / (1 + v) is the tangent of -ln(v) / 2, and
    # nearly as much is missing as t is more than that; the clamp keeps it from large t, where
    # it is less. What is below 1 by less than half an ULP is 1.
    t = step(Op.FABS, x, **clamp(0.0, _TANH_LARGEST))
    v = step(Op.FMUL, t, -2 * _LOG2_E, post=Post.EXP2)
    value = step(Op.FSUB, 1.0, v) * step(Op.FADD, v, 1.0, post=Post.RECIP)
    rest = step(Op.FFMA, step(Op.MOV, v, post=Post.LOG2), math.log(2) / 2, t,
                **clamp(-_TANH_REST, _TANH_REST))
    value = step(Op.FADD, value, rest, **clamp(0.0, 1.0))
    return step(Op.OR, value, step(Op.AND, x, _SIGN))


def small_erf(x: Term) -> Term:
    """Error function of abs(x) <= _ERF_SMALL."""
    return x * polynomial(step(Op.MOV, x, post=Post.SQUARE), _ERF)


@computes("erf")
def erf(x: Term) -> Term:
    """Error function."""
    small = small_erf(x)
    # From 1 - 2**(t * R(t)) with t = min(|x|, 4); erf(4) rounds to 1.
    t = step(Op.FABS, x, **clamp(0.0, 4.0))
    rest = step(Op.FMUL, t, polynomial(t, _ERFC), post=Post.EXP2)
    large = step(Op.OR, step(Op.FSUB, 1.0, rest), step(Op.AND, x, _SIGN))
    return choose(step(Op.FLT, t, _ERF_SMALL), small, large)


def _sine(x: Term, turns: Term, parity: Term) -> Term:
    """sin(x - turns * pi), its sign changed where bit 0 of parity is set."""
    r = step(Op.FFMA, turns, -_PI[0], x)
    r = step(Op.FFMA, turns, -_PI[1], r)
    r = step(Op.FFMA, turns, -_PI[2], r, **clamp(-2.0, 2.0))  # far too large x: no more than that
    squared = step(Op.MOV, r, post=Post.SQUARE)
    value = r * step(Op.FFMA, squared, polynomial(squared, _SIN), 1.0)
    return step(Op.XOR, value, step(Op.SHL, parity, 31))


@computes("sin")
def sin(x: Term) -> Term:
    """Sine, for |x| <= 1e4; beyond, digits are lost; from 1e7 on it is some number from -1 to 1."""
    whole = step(Op.FFMA, x, 1 / math.pi, _ROUND)  # its lowest bit is that of the integer
    return _sine(x, whole - _ROUND, whole)


@computes("cos")
def cos(x: Term) -> Term:
    """Cosine, for |x| <= 1e4; beyond, as `sin`."""
    # cos(x) = sin(x + pi / 2); the halves of pi that are taken away are an odd number.
    whole = step(Op.FFMA, x, 1 / math.pi, 0.5) + _ROUND
    return _sine(x, whole - _ROUND - 0.5, whole)


@computes("power")
def power(x: Term, y: Term) -> Term:
    """Power x**y, as in C: NaN where x < 0 and y is no integer, 1 where y is 0 or x is 1."""
    magnitude = abs(x)
    value = _exp2(*_product(y, *_log2(magnitude)))
    one = step(Op.OR, step(Op.FEQ, y, 0.0), step(Op.FEQ, magnitude, 1.0))
    value = step(Op.SELECT, one, 1.0, value)
    # All numbers beyond the clamp are even integers, and so are its bounds.
    bounded = step(Op.MOV, y, **clamp(-(2.0**30), 2.0**30))
    whole = step(Op.MOV, bounded, post=Post.F2I_TRUNC)
    broken = step(Op.FNE, step(Op.I2F, whole), bounded)
    sign = step(Op.AND, step(Op.AND, x, _SIGN), step(Op.SHL, whole, 31))
    value = step(Op.XOR, value, step(Op.SELECT, broken, 0, sign))
    negative = step(Op.AND, step(Op.FLT, x, 0.0), step(Op.FGT, x, -math.inf))
    return step(Op.OR, value, step(Op.AND, broken, negative))


def _log2(x: Term) -> tuple[Term, Term]:
    """Logarithm to base 2 of x >= 0 in two parts, to about 2**-29 of it; of inf it is inf."""
    # x = m * 2**e, sqrt(1/2) <= m < sqrt(2), and r * m = 1 + f, f = h + l with 12 bits in h:
    # ln(1 + f) = (h - h**2 / 2) + (l - l * (h + l / 2)) + f**3 * Q(f).
    scale = step(Op.ISUB, x, _ROOT_HALF)
    exponent = step(Op.I2F, step(Op.SAR, scale, 23))
    # The chip's own logarithm is too small to be seen, unless it is infinite or NaN.
    exponent = step(Op.FFMA, step(Op.MOV, x, post=Post.LOG2), 2.0**-60, exponent)
    m = step(Op.ISUB, x, step(Op.AND, scale, _SIGN | _EXPONENT))
    above, below = step(Op.FGT, m, 1.14), step(Op.FLT, m, 0.88)

    def pick(high: float, low: float, middle: float = 0.0) -> Term:
        return step(Op.SELECT, below, low, step(Op.SELECT, above, high, middle))

    f = step(Op.FFMA, m, pick(0.75, 1.25, 1.0), -1.0)  # exact
    h = step(Op.AND, f, UPPER_HALF)
    low = f - h
    square = step(Op.MOV, h, post=Post.SQUARE)  # exact
    high = step(Op.FFMA, square, -0.5, h)
    lost = step(Op.FFMA, square, -0.5, h - high)  # exact
    low = low - low * step(Op.FFMA, low, 0.5, h)
    cube = step(Op.MOV, f, post=Post.SQUARE) * f
    low = low + cube * polynomial(f, _LOG1P) + lost
    total = high + low
    low, high = low - (total - high), total
    # To base 2, with the exact error of the product. Then the exponent and -log2(r), with the
    # exact error of the sum.
    product = high * -_LOG2_E_HIGH
    rest = step(Op.FFMA, high, _LOG2_E_HIGH, product)
    rest = step(Op.FFMA, high, _LOG2_E - _LOG2_E_HIGH, rest)
    rest = step(Op.FFMA, low, _LOG2_E_HIGH, rest)
    exponent = exponent + pick(_LOG2_4_3, _LOG2_4_5)
    rest = rest + pick(math.log2(4 / 3) - _LOG2_4_3, math.log2(4 / 5) - _LOG2_4_5)
    total = exponent - product
    return total, rest - (total - exponent + product)


def _product(y: Term, high: Term, low: Term) -> tuple[Term, Term]:
    """Y times a number in two parts, in two parts, from -304 to 304: `_exp2` needs no more."""
    y_upper, upper = step(Op.AND, y, UPPER_HALF), step(Op.AND, high, UPPER_HALF)
    product = step(Op.FMUL, y_upper, upper, **clamp(-304.0, 304.0))  # exact
    rest = step(Op.FADD, (y - y_upper) * upper, y * (high - upper + low), **clamp(-1.0, 1.0))
    return product, step(Op.AND, rest, step(Op.FEQ, rest, rest))  # NaN: infinities were there


def _exp2(high: Term, low: Term) -> Term:
    """Two to the power of a number in two parts."""
    whole = step(Op.I2F, step(Op.FFMA, high + low, 2.0**-22 - 1, 0.5, post=Post.F2I))
    power = step(Op.FADD, high + whole, low, post=Post.EXP2)
    return power * step(Op.FNEG, whole, post=Post.EXP2)
