"""Inlining of the functions of `celosia.compiler.kernels`, instruction for instruction."""

from __future__ import annotations

from collections.abc import Callable

from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.compiler.kernels.terms import Term, recording
from celosia.compiler.levels import FUNCTIONS
from celosia.compiler.selection.pool import Pool

__all__ = ["exact", "inline"]


class _Fixed:
    """Records the instructions of a function as they are: no rule rounds them otherwise."""

    def __init__(self, pool: Pool):
        self.pool = pool

    def step(self, op: VectorOp, args: tuple[Term, ...], post: Post, param: int, reduce: Reduce,
             reduce_op: ReduceOp) -> Term:
        term = self.pool.step(op, args, post, param, reduce, reduce_op)
        self.pool.fixed.add(term)
        if post and op is not VectorOp.MOV and term.args:
            self.pool.fixed.add(term.args[0])
        return term


def exact(pool: Pool, op: str, *args: Term) -> Term:
    """Return the term of an operation of `celosia.compiler.levels.FUNCTIONS`."""
    return inline(pool, FUNCTIONS[op], *args)


def inline(pool: Pool, function: Callable[..., Term], *args: Term) -> Term:
    """Return what a function makes of some terms."""
    with recording(_Fixed(pool)):
        return function(*args)
