"""Pattern matching: tables of rewrite rules for terms, each a name, a pattern and an equation.

A pattern and its equation are functions of the same variables, written as those of
`celosia.compiler.kernels`; the pattern says what is looked for, the equation what takes its
place. What a variable stands for is told by its name: ``c``, ``d`` and ``e`` are numbers, ``s``
and ``t`` the same in all rows, ``m`` a mask, others anything; one that is there twice is the same
term. Operands of commutative operations match in either order. Marks say more of a part of a
pattern: `once`, `shared`, `free`, `made`, `merging`, `apart`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from celosia.arch.vector import COMMUTATIVE_OPS, Post, Reduce, ReduceOp, VectorOp
from celosia.compiler.kernels.terms import Extent, Leaf, Term, current, recording
from celosia.compiler.selection.pool import Pool, UseCounts, is_made, merges, single

__all__ = ["Check", "Rule", "Rules", "apart", "free", "is_merging", "is_shared", "is_single",
           "made", "marked", "merging", "once", "shared"]

#: What a mark asks of a term.
Check = Callable[[Pool, Term, UseCounts], bool]
#: What a variable stands for, by its first letter.
_KINDS: dict[str, Callable[[Term], bool]] = {
    **dict.fromkeys("cde", lambda term: term.is_word),
    **dict.fromkeys("st", lambda term: not term.is_stream)}


@dataclass
class _Pattern:
    """Records a pattern."""

    marks: dict[Term, list[Check]] = field(default_factory=dict)

    def step(self, op: VectorOp, args: tuple[Term, ...], post: Post, param: int, reduce: Reduce,
             reduce_op: ReduceOp) -> Term:
        assert op is VectorOp.MOV or not (post or reduce)
        return Term(op, args, Extent.SCALAR, post, reduce, reduce_op, param)


def marked(term: Term, check: Check) -> Term:
    """Return a part of a pattern, of which ``check`` must be true."""
    recorder = current()
    if isinstance(recorder, _Pattern):
        recorder.marks.setdefault(term, []).append(check)
    return term


def is_single(pool: Pool, term: Term, uses: UseCounts) -> bool:
    """What `once` asks: nothing else needs it."""
    return single(term, uses)


def once(term: Term) -> Term:
    """Return what is used once."""
    return marked(term, is_single)


def is_shared(pool: Pool, term: Term, uses: UseCounts) -> bool:
    """What `shared` asks."""
    return not single(term, uses)


def shared(term: Term) -> Term:
    """Return what is used more than once."""
    return marked(term, is_shared)


def free(term: Term) -> Term:
    """Return what is not inside of a function."""
    return marked(term, lambda pool, term, uses: term not in pool.fixed)


def made(term: Term) -> Term:
    """Return a first or a second stage."""
    return marked(term, lambda pool, term, uses: is_made(term))


def is_merging(pool: Pool, term: Term, uses: UseCounts) -> bool:
    """What `merging` asks."""
    return merges(term, uses)


def merging(term: Term) -> Term:
    """Return what may have a second stage at no cost, which is used once."""
    return marked(term, is_merging)


def apart(term: Term) -> Term:
    """Return what a second stage is an instruction of its own for."""
    return marked(term, lambda pool, term, uses: not merges(term, uses))


def _head(term: Term) -> tuple:
    return term.op, term.post, term.reduce, term.reduce_op


class Rule:
    """A rewrite rule.

    Parameters
    ----------
    name
        What it does, in a few words; no other rule of its table has it.
    pattern
        Builds what is looked for of its variables.
    equation
        Builds what takes its place, of the same variables; None where there is no such (a number
        that an fp32 does not hold, say).
    where
        What must hold of the variables besides.
    search
        In place of the equation, where more than a pattern must be looked for: given the term.
    """

    def __init__(self, name: str, pattern: Callable[..., Term],
                 equation: Callable[..., Term | None] | None = None, *,
                 where: Callable[..., object] | None = None,
                 search: Callable[[Pool, Term, UseCounts], Term | None] | None = None):
        self.name, self.pattern, self.equation = name, pattern, equation
        self.where, self.search = where, search
        self.names = tuple(inspect.signature(pattern).parameters)
        recorder = _Pattern()
        with recording(recorder):
            self.root = pattern(*(Term(Leaf.READ, (), Extent.SCALAR, source=name)
                                  for name in self.names))
        self.marks = recorder.marks

    def __call__(self, pool: Pool, term: Term, uses: UseCounts) -> Term | None:
        """Return what takes the place of a term; None: the rule does not apply."""
        if self.search is not None:
            with recording(pool):
                return self.search(pool, term, uses)
        assert self.equation is not None
        for found in self.matches(pool, term, uses):
            with recording(pool):
                result = self.equation(*found)
            if result is not None:
                return result
        return None

    def matches(self, pool: Pool, term: Term, uses: UseCounts) -> Iterator[list[Term]]:
        """Yield what the variables stand for, for each way in which the pattern matches."""
        for found in self._match(self.root, term, {}, pool, uses):
            values = [found[name] for name in self.names]
            if self.where is None or self.where(*values):
                yield values

    def _match(self, part: Term, term: Term, found: dict[str, Term], pool: Pool,
               uses: UseCounts) -> Iterator[dict[str, Term]]:
        if part.op is Leaf.WORD:
            if term.is_word and term.param == part.param:
                yield found
            return
        if part.args and _head(part) != _head(term):
            return
        if not all(check(pool, term, uses) for check in self.marks.get(part, ())):
            return
        if part.args:
            yield from self._match_args(part, term, found, pool, uses)
        elif part.source in found:
            if found[part.source] is term:
                yield found
        elif part.source[0] not in _KINDS or _KINDS[part.source[0]](term):
            yield {**found, part.source: term}

    def _match_args(self, part: Term, term: Term, found: dict[str, Term], pool: Pool,
                    uses: UseCounts) -> Iterator[dict[str, Term]]:
        orders: list[Sequence[Term]] = [term.args]
        if part.op in COMMUTATIVE_OPS and term.args[0] is not term.args[1]:
            orders.append((term.args[1], term.args[0], *term.args[2:]))
        for args in orders:
            states = [found]
            for below, arg in zip(part.args, args, strict=True):
                states = [more for state in states
                          for more in self._match(below, arg, state, pool, uses)]
            yield from states


class Rules:
    """A table of rules; the first that applies to a term is taken."""

    def __init__(self, *rules: Rule):
        self.rules = rules
        self._by_head: dict[tuple, list[Rule]] = {}
        for rule in rules:
            self._by_head.setdefault(_head(rule.root), []).append(rule)

    def __call__(self, pool: Pool, term: Term, uses: UseCounts) -> Term | None:
        """Return a term that may stand for a term; None: no rule applies."""
        for rule in self._by_head.get(_head(term), ()):
            result = rule(pool, term, uses)
            if result is not None:
                return result
        return None
