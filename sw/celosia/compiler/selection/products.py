"""Reassociation of products: factors of one element first, those last that are no streams.

So what is the same in all rows is multiplied once, and the product with it comes last, where a sum
can take it in. These rules look for factors in products of products, and for sums that take a
factor in, at any depth: they are functions, not patterns.
"""

from __future__ import annotations

import math

from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import Extent, Term, step
from celosia.compiler.selection.fast import is_normal
from celosia.compiler.selection.notation import fma, square
from celosia.compiler.selection.pool import Pool, UseCounts, single

__all__ = ["factors_of", "opposite", "product", "scaled_product", "taken_in"]


def product(pool: Pool, term: Term, uses: UseCounts) -> Term | None:
    """Return an fp32 product with its factors in order; None where it is."""
    factors, constant = factors_of(term, uses)
    if constant is None:
        return None
    groups: dict[Extent, list[Term]] = {
        extent: [] for extent in (Extent.FULL, Extent.ROWS, Extent.LANES, Extent.SCALAR)}
    for factor in factors:
        groups[factor.extent].append(factor)
    small = None
    if abs(constant) != 1:
        small = pool.fp32(constant)
    small = _times(_together(groups[Extent.SCALAR]), small)
    if groups[Extent.ROWS] and groups[Extent.FULL] and small is not None and (
            pool.panels > 1 or any(_is_free(each, uses) for each in groups[Extent.ROWS])):
        groups[Extent.ROWS].append(small)
        small = None
    small = _times(_together(groups[Extent.LANES]), small)
    if small is None and constant == -1 and not (groups[Extent.FULL] or groups[Extent.ROWS]):
        return None
    if not groups[Extent.FULL]:
        found = _times(_together(groups[Extent.ROWS]), small)
    else:
        # What is one element a row goes in before the last factor, which a sum may take.
        found = _times(_together(groups[Extent.FULL]), _together(groups[Extent.ROWS]))
        found = _times(found, small)
    if found is None:
        return pool.fp32(constant)
    if constant == -1:
        found = -found
    return None if found is term else found


def _scaled(x: Term, t: Term, uses: UseCounts) -> Term | None:
    """Return x * t for no more instructions than x takes; None where that is not so.

    ``t`` is the same in all rows, and x is used once. Sums with what is the same in all rows, and
    polynomials, are multiplied term by term.
    """
    if x.is_op(Op.FFMA) and not x.args[2].is_stream:
        a, b, c = x.args
        if not b.is_stream:
            return fma(a, b * t, c * t)
        for each, other in ((a, b), (b, a)):
            inner = _scaled(each, t, uses) if single(each, uses) else None
            if inner is not None:
                return fma(other, inner, c * t)
        return None
    if x.is_op(Op.FADD):
        for a, s in (x.args, x.args[::-1]):
            if not s.is_stream:
                return fma(a, t, s * t)
    if x.is_op(Op.FSUB):
        a, s = x.args
        # Not a difference from the largest, say: what is left of large numbers would be rounding.
        if a.is_word:
            return fma(s, -t, a * t)
    return None


def _is_free(factor: Term, uses: UseCounts) -> bool:
    """Whether a factor of one element a row can take another: 1 / x is 1 / (x / s) for s."""
    return factor.is_post(Post.RECIP) and single(factor, uses)


def _times(a: Term | None, b: Term | None) -> Term | None:
    if a is None or b is None:
        return b if a is None else a
    return a * b


