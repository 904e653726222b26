"""Instructions as rules and short functions write them, besides the operators of fp32."""

from __future__ import annotations

from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.compiler.kernels.terms import Term, TermLike, step

__all__ = ["both", "clamp_f", "clamp_i", "complement", "div", "either", "exp2", "fma", "fmulc",
           "imax", "imin", "log2", "maximum", "minimum", "minus", "recip", "relu_f", "relu_i",
           "rsqrt", "select", "sqrt", "square", "total"]


def minus(x: TermLike) -> Term:
    """X with the other sign."""
    return step(VectorOp.FNEG, x)


def fma(a: TermLike, b: TermLike, c: TermLike) -> Term:
    """A * b + c, rounded once."""
    return step(VectorOp.FFMA, a, b, c)


def fmulc(a: TermLike, b: TermLike) -> Term:
    """A * (1 - b), rounded once."""
    return step(VectorOp.FMULC, a, b)


def maximum(a: TermLike, b: TermLike) -> Term:
    """The larger fp32."""
    return step(VectorOp.FMAX, a, b)


def minimum(a: TermLike, b: TermLike) -> Term:
    """The smaller fp32."""
    return step(VectorOp.FMIN, a, b)


def imax(a: TermLike, b: TermLike) -> Term:
    """The larger integer."""
    return step(VectorOp.IMAX, a, b)


def imin(a: TermLike, b: TermLike) -> Term:
    """The smaller integer."""
    return step(VectorOp.IMIN, a, b)


def select(mask: TermLike, a: TermLike, b: TermLike) -> Term:
    """``a`` where a word of the mask is not 0, else ``b``."""
    return step(VectorOp.SELECT, mask, a, b)


def both(a: TermLike, b: TermLike) -> Term:
    """The bits that both have."""
    return step(VectorOp.AND, a, b)


def either(a: TermLike, b: TermLike) -> Term:
    """The bits that one of them has."""
    return step(VectorOp.OR, a, b)


def complement(a: TermLike) -> Term:
    """The bits that it does not have."""
    return step(VectorOp.NOT, a)


def _second(post: Post, x: TermLike, param: int = 0) -> Term:
    return step(VectorOp.MOV, x, post=post, param=param)


def recip(x: TermLike) -> Term:
    """1 / x."""
    return _second(Post.RECIP, x)


def square(x: TermLike) -> Term:
    """X * x."""
    return _second(Post.SQUARE, x)


def exp2(x: TermLike) -> Term:
    """2 to the power x."""
    return _second(Post.EXP2, x)


def log2(x: TermLike) -> Term:
    """The logarithm of x to base 2."""
    return _second(Post.LOG2, x)


def sqrt(x: TermLike) -> Term:
    """The square root of x."""
    return _second(Post.SQRT, x)


def rsqrt(x: TermLike) -> Term:
    """1 / sqrt(x)."""
    return _second(Post.RSQRT, x)


def relu_f(x: TermLike) -> Term:
    """The larger of an fp32 and 0."""
    return _second(Post.RELU_F, x)


def relu_i(x: TermLike) -> Term:
    """The larger of an integer and 0."""
    return _second(Post.RELU_I, x)


def clamp_f(x: TermLike, low: int, high: int) -> Term:
    """An fp32 from ``low`` to ``high``, the upper halves of two fp32."""
    return _second(Post.CLAMP_F, x, low | high << 16)


def clamp_i(x: TermLike, low: int, high: int) -> Term:
    """An integer from ``low`` to ``high``, of 16 bits each."""
    return _second(Post.CLAMP_I, x, (low & 0xFFFF) | (high & 0xFFFF) << 16)


def div(n: TermLike, d: TermLike) -> Term:
    """N / d."""
    return step(VectorOp.MOV, d, n, post=Post.DIV)


def total(x: TermLike) -> Term:
    """The sum of the lanes of each row."""
    return step(VectorOp.MOV, x, reduce=Reduce.LANES, reduce_op=ReduceOp.SUM_F)
