"""Tree covering: first stage, second stage and join become one instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from celosia.arch.vector import DIV_OPS, Post, Reduce
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import STREAMS, Extent, Leaf, Term
from celosia.compiler.lowered import Code
from celosia.compiler.selection.pool import NO_POST_OPS, Pool, is_first, stream_count, uses_of, walk
from celosia.graph import Value

__all__ = ["cover"]


def cover(pool: Pool, outputs: Mapping[Value, tuple[Term, Extent]],
          reads: Sequence[tuple[Value, Extent]], result: Value | None = None) -> Code:
    """Return code for terms.

    Parameters
    ----------
    outputs
        The term that is written for each value, and the extent of the write.
    reads
        What is read, also where it is of no use; and the product's result.
    result
        The product's result: a write may have it as it is.
    """
    made = pool.rebuilt([term for term, _ in outputs.values()],
                        lambda term, uses: _two_streams(pool, term))
    return _Cover(pool, dict(zip(outputs, made, strict=True)),
                  {value: extent for value, (_, extent) in outputs.items()}, reads, result).run()


def _two_streams(pool: Pool, term: Term) -> Term | None:
    if not is_first(term) or stream_count(term.args) <= STREAMS:
        return None
    if term.op is Op.SELECT:
        mask, a, b = term.args
        return pool.op(Op.OR, pool.op(Op.AND, mask, a), pool.op(Op.SELECT, mask, pool.word(0), b))
    if term.op is Op.REQUANT:
        x, scale, bias = term.args
        return pool.op(Op.REQUANT, pool.op(Op.IADD, x, bias), scale, pool.word(0),
                       param=term.param)
    assert term.op is Op.FFMA
    a, b, c = term.args
    return pool.op(Op.FADD, pool.op(Op.FMUL, a, b), c)


class _Cover:
    def __init__(self, pool: Pool, outputs: dict[Value, Term], wanted: dict[Value, Extent],
                 reads: Sequence[tuple[Value, Extent]], result: Value | None):
        self.pool, self.outputs, self.wanted = pool, outputs, wanted
        self.reads, self.result = reads, result
        self.uses = uses_of(outputs.values())
        #: The instruction that gives each half that is not inside of one, and leaves.
        self.made: dict[Term, Term] = {}
        self.steps: list[Term] = []

    def run(self) -> Code:
        inputs = {value: self.pool.read(value, extent) for value, extent in self.reads}
        order = walk(self.outputs.values())
        inside = {arg for term in order for arg in term.args if self._goes_with(arg, term)}
        for term in order:
            if not term.args:
                self.made[term] = term
            elif term not in inside:
                self.made[term] = self._step(self._instruction(term))
        outputs = {value: self._output(value, term) for value, term in self.outputs.items()}
        return Code(tuple(self.steps), inputs, outputs)

    def _goes_with(self, arg: Term, term: Term) -> bool:
        """Whether ``arg`` is made by the instruction that makes ``term`` of it."""
        if self.uses[arg] > 1 or not arg.args:
            return False
        if term.post is Post.DIV:
            return (arg is term.args[0] and is_first(arg) and arg.op in DIV_OPS
                    and stream_count((*arg.args, term.args[1])) <= STREAMS)
        if term.post:
            return is_first(arg) and arg.op not in NO_POST_OPS
        # Rows are joined of as many elements as there are: what has less is made before.
        return bool(term.reduce) and not arg.reduce and (
            term.reduce is Reduce.LANES or arg.extent is term.extent)

    def _instruction(self, term: Term) -> Term:
        """Return a term with what its instruction makes before it."""
        below, *numerator = term.args
        if not (term.post or term.reduce) or not self._goes_with(below, term):
            return term
        below = self._instruction(below)
        return replace(term, op=below.op, args=(*below.args, *numerator),
                       post=term.post or below.post, param=term.param or below.param)

    def _step(self, term: Term) -> Term:
        made = replace(term, args=tuple(self.made[arg] for arg in term.args))
        self.steps.append(made)
        return made

    def _output(self, value: Value, term: Term) -> Term:
        """Return what is written: of the extent of the write, and nothing that is read."""
        made = self.made[term]
        if made.extent is self.wanted[value] and (
                made.args or (made.op is Leaf.READ and made.source == self.result)):
            return made
        return self._step(Term(Op.MOV, (term,), self.wanted[value], origin=term.origin))