def _together(factors: list[Term]) -> Term | None:
    """Return the product of factors of one extent; two equal ones are a square."""
    found = None
    counts: dict[Term, int] = {}
    for factor in factors:
        counts[factor] = counts.get(factor, 0) + 1
    singles = [factor for factor, count in counts.items() if count % 2]
    pairs = [factor for factor, count in counts.items() for _ in range(count // 2)]
    if pairs:
        root = None
        for factor in pairs:
            root = _times(root, factor)
        assert root is not None
        singles.append(square(root))
    for factor in singles:
        found = _times(found, factor)
    return found


def factors_of(term: Term, uses: UseCounts) -> tuple[list[Term], float | None]:
    """Return what a product is of, and the number that the constants among it make.

    The number is None where an fp32 would not hold it.
    """
    factors, constant, waiting = [], 1.0, list(term.args)
    while waiting:
        factor = waiting.pop(0)
        if factor.is_word:
            if not is_normal(factor.number):
                return [], None
            constant *= factor.number
        elif factor.is_op(Op.FNEG):
            constant = -constant
            waiting.insert(0, factor.args[0])
        elif factor.is_op(Op.FMUL) and (single(factor, uses)
                                        or not factor.is_stream and term.is_stream
                                        and any(arg.is_word for arg in factor.args)):
            waiting[:0] = factor.args
        else:
            factors.append(factor)
    return factors, constant if is_normal(constant) else None


def taken_in(pool: Pool, term: Term, uses: UseCounts) -> Term | None:
    """Return x * c for a power of two c of at most 1 where a sum in x takes it in.

    What is multiplied by it earlier than it was does not overflow for that.
    """
    x, c = term.args
    if not c.is_word or not 2.0**-10 <= abs(c.number) <= 1 or math.frexp(abs(c.number))[0] != 0.5:
        return None
    return _taken_in(pool, x, c, uses)


def _taken_in(pool: Pool, x: Term, y: Term, uses: UseCounts) -> Term | None:
    if not single(x, uses) or x in pool.fixed:
        return None
    if x.is_op(Op.FMUL):
        for inner, other in (x.args, x.args[::-1]):
            found = _taken_in(pool, inner, y, uses)
            if found is not None:
                return found * other
    if x.is_op(Op.FADD) and x.args[1].is_word:
        return fma(x.args[0], y, x.args[1] * y)
    if x.is_op(Op.FSUB) and x.args[0].is_word:
        return fma(x.args[1], -y, x.args[0] * y)
    if x.is_op(Op.FFMA) and x.args[1].is_word and x.args[2].is_word:
        a, b, c = x.args
        return fma(a, b * y, c * y)
    return None


def scaled_product(pool: Pool, term: Term, uses: UseCounts) -> Term | None:
    """(x + s) * t is x * t + s * t where s and t are the same in all rows."""
    for x, t in (term.args, term.args[::-1]):
        if t.is_stream or not x.is_stream or not single(x, uses):
            continue
        found = _scaled(x, t, uses) or _scaled_sum(x, t, uses)
        if found is not None:
            return found
        # Of a product one factor will do.
        if x.is_op(Op.FMUL):
            for inner, other in (x.args, x.args[::-1]):
                found = _scaled(inner, t, uses) if single(inner, uses) else None
                if found is not None:
                    return other * found
        # x + c * x * a is x * (1 + c * a).
        if x.is_op(Op.FFMA) and x.args[0].is_op(Op.FMUL) and not x.args[1].is_stream:
            inner, factor, common = x.args
            if common in inner.args and single(inner, uses):
                [rest] = [arg for arg in inner.args if arg is not common] or [common]
                return common * fma(rest, factor * t, t)
    return None


def _scaled_sum(x: Term, t: Term, uses: UseCounts) -> Term | None:
    """Return a sum of two streams times ``t``, where one of the products costs less."""
    if not x.is_op(Op.FADD, Op.FSUB):
        return None
    a, b = x.args
    # What is left of large numbers would be rounding, and exp makes much of it.
    if x.op is Op.FSUB and (a.extent is not b.extent or t.is_word and abs(t.number) > 1):
        return None
    for each, other in ((a, b), (b, a)):
        factors = each.args if each.is_op(Op.FMUL) and single(each, uses) else ()
        if other.is_stream and any(arg.extent is not Extent.FULL for arg in factors):
            return step(x.first, a * t, b * t)
    return None


def opposite(pool: Pool, term: Term, uses: UseCounts) -> Term | None:
    """Return -(x * y) with the minus in a factor that takes it in at no cost."""
    [x] = term.args
    if not (x.is_op(Op.FMUL) and single(x, uses)):
        return None
    for inner, other in (x.args, x.args[::-1]):
        less = _scaled(inner, pool.fp32(-1.0), uses) if single(inner, uses) else None
        if less is not None:
            return other * less
    return None
