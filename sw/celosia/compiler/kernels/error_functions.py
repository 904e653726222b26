"""The complement of the error function, of fp32 tiles; see `celosia.compiler.kernels.functions`."""

from __future__ import annotations

from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.functions import (
    UPPER_HALF,
    choose,
    exp_of_sum,
    polynomial,
    small_erf,
)
from celosia.compiler.kernels.table import computes
from celosia.compiler.kernels.terms import Term, clamp, step

__all__ = ["erfc"]

#: erfc(t) rounds to 0 from here on.
_FAR = 16.0
#: Below this 1 - erf(x) has all its digits.
_NEAR = 0.5
_MIDDLE = 3.0
#: As large as keeps the polynomial's value below 1, where it rounds least.
_SCALE = 0.6875
#: _SCALE * (1 + 2 * t) * exp(t**2) * erfc(t) in (t - 3) / (t + 3), 0.4375 <= t <= 10.5: its largest
#: relative error is 2**-27.7. The variable is that of M. Shepherd and J. Laframboise, "Chebyshev
#: approximation of (1 + 2x) exp(x**2) erfc x", Mathematics of Computation 36 (1981).
_SERIES = tuple(_SCALE * each for each in (
    1.2530080589909378, -0.1356210231554831, -0.04756238251360901, 0.12964182701385488,
    -0.1192725822362799, 0.06834516266940314, -0.023768825791410937, 0.0023671924541738836,
    0.0018430149131782527, -0.0005025849948137525))


@computes("erfc")
def erfc(x: Term) -> Term:
    """Complementary error function, 1 - erf(x)."""
    size = step(Op.FABS, x, **clamp(0.0, _FAR))
    # exp(-t**2) with t**2 = u**2 + (t - u) * (t + u), the first of these exact.
    upper = step(Op.AND, size, UPPER_HALF)
    square = step(Op.MOV, upper, post=Post.SQUARE)
    power, scale = exp_of_sum(square, (upper - size) * (upper + size), -1.0)
    # Times the series by 1 + 2 * t, with one correction of the quotient.
    value = polynomial((size - _MIDDLE) * step(Op.FADD, size, _MIDDLE, post=Post.RECIP), _SERIES)
    divisor = step(Op.FFMA, size, 2 * _SCALE, _SCALE)
    inverse = step(Op.MOV, divisor, post=Post.RECIP)
    short = step(Op.FFMA, divisor, inverse, -1.0)
    value = value * inverse
    value = (value - value * short) * power * scale
    large = choose(step(Op.FLT, x, 0.0), step(Op.FSUB, 2.0, value), value)
    return choose(step(Op.FLT, size, _NEAR), step(Op.FSUB, 1.0, small_erf(x)), large)
