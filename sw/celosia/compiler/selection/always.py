"""Peephole rules that change no bit but which NaN a NaN is: signs, bounds as second stages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.selection.terms import Pool, Uses, is_first, merges, single
from celosia.graph import DType
from celosia.kernels.terms import Leaf, Term

__all__ = ["always", "is_mask"]

_INVERSE = {Op.IEQ: Op.INE, Op.INE: Op.IEQ, Op.ILT: Op.IGE, Op.IGE: Op.ILT, Op.IGT: Op.ILE,
            Op.ILE: Op.IGT, Op.FEQ: Op.FNE, Op.FNE: Op.FEQ}
_COMPARISONS = frozenset({*_INVERSE, Op.FLT, Op.FLE, Op.FGT, Op.FGE, Op.ISFINITE})


def always(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Return a term that does the same with fewer instructions, bit for bit; None: no rule."""
    rule = _ALWAYS.get(term.first) if is_first(term) else None
    if rule is not None:
        return rule(pool, term, uses)
    if term.is_post(Post.SQUARE) and term.args[0].is_op(Op.FNEG, Op.FABS):
        return pool.post(Post.SQUARE, term.args[0].args[0])
    return None


def _negate(pool: Pool, term: Term, uses: Uses) -> Term | None:
    [x] = term.args
    if x.is_op(Op.FNEG):
        return x.args[0]
    if x.is_op(Op.FMUL) and single(x, uses):
        a, b = x.args
        for factor, other in ((b, a), (a, b)):
            if factor.is_word:
                return pool.op(Op.FMUL, other, pool.op(Op.FNEG, factor))
    return None


def _abs(pool: Pool, term: Term, uses: Uses) -> Term | None:
    [x] = term.args
    return pool.op(Op.FABS, x.args[0]) if x.is_op(Op.FNEG, Op.FABS) else None


def _add(pool: Pool, term: Term, uses: Uses) -> Term | None:
    a, b = term.args
    if b.is_op(Op.FNEG):
        return pool.op(Op.FSUB, a, b.args[0])
    if a.is_op(Op.FNEG):
        return pool.op(Op.FSUB, b, a.args[0])
    return None


def _subtract(pool: Pool, term: Term, uses: Uses) -> Term | None:
    a, b = term.args
    return pool.op(Op.FADD, a, b.args[0]) if b.is_op(Op.FNEG) else None


def _multiply(pool: Pool, term: Term, uses: Uses) -> Term | None:
    a, b = term.args
    if a is b:
        return pool.post(Post.SQUARE, a)
    if a.is_op(Op.FNEG) and b.is_op(Op.FNEG):
        return pool.op(Op.FMUL, a.args[0], b.args[0])
    for minus, other in ((a, b), (b, a)):
        if minus.is_op(Op.FNEG):
            if other.is_word:
                return pool.op(Op.FMUL, minus.args[0], pool.op(Op.FNEG, other))
            if single(minus, uses):
                return pool.op(Op.FNEG, pool.op(Op.FMUL, minus.args[0], other))
    return None


def _bounds(term: Term, integer: bool) -> tuple[int, int] | None:
    """Return the bounds of a clamp that a term is, as halves of its parameter, or None."""
    if integer:
        if term.is_post(Post.RELU_I):
            return 0, 0x7FFF
        return (term.param & 0xFFFF, term.param >> 16) if term.is_post(Post.CLAMP_I) else None
    if term.is_post(Post.RELU_F):
        return 0, 0x7F80
    return (term.param & 0xFFFF, term.param >> 16) if term.is_post(Post.CLAMP_F) else None


def _number(half: int) -> float:
    return float(np.uint32(half << 16).view(np.float32))


def _extreme(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Make a second stage of the maximum or minimum with a bf16 number."""
    for x, bound in (term.args, term.args[::-1]):
        if not bound.is_word or bound.param & 0xFFFF or x.is_word:
            continue
        number = bound.number
        if number != number:
            continue
        above = term.is_op(Op.FMAX)
        if above and bound.param == 0:
            return pool.post(Post.RELU_F, x)
        known = _bounds(x, False) if single(x, uses) else None
        if known is None:
            if not merges(x, uses):
                return None
            low, high = (bound.param >> 16, 0x7F80) if above else (0xFF80, bound.param >> 16)
            return pool.post(Post.CLAMP_F, x, low | high << 16)
        low, high = known
        if above and _number(low) < number <= _number(high):
            low = bound.param >> 16
        elif not above and _number(low) <= number < _number(high):
            high = bound.param >> 16
        else:
            return None
        return pool.post(Post.CLAMP_F, x.args[0], low | high << 16)
    return None


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def _extreme_integer(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Likewise of integers; a clamp has two bounds, of 16 bits."""
    for x, bound in (term.args, term.args[::-1]):
        if not bound.is_word:
            continue
        number, above = _signed(bound.param), term.is_op(Op.IMAX)
        if above and number == 0:
            return pool.post(Post.RELU_I, x)
        other = Op.IMIN if above else Op.IMAX
        low = high = number
        if x.is_post(Post.RELU_I) and not above:
            low, inner = 0, x.args[0]
        elif x.is_op(other) and x.args[1].is_word:
            inner, limit = x.args[0], _signed(x.args[1].param)
            low, high = (number, limit) if above else (limit, number)
        else:
            return None
        if not -0x8000 <= low <= high <= 0x7FFF:
            return None
        return pool.post(Post.CLAMP_I, inner, (low & 0xFFFF) | (high & 0xFFFF) << 16)
    return None


def _not(pool: Pool, term: Term, uses: Uses) -> Term | None:
    [x] = term.args
    if x.is_op(Op.NOT):
        return x.args[0]
    if is_first(x) and x.op in _INVERSE and single(x, uses):
        return pool.op(_INVERSE[x.first], *x.args)
    return None


def _masked(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Choose where one mask does not hold: the complement is left out."""
    for minus, other in (term.args, term.args[::-1]):
        if minus.is_op(Op.NOT) and is_mask(minus.args[0]):
            zero = term.is_op(Op.AND)
            fixed = pool.word(0 if zero else 0xFFFFFFFF)
            if zero:
                return pool.op(Op.SELECT, minus.args[0], fixed, other)
            return pool.op(Op.SELECT, minus.args[0], other, fixed)
    return None


def is_mask(term: Term, depth: int = 8) -> bool:
    """Whether all words of a term are plain to see as 0 or -1."""
    if term.op is Leaf.READ:
        return term.source.dtype is DType.BOOL
    if not is_first(term) or not depth:
        return False
    return term.op in _COMPARISONS or (term.op in (Op.AND, Op.OR, Op.XOR, Op.NOT) and all(
        is_mask(arg, depth - 1) for arg in term.args))


def _select(pool: Pool, term: Term, uses: Uses) -> Term | None:
    mask, a, b = term.args
    if mask.is_word:
        return a if mask.param else b
    if a is b:
        return a
    return pool.op(Op.SELECT, mask.args[0], b, a) if mask.is_op(Op.NOT) else None


_ALWAYS: dict[Op, Callable[[Pool, Term, Uses], Term | None]] = {
    Op.FNEG: _negate, Op.FABS: _abs, Op.FADD: _add, Op.FSUB: _subtract, Op.FMUL: _multiply,
    Op.FMAX: _extreme, Op.FMIN: _extreme, Op.IMAX: _extreme_integer, Op.IMIN: _extreme_integer,
    Op.NOT: _not, Op.SELECT: _select, Op.AND: _masked, Op.OR: _masked,
}
