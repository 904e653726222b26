"""Factoring and reassociation of sums.

These rules compare factors of two products, or look into sums of sums: they are functions, not
patterns.
"""

from __future__ import annotations

import functools
import operator

from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import Extent, Term
from celosia.compiler.selection.pool import Pool, UseCounts, single
from celosia.compiler.selection.products import factors_of

__all__ = ["collected", "common"]


def common(pool: Pool, term: Term, uses: UseCounts) -> Term | None:
    """Return g * (p + q) for a sum (or difference) g * p + g * q; None where it is no shorter."""
    a, b = term.args
    if term.is_op(Op.FADD):
        found = _regrouped(a, b, uses) or _regrouped(b, a, uses)
        if found is not None:
            return found
    (left, right), (first, second) = (_factors(a, uses), _factors(b, uses)), (1.0, 1.0)
    if left is None or right is None:
        return None
    (ps, first), (qs, second) = left, right
    shared = []
    for factor in list(ps):
        if factor.extent is Extent.FULL and factor in qs:
            shared.append(factor)
            ps.remove(factor)
            qs.remove(factor)
    # One of the products must be nothing else, so that the sum is one with a constant.
    if not shared or (ps and qs):
        return None
    if term.is_op(Op.FSUB):
        second = -second
    rest, factor, shift = (ps, first, second) if ps else (qs, second, first)
    if not any(each.extent is Extent.FULL for each in rest):
        return None
    inner, outer = _product(rest), _product(shared)
    return outer * (inner * factor + shift)


def _regrouped(x: Term, w: Term, uses: UseCounts) -> Term | None:
    """(a + z) + w is a + (z + w) where w is a product with z."""
    if not (x.is_op(Op.FADD) and single(x, uses)):
        return None
    for a, z in (x.args, x.args[::-1]):
        found = _factors(w, uses)
        inside = _factors(z, uses)
        if found is None or inside is None or not z.is_op(Op.FMUL) and z not in found[0]:
            continue
        if z in found[0] or (z.is_op(Op.FMUL) and set(inside[0]) < set(found[0])):
            return a + (z + w)
    return None


def _factors(term: Term, uses: UseCounts) -> tuple[list[Term], float] | None:
    """Return the factors of a product that is used once, or of the term itself, and a constant."""
    if not (term.is_op(Op.FMUL) and single(term, uses)):
        return [term], 1.0
    factors, constant = factors_of(term, uses)
    return None if constant is None else (factors, constant)


def _product(factors: list[Term]) -> Term:
    return functools.reduce(operator.mul, factors)


def collected(pool: Pool, term: Term, uses: UseCounts) -> Term | None:
    """(x + s) + t is x + (s + t) where s and t are less than x; constants stay."""
    for x, t in (term.args, term.args[::-1]):
        if x.extent is not Extent.FULL or t.extent is Extent.FULL or t.is_word:
            continue
        found = _parted(x, uses)
        if found is not None:
            rest, s = found
            return rest + (s + t)
    return None


def _parted(x: Term, uses: UseCounts, depth: int = 3) -> tuple[Term, Term] | None:
    """Return two terms whose sum is x, the second of less elements; None: x is no such sum."""
    if not (x.is_op(Op.FADD) and single(x, uses)) or not depth:
        return None
    for a, s in (x.args, x.args[::-1]):
        if a.extent is Extent.FULL and s.extent is not Extent.FULL and not s.is_word:
            return a, s
    for a, b in (x.args, x.args[::-1]):
        found = _parted(b, uses, depth - 1)
        if found is not None:
            return a + found[0], found[1]
    return None
