"""Cube root and angle of fp32 tiles; what the file functions says holds for them, too."""

from __future__ import annotations

import math

from celosia.arch.numerics import SIGN
from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.functions import polynomial
from celosia.compiler.kernels.table import computes
from celosia.compiler.kernels.terms import Term, clamp, step

__all__ = ["atan2", "cbrt"]


_SIGN = int(SIGN)
#: A quarter of a turn in two parts.
_QUARTER = 1.5707964
_QUARTER_LOW = math.pi / 2 - _QUARTER
#: (atan(t) / t - 1) / t**2 in t**2, 0 <= t <= 1: the largest relative error is least.
_ATAN = (-0.33333153, 0.19993769, -0.14211024, 0.10665893, -0.075519934, 0.043209426,
         -0.01636652, 0.0029203598)
#: Bounds of a tangent's divisor that leave all of it in range.
_LARGE = 2.0**64


@computes("cbrt")
def cbrt(x: Term) -> Term:
    """Cube root; of -0 it is -0."""
    # The root's inverse, a little low: so s * inverse - 1 is below zero but for infinity, where
    # the clamp makes it so. The other clamp is for x = 0 and infinity; squares of it are in range.
    inverse = step(Op.FFMA, step(Op.FABS, x, post=Post.LOG2), -1 / 3, -(2.0**-17), post=Post.EXP2)
    inverse = step(Op.MOV, inverse, **clamp(2.0**-60, 2.0**60))
    s = x * inverse * inverse
    # |x| * inverse**3 - 1
    error = step(Op.FFMA, abs(s), inverse, -1.0, **clamp(-1.0, -(2.0**-23)))
    return step(Op.FFMA, s * error, -2 / 3, s)


@computes("atan2")
def atan2(y: Term, x: Term) -> Term:
    """Angle of the point (x, y), from -pi to pi, as in C: a zero's sign is that of a side."""
    down, up = abs(x), abs(y)
    steep = step(Op.FGT, up, down)
    high, low = step(Op.FMAX, down, up), step(Op.FMIN, down, up)
    # The tangent from 0 to 1: 0 of 0 / 0, 1 of infinity by itself.
    scale = step(Op.SELECT, step(Op.FGT, high, _LARGE), 1 / _LARGE, 1.0)
    inverse = step(Op.FMUL, high, scale, **clamp(2.0**-126, math.inf))
    t = low * scale * step(Op.MOV, inverse, post=Post.RECIP)
    t = step(Op.SELECT, step(Op.FEQ, low, math.inf), 1.0, t)
    squared = step(Op.MOV, t, post=Post.SQUARE)
    angle = t * step(Op.FFMA, squared, polynomial(squared, _ATAN), 1.0)
    # From the axis that is next to it.
    behind = step(Op.SAR, x, 31)
    angle = step(Op.XOR, angle, step(Op.AND, step(Op.XOR, steep, behind), _SIGN))
    quarters = step(Op.SELECT, steep, 1.0, step(Op.AND, behind, 0x40000000))
    angle = step(Op.FFMA, quarters, _QUARTER_LOW, angle)
    angle = step(Op.FFMA, quarters, _QUARTER, angle)
    return step(Op.OR, angle, step(Op.AND, y, _SIGN))
