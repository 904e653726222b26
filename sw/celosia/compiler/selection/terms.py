"""Terms: what a cluster computes, as a graph of halves of vector instructions.

First stages, second stages and joins of lanes are terms of their own here, so that rules can move
them about; `celosia.compiler.selection.cover` puts them together to instructions. Equal terms are
one object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np

from celosia.arch.vector import Post, ReduceOp, VectorOp
from celosia.arch.words import WORD_MASK
from celosia.compiler.lowered import Extent
from celosia.graph import Value
from celosia.model.fast.lanes import FAST

__all__ = ["NO_POST_OPS", "Pool", "Term", "Uses", "bits_of", "join_extents", "merges", "single",
           "streams", "uses_of", "walk"]

_ROWS, _LANES = 1, 2
_PARTS = {Extent.FULL: _ROWS | _LANES, Extent.COLUMN: _ROWS, Extent.ROW: _LANES, Extent.SCALAR: 0}
_EXTENTS = {parts: extent for extent, parts in _PARTS.items()}
#: An immediate is the second operand of these.
_COMMUTATIVE = frozenset({
    VectorOp.FADD, VectorOp.FMUL, VectorOp.FFMA, VectorOp.FMAX, VectorOp.FMIN, VectorOp.IADD,
    VectorOp.IMUL, VectorOp.IMAX, VectorOp.IMIN, VectorOp.AND, VectorOp.OR, VectorOp.XOR})
#: Operations that take no second stage.
NO_POST_OPS = frozenset({VectorOp.REQUANT})


def join_extents(extents: Iterable[Extent]) -> Extent:
    """Return the extent of what is computed from values of these extents."""
    parts = 0
    for extent in extents:
        parts |= _PARTS[extent]
    return _EXTENTS[parts]


def bits_of(number: float) -> int:
    """Return the bits of the fp32 next to a number."""
    return int(np.float32(number).view(np.uint32))


@dataclass(frozen=True, eq=False, slots=True)
class Term:
    """A value.

    Attributes
    ----------
    code
        What makes it: a first stage, a second stage of ``args[0]`` (DIV: ``args[1]`` by it), or a
        join of the lanes of ``args[0]``; "word" and "lane" (its number) and "read" are not made by
        an instruction.
    extra
        Parameter of a second stage or of REQUANT, bits of a word, number of the first column;
        else 0.
    value
        What is read.
    index
        Of the terms of its pool.
    """

    code: VectorOp | Post | ReduceOp | str
    args: tuple[Term, ...]
    extent: Extent
    extra: int = 0
    value: Value | None = None
    index: int = 0

    @property
    def is_word(self) -> bool:
        """Whether it is an immediate."""
        return self.code == "word"

    @property
    def number(self) -> float:
        """The fp32 that an immediate is."""
        return float(np.uint32(self.extra).view(np.float32))

    @property
    def is_stream(self) -> bool:
        """Whether an instruction that reads it reads a stream."""
        return self.extent in (Extent.FULL, Extent.COLUMN)

    def is_op(self, *codes: VectorOp | Post) -> bool:
        """Whether it is one of these (codes of the two enumerations do not mix)."""
        return any(self.code is code for code in codes)


#: How often terms are used.
Uses = dict[Term, int]


def streams(args: Iterable[Term]) -> int:
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


def uses_of(outputs: Iterable[Term]) -> dict[Term, int]:
    """Return how often each term is used; to be an output is a use."""
    outputs = list(outputs)
    uses: dict[Term, int] = {}
    for term in (*(arg for each in walk(outputs) for arg in each.args), *outputs):
        uses[term] = uses.get(term, 0) + 1
    return uses


def single(term: Term, uses: Uses) -> bool:
    """Whether a term is used once; what a rule has just made is."""
    return uses.get(term, 1) == 1


def merges(term: Term, uses: Uses) -> bool:
    """Whether a second stage of a term costs nothing."""
    return (isinstance(term.code, VectorOp) and term.code not in NO_POST_OPS
            and single(term, uses))


class Pool:
    """Makes terms; computes at once what consists of immediates only.

    Parameters
    ----------
    panels
        Groups of D columns in a row: what a FULL costs more than a COLUMN.
    """

    def __init__(self, panels: int = 1) -> None:
        self.panels = panels
        #: What rules that round otherwise leave as it is: the inside of functions.
        self.fixed: set[Term] = set()
        self._terms: dict[tuple, Term] = {}

    def _term(self, code: VectorOp | Post | ReduceOp | str, args: tuple[Term, ...],
              extent: Extent, extra: int = 0, value: Value | None = None) -> Term:
        # Enumerations of equal number are equal: the type belongs to the key.
        key = (type(code), code, args, extra, value)
        if key not in self._terms:
            self._terms[key] = Term(code, args, extent, extra, value, len(self._terms))
        return self._terms[key]

    def read(self, value: Value, extent: Extent) -> Term:
        """Return what a cluster reads."""
        return self._term("read", (), extent, 0, value)

    def word(self, bits: int) -> Term:
        """Return an immediate."""
        return self._term("word", (), Extent.SCALAR, bits & WORD_MASK)

    def fp32(self, number: float) -> Term:
        """Return an immediate that is the fp32 next to a number."""
        return self.word(bits_of(number))

    def lane(self, base: int = 0) -> Term:
        """Return the number of the column, plus ``base``."""
        return self._term("lane", (), Extent.ROW, base)

    def op(self, code: VectorOp, *args: Term, param: int = 0) -> Term:
        """Return a first stage; ``param`` is of REQUANT."""
        if all(arg.is_word for arg in args):
            words = [np.array([arg.extra], np.uint32) for arg in args]
            with np.errstate(over="ignore"):
                return self.word(int(FAST.first(code, words, param)[0]))
        if code in _COMMUTATIVE:
            args = *sorted(args[:2], key=self._place), *args[2:]
        return self._term(code, args, join_extents(arg.extent for arg in args), param)

    def _place(self, term: Term) -> tuple[bool, bool, int]:
        """Return where a factor or summand goes: streams first, immediates last, in any order."""
        return term.is_word, not term.is_stream, term.index

    def post(self, code: Post, arg: Term, param: int = 0) -> Term:
        """Return a second stage."""
        if arg.is_word:
            return self.word(int(FAST.second(code, np.array([arg.extra], np.uint32), param)[0]))
        return self._term(code, (arg,), arg.extent, param)

    def div(self, numerator: Term, divisor: Term) -> Term:
        """Return a quotient: a second stage of the divisor, whose numerator is `Term.args[1]`."""
        if numerator.is_word and divisor.is_word:
            words = (np.array([arg.extra], np.uint32) for arg in (divisor, numerator))
            return self.word(int(FAST.compute(VectorOp.MOV, Post.DIV, list(words), 0)[0]))
        if numerator.is_word and numerator.number == 1:
            return self.post(Post.RECIP, divisor)
        args = divisor, numerator
        return self._term(Post.DIV, args, join_extents(arg.extent for arg in args))

    def join(self, code: ReduceOp, arg: Term) -> Term:
        """Return what the lanes of the whole row join to."""
        extent = Extent.COLUMN if arg.is_stream else Extent.SCALAR
        return self._term(code, (arg,), extent)

    def with_args(self, term: Term, args: tuple[Term, ...]) -> Term:
        """Return the same computation of other operands."""
        if not args:
            return term
        if isinstance(term.code, VectorOp):
            return self.op(term.code, *args, param=term.extra)
        if term.is_op(Post.DIV):
            return self.div(args[1], args[0])
        if isinstance(term.code, Post):
            return self.post(term.code, args[0], term.extra)
        return self.join(cast(ReduceOp, term.code), args[0])

    def rebuilt(self, outputs: list[Term],
                rule: Callable[[Term, dict[Term, int]], Term | None]) -> list[Term]:
        """Return outputs with what ``rule`` makes of each term, operands first.

        The rule is given the term with new operands, and how often terms were used before; None
        leaves the term. What it returns is counted with the uses of what it stands for.
        """
        uses = uses_of(outputs)
        made: dict[Term, Term] = {}
        for term in walk(outputs):
            args = tuple(made[arg] for arg in term.args)
            fresh = term if args == term.args else self.with_args(term, args)
            if term in self.fixed and fresh.args:
                self.fixed.add(fresh)
            fresh = rule(fresh, uses) or fresh
            uses[fresh] = max(uses.get(fresh, 0), uses[term])
            made[term] = fresh
        return [made[output] for output in outputs]
