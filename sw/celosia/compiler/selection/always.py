"""Peephole rules that change no bit but which NaN a NaN is: signs, bounds as second stages."""

from __future__ import annotations

import numpy as np

from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import Leaf, Term, step
from celosia.compiler.selection.matching import Rule, Rules, merging, once
from celosia.compiler.selection.notation import (
    both,
    clamp_f,
    clamp_i,
    complement,
    either,
    imax,
    imin,
    maximum,
    minimum,
    minus,
    relu_f,
    relu_i,
    select,
    square,
)
from celosia.compiler.selection.pool import is_first
from celosia.graph import DType

__all__ = ["ALWAYS", "is_mask"]

_INVERSE = {Op.IEQ: Op.INE, Op.INE: Op.IEQ, Op.ILT: Op.IGE, Op.IGE: Op.ILT, Op.IGT: Op.ILE,
            Op.ILE: Op.IGT, Op.FEQ: Op.FNE, Op.FNE: Op.FEQ}
_COMPARISONS = frozenset({*_INVERSE, Op.FLT, Op.FLE, Op.FGT, Op.FGE, Op.ISFINITE})
#: Upper halves of the fp32 that are infinite.
_INF, _MINUS_INF = 0x7F80, 0xFF80


def is_mask(term: Term, depth: int = 8) -> bool:
    """Whether all words of a term are plain to see as 0 or -1."""
    if term.op is Leaf.READ:
        return term.source.dtype is DType.BOOL
    if not is_first(term) or not depth:
        return False
    return term.op in _COMPARISONS or (term.op in (Op.AND, Op.OR, Op.XOR, Op.NOT) and all(
        is_mask(arg, depth - 1) for arg in term.args))


def _is_bf16(c: Term) -> bool:
    """Whether a number is a bf16, and no NaN."""
    return not c.param & 0xFFFF and c.number == c.number


def _half(c: Term) -> int:
    return c.param >> 16


def _number(half: int) -> float:
    return float(np.uint32(half << 16).view(np.float32))


def _bounds(x: Term) -> tuple[int, int] | None:
    """Return the bounds of a clamp that a term is, as upper halves of fp32, or None."""
    if x.is_post(Post.RELU_F):
        return 0, _INF
    return (x.param & 0xFFFF, x.param >> 16) if x.is_post(Post.CLAMP_F) else None


def _higher(x: Term, c: Term) -> Term | None:
    """Return a clamp with a higher lower bound; None where it is no clamp, or not higher."""
    low, high = _bounds(x) or (0, 0)
    return clamp_f(x.args[0], _half(c), high) if _number(low) < c.number <= _number(high) else None


def _lower(x: Term, c: Term) -> Term | None:
    """Likewise with a lower upper bound."""
    low, high = _bounds(x) or (0, 0)
    return clamp_f(x.args[0], low, _half(c)) if _number(low) <= c.number < _number(high) else None


def _signed(c: Term) -> int:
    return c.param - (1 << 32) if c.param >> 31 else c.param


def _in_16_bits(low: int, high: int) -> bool:
    return -0x8000 <= low <= high <= 0x7FFF


def _complement_of(op: Op, inverse: Op) -> Rule:
    return Rule(f"not of {op.name.lower()}", lambda x, y: complement(once(step(op, x, y))),
                lambda x, y: step(inverse, x, y))


#: Terms that do the same with fewer instructions, bit for bit.
ALWAYS = Rules(
    Rule("minus of minus", lambda x: -minus(x), lambda x: x),
    Rule("minus of a multiple", lambda x, c: -once(x * c), lambda x, c: x * -c),
    Rule("size of minus", lambda x: abs(-x), lambda x: abs(x)),
    Rule("size of a size", lambda x: abs(abs(x)), lambda x: abs(x)),
    Rule("sum with minus", lambda x, y: x + -y, lambda x, y: x - y),
    Rule("difference from minus", lambda x, y: x - minus(y), lambda x, y: x + y),
    Rule("product with itself", lambda x: x * x, square),
    Rule("square of minus", lambda x: square(-x), square),
    Rule("square of a size", lambda x: square(abs(x)), square),
    Rule("product of two minus", lambda x, y: -x * -y, lambda x, y: x * y),
    Rule("multiple of minus", lambda x, c: -x * c, lambda x, c: x * -c),
    Rule("product with minus", lambda x, y: once(-x) * y, lambda x, y: -(x * y)),
    Rule("maximum with 0", lambda x: maximum(x, 0.0), relu_f),
    Rule("maximum with a number", lambda x, c: maximum(merging(x), c),
         lambda x, c: clamp_f(x, _half(c), _INF), where=lambda x, c: _is_bf16(c)),
    Rule("minimum with a number", lambda x, c: minimum(merging(x), c),
         lambda x, c: clamp_f(x, _MINUS_INF, _half(c)), where=lambda x, c: _is_bf16(c)),
    Rule("maximum of a clamp", lambda x, c: maximum(once(x), c), _higher,
         where=lambda x, c: _is_bf16(c) and _bounds(x)),
    Rule("minimum of a clamp", lambda x, c: minimum(once(x), c), _lower,
         where=lambda x, c: _is_bf16(c) and _bounds(x)),
    Rule("integer maximum with 0", lambda x: imax(x, 0), relu_i),
    Rule("integer minimum above 0", lambda x, c: imin(relu_i(x), c),
         lambda x, c: clamp_i(x, 0, _signed(c)), where=lambda x, c: _in_16_bits(0, _signed(c))),
    Rule("integer maximum of a minimum", lambda x, c, d: imax(imin(x, d), c),
         lambda x, c, d: clamp_i(x, _signed(c), _signed(d)),
         where=lambda x, c, d: _in_16_bits(_signed(c), _signed(d))),
    Rule("integer minimum of a maximum", lambda x, c, d: imin(imax(x, c), d),
         lambda x, c, d: clamp_i(x, _signed(c), _signed(d)),
         where=lambda x, c, d: _in_16_bits(_signed(c), _signed(d))),
    Rule("not of not", lambda x: complement(complement(x)), lambda x: x),
    *(_complement_of(op, inverse) for op, inverse in _INVERSE.items()),
    Rule("zero where a mask holds", lambda m, x: both(complement(m), x),
         lambda m, x: select(m, 0, x), where=lambda m, x: is_mask(m)),
    Rule("ones where no mask holds", lambda m, x: either(complement(m), x),
         lambda m, x: select(m, x, -1), where=lambda m, x: is_mask(m)),
    Rule("choice that is made", lambda c, x, y: select(c, x, y),
         lambda c, x, y: x if c.param else y),
    Rule("choice of the same", lambda m, x: select(m, x, x), lambda m, x: x),
    Rule("choice by a complement", lambda m, x, y: select(complement(m), x, y),
         lambda m, x, y: select(m, y, x)),
)
