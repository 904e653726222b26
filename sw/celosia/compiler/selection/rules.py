"""Peephole rules that make terms shorter and round otherwise.

`merged` multiplies constants out, and leaves out roundings; `fast` does that too, puts products in
order and takes common factors out of sums; `fuse`, after either, takes products into sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from celosia.arch.vector import Post, ReduceOp
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.selection.fast import is_normal
from celosia.compiler.selection.products import product, scaled
from celosia.compiler.selection.sums import chained, common, total
from celosia.compiler.selection.terms import (
    Pool,
    Uses,
    is_first,
    is_made,
    merges,
    single,
    streams,
)
from celosia.kernels.terms import STREAMS, Extent, Term

__all__ = ["fast", "fuse", "merged"]

#: Beyond this a constant may be there to round what it is added to.
_SMALL = 1024.0


def fast(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Return a shorter term that rounds otherwise; None: no rule."""
    rule = _FAST.get(term.first) if is_first(term) else None
    if rule is not None:
        return rule(pool, term, uses)
    if term.is_post(Post.RECIP):
        return _reciprocal(pool, term, uses)
    if term.is_post(Post.DIV):
        return _quotient(pool, term, uses)
    return total(pool, term, uses) if term.reduce and term.reduce_op is ReduceOp.SUM_F else None


