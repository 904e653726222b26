"""The terms of a cluster while rules work on them: halves of vector instructions, hash-consed.

First stages, second stages and joins of lanes are terms of their own here, so that rules can move
them about; `celosia.compiler.selection.cover` puts them together to instructions. Equal terms are
one object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from celosia.arch.vector import COMMUTATIVE_OPS, Post, Reduce, ReduceOp, VectorOp
from celosia.arch.words import WORD_MASK
from celosia.compiler.kernels.terms import Extent, Leaf, Term, extent_of
from celosia.model.fast.lanes import FAST

__all__ = ["NO_POST_OPS", "Pool", "UseCounts", "bits_of", "is_first", "is_made", "merges", "single",
           "stream_count", "uses_of", "walk"]

#: Operations that take no second stage.
NO_POST_OPS = frozenset({VectorOp.REQUANT})

#: How often terms are used.
UseCounts = dict[Term, int]


def bits_of(number: float) -> int:
    """Return the bits of the fp32 next to a number."""
    return int(np.float32(number).view(np.uint32))


def is_first(term: Term) -> bool:
    """Whether a term is a first stage."""
    return bool(term.args) and not term.post and not term.reduce


def is_made(term: Term) -> bool:
    """Whether a term is a first or a second stage."""
    return bool(term.args) and not term.reduce


def stream_count(args: Iterable[Term]) -> int:
    """Return how many streams an instruction with these operands reads."""
    return sum(arg.is_stream for arg in args)


def walk(outputs: Iterable[Term]) -> list[Term]:
    """Return all terms that outputs need, each after its operands."""
    order: dict[Term, None] = {}
    for output in outputs:
        stack = [(output, iter(output.args))]
        while stack:
            term, rest = stack[-1]
            waiting = next((arg for arg in rest if arg not in order), None)
            if waiting is not None:
                stack.append((waiting, iter(waiting.args)))
            else:
                order.setdefault(term)
                stack.pop()
    return list(order)


def uses_of(outputs: Iterable[Term]) -> UseCounts:
    """Return how often each term is used; to be an output is a use."""
    outputs = list(outputs)
    uses: UseCounts = {}
    for term in (*(arg for each in walk(outputs) for arg in each.args), *outputs):
        uses[term] = uses.get(term, 0) + 1
    return uses


def single(term: Term, uses: UseCounts) -> bool:
    """Whether a term is used once; what a rule has just made is."""
    return uses.get(term, 1) == 1


def merges(term: Term, uses: UseCounts) -> bool:
    """Whether a second stage of a term costs nothing."""
    return is_first(term) and term.op not in NO_POST_OPS and single(term, uses)


class Pool:
    """Makes terms; computes at once what consists of immediates only.

    Parameters
    ----------
    panels
        Groups of D columns in a row: what a FULL costs more than what has rows alone.
    """

    def __init__(self, panels: int = 1) -> None:
        self.panels = panels
        #: What rules that round otherwise leave as it is: the inside of functions.
        self.fixed: set[Term] = set()
        #: Of the terms that are made: `Term.origin`.
        self.origin = ""
        self._terms: dict[tuple, Term] = {}

    def _term(self, op: VectorOp | Leaf, args: tuple[Term, ...], extent: Extent,
              post: Post = Post.NONE, reduce: Reduce = Reduce.NONE,
              reduce_op: ReduceOp = ReduceOp.SUM_I, param: int = 0, source: Any = None) -> Term:
        key = op, args, post, reduce, reduce_op, param, source
        if key not in self._terms:
            self._terms[key] = Term(op, args, extent, post, reduce, reduce_op, param, source,
                                    index=len(self._terms), origin=self.origin)
        return self._terms[key]

    def read(self, source: Any, extent: Extent) -> Term:
        """Return what a cluster reads."""
        return self._term(Leaf.READ, (), extent, source=source)

    def word(self, bits: int) -> Term:
        """Return an immediate."""
        return self._term(Leaf.WORD, (), Extent.SCALAR, param=bits & WORD_MASK)

    def fp32(self, number: float) -> Term:
        """Return an immediate that is the fp32 next to a number."""
        return self.word(bits_of(number))

    def lane(self, base: int = 0) -> Term:
        """Return the number of the column, plus ``base``."""
        return self._term(Leaf.LANE, (), Extent.LANES, param=base)

    def op(self, op: VectorOp, *args: Term, param: int = 0) -> Term:
        """Return a first stage; ``param`` is of REQUANT."""
        if all(arg.is_word for arg in args):
            words = [np.array([arg.param], np.uint32) for arg in args]
            with np.errstate(over="ignore"):
                return self.word(int(FAST.first(op, words, param)[0]))
        if op in COMMUTATIVE_OPS:
            args = *sorted(args[:2], key=self._place), *args[2:]
        return self._term(op, args, extent_of(args), param=param)

    def _place(self, term: Term) -> tuple[bool, bool, int]:
        """Return where a factor or summand goes: streams first, immediates last, in any order."""
        return term.is_word, not term.is_stream, term.index

    def post(self, post: Post, arg: Term, param: int = 0) -> Term:
        """Return a second stage."""
        if arg.is_word:
            return self.word(int(FAST.second(post, np.array([arg.param], np.uint32), param)[0]))
        return self._term(VectorOp.MOV, (arg,), arg.extent, post, param=param)

    def div(self, numerator: Term, divisor: Term) -> Term:
        """Return a quotient: a second stage of the divisor, whose numerator is `Term.args[1]`."""
        if numerator.is_word and divisor.is_word:
            words = (np.array([arg.param], np.uint32) for arg in (divisor, numerator))
            return self.word(int(FAST.compute(VectorOp.MOV, Post.DIV, list(words), 0)[0]))
        if numerator.is_word and numerator.number == 1:
            return self.post(Post.RECIP, divisor)
        args = divisor, numerator
        return self._term(VectorOp.MOV, args, extent_of(args), Post.DIV)

    def join(self, reduce_op: ReduceOp, arg: Term) -> Term:
        """Return what the lanes of the whole row join to."""
        return self._term(VectorOp.MOV, (arg,), extent_of((arg,), Reduce.LANES),
                          reduce=Reduce.LANES, reduce_op=reduce_op)

    def join_rows(self, reduce_op: ReduceOp, arg: Term, extent: Extent) -> Term:
        """Return what groups of rows join to (`celosia.compiler.lowered.Code`): FULL, or ROWS."""
        return self._term(VectorOp.MOV, (arg,), extent, reduce=Reduce.ROWS, reduce_op=reduce_op)

    def step(self, op: VectorOp, args: tuple[Term, ...], post: Post, param: int, reduce: Reduce,
             reduce_op: ReduceOp) -> Term:
        """Return an instruction of a function as halves; see `kernels.terms.recording`."""
        assert reduce is not Reduce.ROWS
        args = tuple(self.word(arg.param) if arg.is_word else arg for arg in args)
        numerator = args[-1]
        first = args[:-1] if post is Post.DIV else args
        # What moves before its second stage is whatever makes it.
        alone = op is VectorOp.MOV and (post or reduce)
        term = first[0] if alone else self.op(op, *first, param=0 if post else param)
        if post is Post.DIV:
            term = self.div(numerator, term)
        elif post:
            term = self.post(post, term, param)
        return self.join(reduce_op, term) if reduce else term

    def with_args(self, term: Term, args: tuple[Term, ...]) -> Term:
        """Return the same half of an instruction with other operands."""
        if not args:
            return term
        if term.reduce is Reduce.ROWS:
            return self.join_rows(term.reduce_op, args[0], term.extent)
        if term.reduce:
            return self.join(term.reduce_op, args[0])
        if term.post is Post.DIV:
            return self.div(args[1], args[0])
        if term.post:
            return self.post(term.post, args[0], term.param)
        return self.op(term.first, *args, param=term.param)

    def rebuilt(self, outputs: list[Term],
                rule: Callable[[Term, UseCounts], Term | None]) -> list[Term]:
        """Return outputs with what ``rule`` makes of each term, operands first.

        The rule is given the term with new operands, and how often terms were used before; None
        leaves the term. What it returns is counted with the uses of what it stands for.
        """
        uses = uses_of(outputs)
        made: dict[Term, Term] = {}
        for term in walk(outputs):
            self.origin = term.origin
            args = tuple(made[arg] for arg in term.args)
            fresh = term if args == term.args else self.with_args(term, args)
            if term in self.fixed and fresh.args:
                self.fixed.add(fresh)
            fresh = rule(fresh, uses) or fresh
            uses[fresh] = max(uses.get(fresh, 0), uses[term])
            made[term] = fresh
        return [made[output] for output in outputs]
