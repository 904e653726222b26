"""Functions as they are selected by default: within the bounds of docs/numerics.md.

Most are those of `celosia.kernels`, instruction for instruction. Here are those that have a
shorter form which keeps the bound too, where something is known of their operands or of the use of
what they make. What was known is a line of the compiler's report (`Bounded.proofs`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.lowered import Extent
from celosia.compiler.selection.bounds import largest
from celosia.compiler.selection.exact import exact
from celosia.compiler.selection.fast import is_normal, short_tanh
from celosia.compiler.selection.terms import Pool, Term
from celosia.compiler.selection.uses import Uses, bare, constant_of
from celosia.graph import Node
from celosia.kernels.trace import clamp_bounds

__all__ = ["Bounded"]

#: The reciprocal of what is beyond this is flushed.
_INVERTIBLE = 2.0**126
#: Divisors up to here leave the lower part of their inverse normal.
_SHORT_OF_FLUSHING = 2.0**90
#: Functions of `celosia.kernels` that are at least half an ULP better than they are stated.
_SPARE = frozenset({"exp", "expm1", "log", "log1p", "erf"})
#: Integer exponents up to this one are products, and down to minus this one products of inverses.
_PRODUCTS, _QUOTIENTS = 8, 4


class Bounded:
    """The rules, for the clusters of one graph.

    Attributes
    ----------
    proofs
        Of each operation that has a shorter form: why that keeps the bound, as a sentence.
    """

    def __init__(self, uses: Uses | None = None):
        self.uses = uses or Uses()
        self.proofs: dict[Node, str] = {}
        #: By operation of the graph.
        self.rules: Mapping[str, Callable[[Pool, Node, list[Term]], Term]] = {
            "divide": self._divide, "tanh": self._tanh, "power": self._power}

    def _because(self, node: Node, reason: str) -> None:
        self.proofs[node] = f"{node.source}: {node.op}: {reason}"

    def _divide(self, pool: Pool, node: Node, args: list[Term]) -> Term:
        n, d = args
        if d.is_word and is_normal(d.number) and is_normal(1 / d.number):
            return _by_constant(pool, n, d.number)
        numerator, divisor = node.operands
        if n.is_word and 0 < abs(n.number) <= 1 and math.frexp(n.number)[0] in (0.5, -0.5):
            # Off by less than one ULP; what a divisor beyond 2**126 makes is subnormal.
            inverse = pool.post(Post.RECIP, d)
            return inverse if n.number == 1 else pool.op(Op.FMUL, inverse, n)
        size = largest(divisor)
        if size <= _INVERTIBLE:
            inverse = pool.post(Post.RECIP, d)
            if numerator.node.op in _SPARE:
                self._because(node, f"times 1 / x for abs(x) <= {size:.4g}: {numerator.node.op} "
                                    "leaves more than half an ULP of its bound")
                return pool.op(Op.FMUL, n, inverse)
            if self._is_scaled_in_a_sum(node):
                self._because(node, f"times 1 / x for abs(x) <= {size:.4g}: a sum takes in the "
                                    "product of it with one number, a rounding less")
                return pool.op(Op.FMUL, n, inverse)
            factor = self._late_factor(node, n)
            if factor is not None:
                [rest] = [arg for arg in n.args if arg is not factor] or [factor]
                self._because(node, f"times 1 / x for abs(x) <= {size:.4g}, then by one number: "
                                    "a sum takes that product in, a rounding less "
                                    "(while the quotient without it is normal)")
                return pool.op(Op.FMUL, pool.op(Op.FMUL, rest, inverse), factor)
        if d.extent is not n.extent and n.extent is Extent.FULL:
            return _by_less(pool, n, d, size <= _SHORT_OF_FLUSHING)
        return exact(pool, "divide", n, d)

    def _is_scaled_in_a_sum(self, node: Node) -> bool:
        """Whether a quotient is only multiplied by one number, and that used in a sum only.

        The sum takes the product in: quotient and product round by 1.4 ULP, not by 1.5.
        """
        scaled = self.uses.only(node.result)
        if scaled is None or scaled.op != "multiply" or node.result.type.size == 1:
            return False
        total = self.uses.only(scaled.result)
        others = [bare(each) for each in scaled.operands if bare(each) != node.result]
        return (total is not None and total.op in ("add", "subtract") and len(others) == 1
                and others[0].type.size == 1)

    def _late_factor(self, node: Node, n: Term) -> Term | None:
        """Return the factor of a numerator that a sum can take in instead: c + s * (x / d).

        Where a sum does so, the quotient and the product round by 1.4 ULP, not by 1.5. What is
        multiplied by s last overflows, or is flushed, where x / d does: so it is done for one
        number s only, the rate of an optimiser.
        """
        use = self.uses.only(node.result)
        if (use is None or use.op not in ("add", "subtract") or not n.is_op(Op.FMUL)
                or n.extent is not Extent.FULL
                or self.uses.only(node.operands[0]) is not node):
            return None
        return next((arg for arg in n.args if arg.extent is Extent.SCALAR), None)

    def _tanh(self, pool: Pool, node: Node, args: list[Term]) -> Term:
        users = self.uses.of(node.result)
        least = min((abs(self._added(user, node)) for user in users or ()), default=0.0)
        if least < 0.5:
            return exact(pool, "tanh", *args)
        self._because(node, f"only sums with constants from {least:g} on use it, and 2**-22 is "
                            "4 ULP of 1")
        return short_tanh(pool, args[0])

    def _added(self, user: Node, node: Node) -> float:
        """Return the constant that a sum adds to the node's result; 0 where it is no such sum.

        x * t + x is a sum of t and 1.
        """
        if user.op == "multiply":
            others = [each for each in user.operands if bare(each) != node.result]
            total = self.uses.only(user.result)
            if (len(others) == 1 and total is not None and total.op in ("add", "subtract")
                    and others[0] in total.operands):
                return 1.0
        if user.op not in ("add", "subtract"):
            return 0.0
        numbers = [constant_of(each) for each in user.operands]
        found = [number for number in numbers if number is not None]
        return found[0] if len(found) == 1 else 0.0

    def _power(self, pool: Pool, node: Node, args: list[Term]) -> Term:
        x, y = args
        size = abs(y.number) if y.is_word else 0.0
        if size == 0.5 and y.number > 0:
            # As C has it, a power of -0 is +0, and of -inf it is inf.
            root = pool.post(Post.SQRT, pool.op(Op.FADD, x, pool.fp32(0.0)))
            infinite = pool.op(Op.FEQ, x, pool.fp32(-math.inf))
            return pool.op(Op.SELECT, infinite, pool.fp32(math.inf), root)
        if not 0 < size <= (_PRODUCTS if y.number > 0 else _QUOTIENTS) or not size.is_integer():
            return exact(pool, "power", x, y)
        # The inverse first: then nothing but the result can overflow or underflow.
        square, whole = pool.post(Post.RECIP, x) if y.number < 0 else x, int(size)
        product = None
        while whole:
            if whole & 1:
                product = square if product is None else pool.op(Op.FMUL, product, square)
            whole >>= 1
            square = pool.post(Post.SQUARE, square)
        assert product is not None
        return product


def _by_constant(pool: Pool, n: Term, divisor: float) -> Term:
    """Return a quotient by a number that has a normal inverse: off by at most one ULP.

    One product where the inverse is next to an fp32, else the product with what is left of it
    is added; that part has the sign of the other, so that an infinity meets none of another sign.
    """
    inverse = float(np.float32(1 / divisor))
    if abs(Fraction(inverse) * Fraction(divisor) - 1) <= Fraction(1, 1 << 25):
        return pool.op(Op.FMUL, n, pool.fp32(inverse))
    if abs(Fraction(inverse)) > abs(1 / Fraction(divisor)):
        inverse = float(np.nextafter(np.float32(inverse), np.float32(0)))
    rest = float(1 / Fraction(divisor) - Fraction(inverse))
    if not (is_normal(inverse) and is_normal(rest)):
        return exact(pool, "divide", n, pool.fp32(divisor))
    return _sum_of_parts(pool, n, pool.fp32(inverse), pool.fp32(rest))


def _fixed(pool: Pool, term: Term) -> Term:
    """Return a term that rules leave as it is, its operands too."""
    pool.fixed.update((term, *term.args))
    return term


def _by_less(pool: Pool, n: Term, d: Term, moderate: bool) -> Term:
    """Return a quotient by what has fewer elements: n * (r + l) with 1 / d in two parts.

    ``moderate``: the divisor is known to be no larger than `_SHORT_OF_FLUSHING`; else both are
    scaled. Both parts have the sign of the divisor, so a zero keeps its sign. The clamp and the
    choice are for zeros and infinities: l is no zero but where d is infinite, and its product with
    an infinity is finite.
    """
    if not moderate:
        huge = pool.op(Op.FGT, pool.op(Op.FABS, d), pool.fp32(_SHORT_OF_FLUSHING))
        scale = pool.op(Op.SELECT, huge, pool.fp32(2.0**-64), pool.fp32(1.0))
        n, d = pool.op(Op.FMUL, n, scale), pool.op(Op.FMUL, d, scale)
    inverse = pool.post(Post.RECIP, d)
    minus = pool.op(Op.FNEG, d)
    above = pool.op(Op.FLT, pool.op(Op.FFMA, minus, inverse, pool.fp32(1.0)), pool.fp32(0.0))
    inverse = pool.op(Op.IADD, inverse, above)  # a mask is minus one
    rest = pool.op(Op.FMUL, inverse, pool.op(Op.FFMA, minus, inverse, pool.fp32(1.0)))
    rest = pool.op(Op.SELECT, pool.op(Op.FGT, pool.op(Op.FABS, rest), pool.fp32(0.0)), rest,
                   pool.op(Op.FMUL, inverse, pool.fp32(2.0**-32)))
    return _sum_of_parts(pool, n, inverse, rest)


def _sum_of_parts(pool: Pool, n: Term, inverse: Term, rest: Term) -> Term:
    """Return n * (inverse + rest): two roundings of half an ULP.

    The smaller product is not rounded, and not flushed, but where the parts are streams.
    """
    product = pool.op(Op.FMUL, n, inverse)
    if not rest.is_stream:
        return _fixed(pool, pool.op(Op.FFMA, n, rest, product))
    lower = pool.post(Post.CLAMP_F, pool.op(Op.FMUL, n, rest), clamp_bounds(-2.0**126, 2.0**126))
    return _fixed(pool, pool.op(Op.FADD, product, lower))
