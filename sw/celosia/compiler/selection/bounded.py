"""Functions as they are selected by default: within the bounds of docs/numerics.md.

Most are those of `celosia.compiler.kernels`, instruction for instruction. Here are those that
have a shorter form which keeps the bound too, where something is known of their operands or of
the use of what they make. What was known is a line of the compiler's report (`Bounded.proofs`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import Extent, Term, step
from celosia.compiler.selection.exact import exact
from celosia.compiler.selection.fast import is_normal, short_tanh, whole_power
from celosia.compiler.selection.notation import div, recip, select, sqrt
from celosia.compiler.selection.pool import Pool
from celosia.compiler.selection.uses import Uses, bare, constant_of
from celosia.graph import Node

__all__ = ["Bounded"]

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
        inverse = _inverse(d.number) if d.is_word else None
        if inverse is not None:
            return n * inverse
        factor = self._late_factor(node, n)
        if factor is None:
            return div(n, d)
        [rest] = [arg for arg in n.args if arg is not factor] or [factor]
        self._because(node, "by one number last: a sum takes that product in, a rounding less "
                            "(while the quotient without it is normal)")
        return div(rest, d) * factor

    def _late_factor(self, node: Node, n: Term) -> Term | None:
        """Return the factor of a numerator that a sum can take in instead: c + s * (x / d).

        Where a sum does so, a rounding is left out. What is multiplied by s last overflows, or is
        flushed, where x / d does: so it is done for one number s only, the rate of an optimiser.
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
        return short_tanh(args[0])

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
            return select(step(Op.FEQ, x, -math.inf), math.inf, sqrt(x + 0.0))
        if not 0 < size <= (_PRODUCTS if y.number > 0 else _QUOTIENTS) or not size.is_integer():
            return exact(pool, "power", x, y)
        # The inverse first: then nothing but the result can overflow or underflow.
        return whole_power(recip(x) if y.number < 0 else x, int(size))


def _inverse(divisor: float) -> float | None:
    """Return the inverse that a quotient is a product with, off by at most one ULP, or None."""
    if not (is_normal(divisor) and is_normal(1 / divisor)):
        return None
    inverse = float(np.float32(1 / divisor))
    close = abs(Fraction(inverse) * Fraction(divisor) - 1) <= Fraction(1, 1 << 25)
    return inverse if close else None
