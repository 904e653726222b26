"""Terms of the functions of `celosia.kernels`, instruction for instruction."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from celosia.arch.vector import Post, VectorOp
from celosia.compiler.levels import KERNELS
from celosia.compiler.selection.terms import Pool, Term
from celosia.kernels.table import Function
from celosia.kernels.trace import Kernel, Operand, Tile, Word, kernel

__all__ = ["exact", "inline"]


@cache
def _traced(function: Function, operands: int) -> Kernel:
    return kernel(function.__name__, function, ("x", "y")[:operands])


def exact(pool: Pool, op: str, *args: Term) -> Term:
    """Return the term of an operation of `celosia.compiler.levels.KERNELS`."""
    return inline(pool, _traced(KERNELS[op], len(args)), *args)


def inline(pool: Pool, code: Kernel | Callable[..., Tile], *args: Term) -> Term:
    """Return what a kernel of one output, or a function on tiles, makes of some terms."""
    if not isinstance(code, Kernel):
        code = kernel("inline", code, [f"x{i}" for i in range(len(args))])
    terms = {taken.tiles[0].number: arg for taken, arg in zip(code.inputs, args, strict=True)}

    def of(operand: Operand) -> Term:
        if isinstance(operand, Tile):
            return terms[operand.number]
        assert isinstance(operand, Word)
        return pool.word(operand.bits)

    for step in code.steps:
        operands = list(map(of, step.operands))
        numerator = operands.pop() if step.post == Post.DIV else None
        if step.op == VectorOp.MOV and step.post != Post.NONE:
            [term] = operands  # whatever makes it
        else:
            term = pool.op(step.op, *operands)
            pool.fixed.add(term)
        if numerator is not None:
            term = pool.div(numerator, term)
        elif step.post != Post.NONE:
            term = pool.post(step.post, term, step.param)
        pool.fixed.add(term)
        terms[step.result.number] = term
    return terms[code.outputs[0].tiles[0].number]