def merged(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Return a shorter term that is as exact, but for multiples of squares; None: no rule.

    Nothing that it makes overflows, or is flushed, where the term is not.
    """
    if term in pool.fixed:
        return _sign_moved(pool, term)
    rule = _MERGED.get(term.first) if is_first(term) else None
    if rule is not None:
        return rule(pool, term, uses)
    if term.is_post(Post.RECIP) and term.args[0].is_post(Post.RECIP):
        return term.args[0].args[0]
    return None


def _shift(exact: bool, *summands: tuple[float, float]) -> float | None:
    """Return a sum of products of numbers that may stand for them; None where it may not.

    ``exact``: it must be an fp32, for what it is added to may be nearly as large. Otherwise the
    second factors must be small.
    """
    if not all(math.isfinite(each) for pair in summands for each in pair):
        return None
    total = sum(Fraction(a) * Fraction(b) for a, b in summands)
    if exact:
        return float(total) if Fraction(float(np.float32(float(total)))) == total else None
    return float(total) if max(abs(b) for _, b in summands) <= _SMALL else None


def _small(*terms: Term) -> bool:
    return not any(term.is_stream for term in terms)


def _minus(pool: Pool, term: Term) -> Term:
    return pool.op(Op.FNEG, term)


def _merged_sum(pool: Pool, term: Term, uses: Uses, exact: bool = True) -> Term | None:
    a, b = term.args
    for x, y in ((a, b), (b, a)):
        if y.is_word and x not in pool.fixed and (
                x.is_op(Op.FFMA) and x.args[1].is_word and x.args[2].is_word):
            shift = _shift(exact, (1.0, y.number), (1.0, x.args[2].number))
            if shift is not None:
                return pool.op(Op.FFMA, *x.args[:2], pool.fp32(shift))
    return pool.op(Op.FMUL, a, pool.fp32(2.0)) if a is b and a.is_stream else None


def _sum(pool: Pool, term: Term, uses: Uses) -> Term | None:
    a, b = term.args
    for x, y in ((a, b), (b, a)):
        if y.is_word and y.param == 0 and is_made(x):
            return x
    found = _merged_sum(pool, term, uses, exact=False)
    if found is not None:
        return found
    for rule in (_decayed, common, _collected, chained):
        found = rule(pool, term, uses)
        if found is not None:
            return found
    return None


def _fused(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Take a product, or a square, into a sum; of two the one of more elements."""
    order = sorted((term.args, term.args[::-1]), key=lambda pair: not pair[0].is_stream)
    order.sort(key=lambda pair: pair[0].extent is not Extent.FULL)
    for x, rest in order:
        if not single(x, uses):
            continue
        if x.is_op(Op.FMUL) and streams((*x.args, rest)) <= STREAMS:
            return pool.op(Op.FFMA, *_ordered(*x.args), rest)
        if x.is_post(Post.SQUARE) and not merges(x.args[0], uses):
            [root] = x.args
            if streams((root, root, rest)) <= STREAMS:
                return pool.op(Op.FFMA, root, root, rest)
    return None


def _ordered(a: Term, b: Term) -> tuple[Term, Term]:
    """Put the factor first that is a stream."""
    return (b, a) if b.is_stream and not a.is_stream else (a, b)


def _collected(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """(x + s) + t is x + (s + t) where s and t are less than x; constants stay."""
    for x, t in (term.args, term.args[::-1]):
        if x.extent is not Extent.FULL or t.extent is Extent.FULL or t.is_word:
            continue
        found = _parted(pool, x, uses)
        if found is not None:
            rest, s = found
            return pool.op(Op.FADD, rest, pool.op(Op.FADD, s, t))
    return None


def _parted(pool: Pool, x: Term, uses: Uses, depth: int = 3) -> tuple[Term, Term] | None:
    """Return two terms whose sum is x, the second of less elements; None: x is no such sum."""
    if not (x.is_op(Op.FADD) and single(x, uses)) or not depth:
        return None
    for a, s in (x.args, x.args[::-1]):
        if a.extent is Extent.FULL and s.extent is not Extent.FULL and not s.is_word:
            return a, s
    for a, b in (x.args, x.args[::-1]):
        found = _parted(pool, b, uses, depth - 1)
        if found is not None:
            return pool.op(Op.FADD, a, found[0]), found[1]
    return None


def _difference(pool: Pool, term: Term, uses: Uses) -> Term | None:
    return _merged_difference(pool, term, uses, exact=False) or (
        _decayed(pool, term, uses) or common(pool, term, uses))


def _merged_difference(pool: Pool, term: Term, uses: Uses, exact: bool = True) -> Term | None:
    a, b = term.args
    if b.is_word:
        return pool.op(Op.FADD, a, _minus(pool, b))
    if a.is_op(Op.FNEG) and single(a, uses) and a.extent is term.extent:
        return _minus(pool, pool.op(Op.FADD, a.args[0], b))
    if a.is_word and b.is_op(Op.FFMA) and b.args[1].is_word and b.args[2].is_word:
        x, factor, shift = b.args
        rest = _shift(exact, (1.0, a.number), (-1.0, shift.number))
        if rest is not None:
            return pool.op(Op.FFMA, x, _minus(pool, factor), pool.fp32(rest))
    return None


def _decayed(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """P - (x + p * s) is p * (1 - s) - x for s that is the same in all rows: weights that decay."""
    code = term.first
    pairs = (term.args,) if code is Op.FSUB else (term.args, term.args[::-1])
    for p, rest in pairs:
        if not (rest.is_op(Op.FADD) and single(rest, uses) and p.is_stream):
            continue
        for x, y in (rest.args, rest.args[::-1]):
            if not (y.is_op(Op.FMUL) and single(y, uses) and p in y.args):
                continue
            [s] = [arg for arg in y.args if arg is not p] or [p]
            if _small(s):
                return pool.op(code, pool.op(Op.FMUL, p, pool.op(code, pool.fp32(1.0), s)), x)
    return None


def fuse(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Return a sum or a difference with a product taken in; None: there is none to take in."""
    if term in pool.fixed:
        return None
    if term.is_op(Op.FADD):
        return _fused(pool, term, uses)
    if not term.is_op(Op.FSUB):
        return None
    a, b = term.args
    if b.is_op(Op.FMUL) and single(b, uses):
        x, y = _ordered(*b.args)
        if _small(y) and streams((x, a)) <= STREAMS:
            return pool.op(Op.FFMA, x, _minus(pool, y), a)
        if _small(a):
            return _minus(pool, pool.op(Op.FFMA, x, y, _minus(pool, a)))
    if b.is_post(Post.SQUARE) and single(b, uses) and _small(a) and not merges(b.args[0], uses):
        return _minus(pool, pool.op(Op.FFMA, b.args[0], b.args[0], _minus(pool, a)))
    if a.is_op(Op.FMUL) and single(a, uses):
        x, y = _ordered(*a.args)
        if _small(b):
            return pool.op(Op.FFMA, x, y, _minus(pool, b))
        if _small(y) and streams((x, b)) <= STREAMS:
            return _minus(pool, pool.op(Op.FFMA, x, _minus(pool, y), b))
    return None


def _sign_moved(pool: Pool, term: Term) -> Term | None:
    """Return a * -b + c for -a * b + c with a number b: the same bits."""
    if not (term.is_op(Op.FFMA) and term.args[0].is_op(Op.FNEG) and term.args[1].is_word):
        return None
    found = pool.op(Op.FFMA, term.args[0].args[0], _minus(pool, term.args[1]), term.args[2])
    pool.fixed.add(found)
    return found


def _fma(pool: Pool, term: Term, uses: Uses) -> Term | None:
    found = _merged_fma(pool, term, uses, exact=False)
    a, b, c = term.args
    if found is None and a.is_op(Op.FMUL) and single(a, uses) and (
            _small(a.args[1], b) and a.is_stream):
        return pool.op(Op.FFMA, a.args[0], pool.op(Op.FMUL, a.args[1], b), c)
    return found


def _merged_fma(pool: Pool, term: Term, uses: Uses, exact: bool = True) -> Term | None:
    a, b, c = term.args
    if a in pool.fixed:
        return None
    if b.is_word and abs(b.number) == 1 and not (c.is_word and c.param == 0):
        return pool.op(Op.FADD, a, c) if b.number > 0 else pool.op(Op.FSUB, c, a)
    if a.is_op(Op.FNEG) and (b.is_word or b.is_op(Op.FNEG) or not b.is_stream):
        return pool.op(Op.FFMA, a.args[0], _minus(pool, b), c)
    if b.is_op(Op.FNEG) and a.is_op(Op.FNEG):
        return pool.op(Op.FFMA, a.args[0], b.args[0], c)
    if c.is_word and b.is_word and a.is_op(Op.FFMA) and a.args[1].is_word and a.args[2].is_word:
        x, factor, inner = a.args
        shift = _shift(exact, (b.number, inner.number), (1.0, c.number))
        scale = factor.number * b.number
        if shift is not None and is_normal(scale) and not (
                exact and _shift(True, (factor.number, b.number)) is None):
            return pool.op(Op.FFMA, x, pool.fp32(scale), pool.fp32(shift))
    if c.is_word and c.param == 0 and b.is_word and b.number == 1:
        return a
    if b.is_word and a.is_op(Op.FMUL) and single(a, uses) and a.args[1].is_word and (
            is_normal(a.args[1].number * b.number)):
        return pool.op(Op.FFMA, a.args[0], pool.op(Op.FMUL, a.args[1], b), c)
    if c.is_word and b.is_word and a.is_op(Op.FADD) and single(a, uses) and a.args[1].is_word:
        shift = _shift(exact, (b.number, a.args[1].number), (1.0, c.number))
        if shift is not None:
            return pool.op(Op.FFMA, a.args[0], b, pool.fp32(shift))
    return None


def _opposite(pool: Pool, term: Term, uses: Uses) -> Term | None:
    found = _merged_opposite(pool, term, uses)
    [x] = term.args
    if found is None and x.is_op(Op.FMUL) and single(x, uses):
        for inner, other in (x.args, x.args[::-1]):
            less = scaled(pool, inner, pool.fp32(-1.0), uses) if single(inner, uses) else None
            if less is not None:
                return pool.op(Op.FMUL, other, less)
    return found


def _merged_opposite(pool: Pool, term: Term, uses: Uses) -> Term | None:
    [x] = term.args
    if not single(x, uses):
        return None
    if x.is_op(Op.FSUB):
        return pool.op(Op.FSUB, x.args[1], x.args[0])
    if x.is_op(Op.FFMA) and _small(*x.args[1:]):
        a, b, c = x.args
        return pool.op(Op.FFMA, a, _minus(pool, b), _minus(pool, c))
    if x.is_op(Op.FADD) and x.args[1].is_word:
        return pool.op(Op.FSUB, _minus(pool, x.args[1]), x.args[0])
    return None


def _merged_product(pool: Pool, term: Term, uses: Uses) -> Term | None:
    a, b = term.args
    for x, y in ((a, b), (b, a)):
        if y.is_word and y.number == 1 and is_made(x):
            return x
        if y.is_word and x.is_op(Op.FMUL) and single(x, uses) and x.args[1].is_word:
            constant = y.number * x.args[1].number
            if is_normal(constant):
                return pool.op(Op.FMUL, x.args[0], pool.fp32(constant))
        found = _scaled_square(pool, x, y, uses)
        if found is None and y.is_word and 2.0**-10 <= abs(y.number) <= 1 and (
                math.frexp(abs(y.number))[0] == 0.5):
            found = _taken_in(pool, x, y, uses)
        if found is not None:
            return found
    return None


def _taken_in(pool: Pool, x: Term, y: Term, uses: Uses) -> Term | None:
    """Return x * y for a power of two of at most 1, where a factor of x is a sum that takes it in.

    What is multiplied by it earlier than it was does not overflow for that.
    """
    if not single(x, uses) or x in pool.fixed:
        return None
    if x.is_op(Op.FMUL):
        for inner, other in (x.args, x.args[::-1]):
            found = _taken_in(pool, inner, y, uses)
            if found is not None:
                return pool.op(Op.FMUL, found, other)
    if x.is_op(Op.FADD) and x.args[1].is_word:
        return pool.op(Op.FFMA, x.args[0], y, pool.op(Op.FMUL, x.args[1], y))
    if x.is_op(Op.FSUB) and x.args[0].is_word:
        return pool.op(Op.FFMA, x.args[1], _minus(pool, y), pool.op(Op.FMUL, x.args[0], y))
    if x.is_op(Op.FFMA) and x.args[1].is_word and x.args[2].is_word:
        a, b, c = x.args
        return pool.op(Op.FFMA, a, pool.op(Op.FMUL, b, y), pool.op(Op.FMUL, c, y))
    return None


def _scaled_square(pool: Pool, x: Term, y: Term, uses: Uses) -> Term | None:
    """Return the square of a multiple for the multiple of a square."""
    if not (y.is_word and x.is_post(Post.SQUARE) and single(x, uses) and y.number > 0):
        return None
    [root] = x.args
    scale = y.number**0.5
    # Products with numbers of few bits are exact more often than not, and stay so.
    if merges(root, uses) or not is_normal(scale) or (
            _is_short(y.number) and not _is_short(scale)):
        return None
    return pool.post(Post.SQUARE, pool.op(Op.FMUL, root, pool.fp32(scale)))


def _scaled(pool: Pool, term: Term, uses: Uses) -> Term | None:
    a, b = term.args
    found = _distributed(pool, term, uses)
    if found is not None:
        return found
    for x, y in ((a, b), (b, a)):
        if y.is_word and y.number == 1 and is_made(x):
            return x
        # The number 1 where a mask holds, else 0.
        if x.is_op(Op.SELECT) and single(x, uses) and x.args[1].is_word and x.args[2].is_word:
            mask, one, zero = x.args
            if one.number == 1 and zero.param == 0:
                return pool.op(Op.AND, mask, y)
        found = _scaled_square(pool, x, y, uses)
        if found is not None:
            return found
        if y.is_word and x.is_post(Post.RECIP) and single(x, uses) and is_normal(y.number):
            [below] = x.args
            if not merges(below, uses) and is_normal(1 / y.number):
                return pool.post(Post.RECIP,
                                 pool.op(Op.FMUL, below, pool.fp32(1 / y.number)))
    return product(pool, term, uses)


def _is_short(number: float) -> bool:
    """Whether a number has at most 12 significant bits."""
    return math.frexp(number)[0] * 4096 % 1 == 0


def _distributed(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """(x + s) * t is x * t + s * t where s and t are the same in all rows."""
    for x, t in (term.args, term.args[::-1]):
        if not (_small(t) and x.is_stream and single(x, uses)):
            continue
        found = scaled(pool, x, t, uses) or _scaled_sum(pool, x, t, uses)
        if found is not None:
            return found
        # Of a product one factor will do.
        if x.is_op(Op.FMUL):
            for inner, other in (x.args, x.args[::-1]):
                found = scaled(pool, inner, t, uses) if single(inner, uses) else None
                if found is not None:
                    return pool.op(Op.FMUL, other, found)
        # x + c * x * a is x * (1 + c * a).
        if x.is_op(Op.FFMA) and x.args[0].is_op(Op.FMUL) and _small(x.args[1]):
            inner, factor, common = x.args
            if common in inner.args and single(inner, uses):
                [rest] = [arg for arg in inner.args if arg is not common] or [common]
                return pool.op(Op.FMUL, common,
                               pool.op(Op.FFMA, rest, pool.op(Op.FMUL, factor, t), t))
    return None


def _scaled_sum(pool: Pool, x: Term, t: Term, uses: Uses) -> Term | None:
    """Return a sum of two streams times ``t``, where one of the products costs less."""
    if not x.is_op(Op.FADD, Op.FSUB):
        return None
    code = x.first
    a, b = x.args
    # What is left of large numbers would be rounding, and exp makes much of it.
    if code is Op.FSUB and (a.extent is not b.extent or t.is_word and abs(t.number) > 1):
        return None
    for each, other in ((a, b), (b, a)):
        factors = each.args if each.is_op(Op.FMUL) and single(each, uses) else ()
        if other.is_stream and any(arg.extent is not Extent.FULL for arg in factors):
            return pool.op(code, pool.op(Op.FMUL, a, t), pool.op(Op.FMUL, b, t))
    return None


def _reciprocal(pool: Pool, term: Term, uses: Uses) -> Term | None:
    [x] = term.args
    if x.is_post(Post.RECIP):
        return x.args[0]
    if x.is_op(Op.FNEG):
        return _minus(pool, pool.post(Post.RECIP, x.args[0]))
    if x.is_op(Op.FMUL) and single(x, uses) and x.is_stream:
        a, b = _ordered(*x.args)
        if _small(b) and not b.is_word:
            return pool.op(Op.FMUL, pool.post(Post.RECIP, a), pool.post(Post.RECIP, b))
    return None


def _quotient(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Multiply a quotient last by what is the same in all rows: a sum may take that in."""
    divisor, x = term.args
    if x.is_op(Op.FNEG):
        return _minus(pool, pool.div(x.args[0], divisor))
    if x.is_op(Op.FMUL) and single(x, uses):
        a, b = _ordered(*x.args)
        if _small(b) and a.is_stream:
            return pool.op(Op.FMUL, pool.div(a, divisor), b)
    return None


def _choice(pool: Pool, term: Term, uses: Uses) -> Term | None:
    mask, a, b = term.args
    # Where x is NaN, what is computed of it is.
    if mask.is_op(Op.FNE) and mask.args[0] is mask.args[1]:
        [x, _] = mask.args
        if _spreads(a, x) and _spreads(b, x):
            return b
    # x where x > 0, else k * x: the larger of them for k from 0 to 1.
    if mask.is_op(Op.FGT, Op.FGE) and mask.args[0] is a and mask.args[1].is_word and (
            mask.args[1].number == 0 and b.is_op(Op.FMUL) and b.args[0] is a
            and b.args[1].is_word and 0 < b.args[1].number < 1):
        return pool.op(Op.FMAX, a, b)
    return None


def _spreads(term: Term, x: Term, depth: int = 12) -> bool:
    """Whether a term is NaN where x is, as far as is plain to see."""
    if term is x:
        return True
    arithmetic = (is_first(term) and term.op in _ARITHMETIC) or (
        is_made(term) and term.post and term.post not in _INTEGER_POSTS)
    return depth > 0 and bool(arithmetic) and any(_spreads(arg, x, depth - 1) for arg in term.args)


_ARITHMETIC = frozenset({Op.FADD, Op.FSUB, Op.FMUL, Op.FFMA, Op.FMAX, Op.FMIN, Op.FABS, Op.FNEG})
_INTEGER_POSTS = frozenset({Post.F2I, Post.F2I_FLOOR, Post.F2I_TRUNC, Post.RELU_I, Post.CLAMP_I})
_MERGED: dict[Op, Callable[[Pool, Term, Uses], Term | None]] = {
    Op.FADD: _merged_sum, Op.FSUB: _merged_difference, Op.FMUL: _merged_product,
    Op.FFMA: _merged_fma, Op.FNEG: _merged_opposite, Op.SELECT: _choice,
}
_FAST: dict[Op, Callable[[Pool, Term, Uses], Term | None]] = {
    Op.FADD: _sum, Op.FSUB: _difference, Op.FMUL: _scaled, Op.FFMA: _fma, Op.FNEG: _opposite,
    Op.SELECT: _choice,
}
