"""Peephole rules that make terms shorter and round otherwise.

`MERGED` multiplies constants out, and leaves out roundings: what it makes is as exact, but for
multiples of squares, and nothing overflows, or is flushed, where the term is not. `FAST_RULES` does
that too, puts products in order and takes common factors out of sums. `FUSE`, after either,
takes products into sums.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import STREAMS, Extent, Term, join_extents, step, word
from celosia.compiler.selection.fast import is_normal
from celosia.compiler.selection.matching import (
    Rule,
    Rules,
    apart,
    free,
    made,
    marked,
    once,
    shared,
)
from celosia.compiler.selection.notation import (
    both,
    div,
    fma,
    fmulc,
    maximum,
    recip,
    select,
    square,
    total,
)
from celosia.compiler.selection.pool import Pool, UseCounts, is_first, is_made, single, stream_count
from celosia.compiler.selection.products import opposite, product, scaled_product, taken_in
from celosia.compiler.selection.sums import collected, common

__all__ = ["FAST_RULES", "FIXED", "FUSE", "MERGED", "is_fusable"]

#: Beyond this a constant may be there to round what it is added to.
_SMALL = 1024.0
_ARITHMETIC = frozenset({Op.FADD, Op.FSUB, Op.FMUL, Op.FFMA, Op.FMAX, Op.FMIN, Op.FABS, Op.FNEG})
_INTEGER_POSTS = frozenset({Post.F2I, Post.F2I_FLOOR, Post.F2I_TRUNC, Post.RELU_I, Post.CLAMP_I})


def _shift(exact: bool, *summands: tuple[float, float]) -> Term | None:
    """Return a sum of products of numbers that may stand for them; None where it may not.

    ``exact``: it must be an fp32, for what it is added to may be nearly as large. Otherwise the
    second factors must be small.
    """
    if not all(math.isfinite(each) for pair in summands for each in pair):
        return None
    found = sum(Fraction(a) * Fraction(b) for a, b in summands)
    fits = (Fraction(float(np.float32(float(found)))) == found if exact
            else max(abs(b) for _, b in summands) <= _SMALL)
    return word(float(found)) if fits else None


def _is_short(number: float) -> bool:
    """Whether a number has at most 12 significant bits."""
    return math.frexp(number)[0] * 4096 % 1 == 0


def _root(c: Term) -> Term | None:
    """Return the root of a number that squares may be multiplied by before; None: it may not.

    Products with numbers of few bits are exact more often than not, and stay so.
    """
    if not c.number > 0:
        return None
    root = c.number**0.5
    short = _is_short(c.number) and not _is_short(root)
    return word(root) if is_normal(root) and not short else None


def _spreads(term: Term, x: Term, depth: int = 12) -> bool:
    """Whether a term is NaN where x is, as far as is plain to see."""
    if term is x:
        return True
    arithmetic = (term.op in _ARITHMETIC if is_first(term)
                  else is_made(term) and term.post not in _INTEGER_POSTS)
    return depth > 0 and arithmetic and any(_spreads(arg, x, depth - 1) for arg in term.args)


def is_fusable(pool: Pool, term: Term, uses: UseCounts) -> bool:
    """Whether a sum with another stream can take a product in."""
    return (term.is_op(Op.FMUL) and term.extent is Extent.FULL and single(term, uses)
            and not all(arg.is_stream for arg in term.args))


def _fusable(x: Term) -> Term:
    return marked(x, is_fusable)


def _unfusable(x: Term) -> Term:
    return marked(x, lambda pool, term, uses: not is_fusable(pool, term, uses))


def _product_of(c: Term, d: Term) -> Term | None:
    return c * d if is_normal(c.number * d.number) else None


def _chosen(op: Op) -> Rule:
    return Rule(f"leaky relu by {op.name.lower()}",
                lambda x, c, d: select(step(op, x, c), x, x * d), lambda x, c, d: maximum(x, x * d),
                where=lambda x, c, d: c.number == 0 and 0 < d.number < 1)


def _numbers(exact: bool) -> tuple[Rule, ...]:
    """Return the rules that add and multiply numbers out; ``exact``: see `_shift`."""

    def in_sum(x: Term, c: Term, d: Term, e: Term) -> Term | None:
        shift = _shift(exact, (1.0, e.number), (1.0, d.number))
        return fma(x, c, shift) if shift else None

    def in_difference(x: Term, c: Term, d: Term, e: Term) -> Term | None:
        shift = _shift(exact, (1.0, c.number), (-1.0, e.number))
        return fma(x, -d, shift) if shift else None

    def in_multiple(x: Term, c: Term, d: Term, e: Term, c2: Term) -> Term | None:
        shift = _shift(exact, (e.number, d.number), (1.0, c2.number))
        scale = _product_of(c, e)
        if not shift or not scale or (exact and not _shift(True, (c.number, e.number))):
            return None
        return fma(x, scale, shift)

    def of_multiple(x: Term, c: Term, d: Term, y: Term) -> Term | None:
        scale = _product_of(c, d)
        return fma(x, scale, y) if scale else None

    def of_sum(x: Term, c: Term, d: Term, e: Term) -> Term | None:
        shift = _shift(exact, (d.number, c.number), (1.0, e.number))
        return fma(x, d, shift) if shift else None

    return (
        Rule("sum of numbers", lambda x, c, d, e: free(fma(x, c, d)) + e, in_sum),
        Rule("sum with itself", lambda x: x + x, lambda x: x * 2.0, where=lambda x: x.is_stream),
        Rule("difference from a number", lambda x, c: x - c, lambda x, c: x + -c),
        Rule("difference of minus", lambda x, y: once(-x) - y, lambda x, y: -(x + y),
             where=lambda x, y: x.extent is join_extents((x, y))),
        Rule("difference of numbers", lambda x, c, d, e: c - fma(x, d, e), in_difference),
        Rule("once and nothing", lambda x: fma(free(x), 1.0, 0.0), lambda x: x),
        Rule("product with 1 in a sum", lambda x, y: fma(free(x), 1.0, y), lambda x, y: x + y),
        Rule("product with -1 in a sum", lambda x, y: fma(free(x), -1.0, y), lambda x, y: y - x,
             where=lambda x, y: not (y.is_word and y.param == 0)),
        Rule("two minus in a sum", lambda x, y, z: fma(free(-x), -y, z),
             lambda x, y, z: fma(x, y, z)),
        Rule("minus in a sum", lambda x, s, y: fma(free(-x), s, y), lambda x, s, y: fma(x, -s, y),
             where=lambda x, s, y: x.is_stream or s.is_word),
        Rule("multiple of a sum", lambda x, c, d, e, c2: fma(free(fma(x, c, d)), e, c2),
             in_multiple),
        Rule("multiple of a multiple, and more", lambda x, c, d, y: fma(free(once(x * c)), d, y),
             of_multiple),
        Rule("multiple of a shifted term", lambda x, c, d, e: fma(free(once(x + c)), d, e), of_sum),
    )


_OPPOSITES = (
    Rule("minus of a difference", lambda x, y: -once(x - y), lambda x, y: y - x),
    Rule("minus of a product and more", lambda x, s, t: -once(fma(x, s, t)),
         lambda x, s, t: fma(x, -s, -t)),
    Rule("minus of a shifted term", lambda x, c: -once(x + c), lambda x, c: -c - x),
)
_CHOICES = (
    Rule("NaN that stays", lambda x, y, z: select(step(Op.FNE, x, x), y, z), lambda x, y, z: z,
         where=lambda x, y, z: _spreads(y, x) and _spreads(z, x)),
    _chosen(Op.FGT), _chosen(Op.FGE),
)
_ONE = Rule("product with 1", lambda x: made(x) * 1.0, lambda x: x)
_SQUARE = Rule("multiple of a square", lambda x, c: once(square(apart(x))) * c,
               lambda x, c: square(x * root) if (root := _root(c)) else None)
_INVERSE = Rule("inverse of an inverse", lambda x: recip(recip(x)), lambda x: x)

#: The same bits: applied to the inside of functions, too, which nothing else rounds otherwise.
FIXED = Rules(Rule("minus in a function", lambda x, c, y: fma(-x, c, y),
                   lambda x, c, y: fma(x, -c, y)))

MERGED = Rules(
    *_numbers(exact=True), *_OPPOSITES, *_CHOICES, _ONE,
    Rule("multiple of a multiple", lambda x, c, d: once(x * c) * d,
         lambda x, c, d: x * factor if (factor := _product_of(c, d)) else None),
    _SQUARE,
    Rule("half of a sum", lambda x, c: x * c, search=taken_in),
    _INVERSE,
)

FAST_RULES = Rules(
    Rule("sum with 0", lambda x: made(x) + 0.0, lambda x: x),
    *_numbers(exact=False),
    Rule("weights that decay", lambda p, x, s: p - once(x + once(p * s)),
         lambda p, x, s: p * (1.0 - s) - x, where=lambda p, x, s: p.is_stream),
    Rule("weights that grow", lambda p, x, s: p + once(x + once(p * s)),
         lambda p, x, s: p * (1.0 + s) + x, where=lambda p, x, s: p.is_stream),
    Rule("common factor of a sum", lambda x, y: x + y, search=common),
    Rule("common factor of a difference", lambda x, y: x - y, search=common),
    Rule("what is less, together", lambda x, y: x + y, search=collected),
    # Of three summands the last sum takes a product in, and what is none comes before.
    Rule("product to the last sum", lambda x, y, z: once(x + _fusable(y)) + _unfusable(z),
         lambda x, y, z: (x + z) + y),
    Rule("factor of a sum", lambda x, y: x * y, search=scaled_product),
    _ONE,
    Rule("number where a mask holds", lambda m, y: once(select(m, 1.0, 0.0)) * y, both),
    _SQUARE,
    Rule("multiple of an inverse", lambda x, c: once(recip(apart(x))) * c,
         lambda x, c: recip(x * (1 / c.number)),
         where=lambda x, c: is_normal(c.number) and is_normal(1 / c.number)),
    Rule("order of factors", lambda x, y: x * y, search=product),
    Rule("factors in a sum", lambda x, s, t, y: fma(once(x * s), t, y),
         lambda x, s, t, y: fma(x, s * t, y), where=lambda x, s, t, y: x.is_stream),
    *_OPPOSITES,
    Rule("minus into a factor", lambda x, y: -once(x * y), search=opposite),
    *_CHOICES, _INVERSE,
    Rule("inverse of minus", lambda x: recip(-x), lambda x: -recip(x)),
    Rule("inverse of a product", lambda x, s: recip(once(x * s)), lambda x, s: recip(x) * recip(s),
         where=lambda x, s: x.is_stream and not s.is_word),
    Rule("quotient of minus", lambda x, y: div(-x, y), lambda x, y: -div(x, y)),
    # A sum may take in what comes last.
    Rule("quotient of a product", lambda x, s, y: div(once(x * s), y),
         lambda x, s, y: div(x, y) * s, where=lambda x, s, y: x.is_stream),
    Rule("sum of minus", lambda x: total(-x), lambda x: -total(x)),
    Rule("sum of a product that is used again", lambda x, y: total(shared(x * y)),
         lambda x, y: total(x) * y,
         where=lambda x, y: x.extent is Extent.FULL and Extent.LANES not in y.extent),
    Rule("sum of a product", lambda x, y: total(made(once(x)) * y), lambda x, y: total(x) * y,
         where=lambda x, y: x.extent is Extent.FULL and Extent.LANES not in y.extent),
)


def _taken(extent: Extent) -> tuple[Rule, Rule]:
    """Return the rules for products that have elements for ``extent`` at least."""

    def fits(x: Term, y: Term, z: Term) -> bool:
        return extent in join_extents((x, y)) and stream_count((x, y, z)) <= STREAMS

    name = {Extent.FULL: "full ", Extent.ROWS: "stream "}.get(extent, "")
    return (Rule(f"{name}product in a sum", lambda x, y, z: once(x * y) + z, fma, where=fits),
            Rule(f"{name}square in a sum", lambda x, z: once(square(apart(x))) + z,
                 lambda x, z: fma(x, x, z), where=lambda x, z: fits(x, x, z)))


#: Of two products a sum takes in the one of more elements.
FUSE = Rules(
    *_taken(Extent.FULL), *_taken(Extent.ROWS), *_taken(Extent.SCALAR),
    Rule("product taken away", lambda x, y, t: x - once(y * t), lambda x, y, t: fma(y, -t, x)),
    Rule("product taken from what is less", lambda s, x, y: s - once(x * y),
         lambda s, x, y: -fma(x, y, -s)),
    Rule("square taken from what is less", lambda s, x: s - once(square(apart(x))),
         lambda s, x: -fma(x, x, -s)),
    Rule("product less something", lambda x, y, s: once(x * y) - s,
         lambda x, y, s: fma(x, y, -s)),
    Rule("product less a stream", lambda x, t, y: once(x * t) - y,
         lambda x, t, y: -fma(x, -t, y)),
    Rule("product with a complement", lambda x, y: x * once(1.0 - y), fmulc),
)
