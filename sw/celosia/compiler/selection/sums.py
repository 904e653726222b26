"""Factoring and reassociation of sums: common factors of two products, sums of whole rows."""

from __future__ import annotations

from celosia.arch.vector import ReduceOp
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.selection.products import factors_of
from celosia.compiler.selection.terms import Pool, Uses, is_made, single
from celosia.kernels.terms import Extent, Term

__all__ = ["chained", "common", "total"]


def common(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Return g * (p + q) for a sum (or difference) g * p + g * q; None where it is no shorter."""
    a, b = term.args
    if term.is_op(Op.FADD):
        found = _regrouped(pool, a, b, uses) or _regrouped(pool, b, a, uses)
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
    inner = _product(pool, rest)
    outer = _product(pool, shared)
    assert inner is not None
    assert outer is not None
    return pool.op(Op.FMUL, outer, pool.op(
        Op.FADD, pool.op(Op.FMUL, inner, pool.fp32(factor)), pool.fp32(shift)))


def chained(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """(c + p) + b is (c + b) + p for a product p that the last sum can take in, and b not."""
    for x, b in (term.args, term.args[::-1]):
        if not (x.is_op(Op.FADD) and single(x, uses)) or _is_taken(b, uses):
            continue
        for c, p in (x.args, x.args[::-1]):
            if _is_taken(p, uses):
                return pool.op(Op.FADD, pool.op(Op.FADD, c, b), p)
    return None


def _is_taken(term: Term, uses: Uses) -> bool:
    """Whether a sum with another stream can take a product in."""
    return (term.is_op(Op.FMUL) and term.extent is Extent.FULL and single(term, uses)
            and not all(arg.is_stream for arg in term.args))


def _regrouped(pool: Pool, x: Term, w: Term, uses: Uses) -> Term | None:
    """(a + z) + w is a + (z + w) where w is a product with z."""
    if not (x.is_op(Op.FADD) and single(x, uses)):
        return None
    for a, z in (x.args, x.args[::-1]):
        found = _factors(w, uses)
        inside = _factors(z, uses)
        if found is None or inside is None or not z.is_op(Op.FMUL) and z not in found[0]:
            continue
        if z in found[0] or (z.is_op(Op.FMUL) and set(inside[0]) < set(found[0])):
            return pool.op(Op.FADD, a, pool.op(Op.FADD, z, w))
    return None


def _factors(term: Term, uses: Uses) -> tuple[list[Term], float] | None:
    """Return the factors of a product that is used once, or of the term itself, and a constant."""
    if not (term.is_op(Op.FMUL) and single(term, uses)):
        return [term], 1.0
    factors, constant = factors_of(term, uses)
    return None if constant is None else (factors, constant)


def _product(pool: Pool, factors: list[Term]) -> Term | None:
    found = None
    for factor in factors:
        found = factor if found is None else pool.op(Op.FMUL, found, factor)
    return found


def total(pool: Pool, term: Term, uses: Uses) -> Term | None:
    """Return a sum of rows whose common factors, and signs, are taken out; None: no rule."""
    [x] = term.args
    if x.is_op(Op.FNEG):
        return pool.op(Op.FNEG, pool.join(ReduceOp.SUM_F, x.args[0]))
    if not x.is_op(Op.FMUL):
        return None
    for inner, factor in (x.args, x.args[::-1]):
        if Extent.LANES in factor.extent or inner.extent is not Extent.FULL:
            continue
        alone = single(inner, uses) and is_made(inner)
        if alone or not single(x, uses):
            return pool.op(Op.FMUL, pool.join(ReduceOp.SUM_F, inner), factor)
    return None
