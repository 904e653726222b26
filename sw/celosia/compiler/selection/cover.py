"""Tree covering: first stage, second stage and join of lanes become one instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from celosia.arch.vector import (
    DIV_OPS,
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    Post,
    Reduce,
    ReduceOp,
)
from celosia.arch.vector import VectorOp as Op
from celosia.compiler.lowered import Code, Extent
from celosia.compiler.selection.terms import NO_POST_OPS, Pool, Term, streams, uses_of, walk
from celosia.graph import Value
from celosia.kernels.trace import STREAMS, Index, Operand, Step, Tile, Word, kernel

__all__ = ["cover", "needs_bf16"]


def cover(pool: Pool, outputs: Mapping[Value, tuple[Term, Extent]],
          joins: Mapping[Value, ReduceOp], reads: Sequence[tuple[Value, Extent]],
          result: Value | None = None) -> Code:
    """Return code for terms.

    Parameters
    ----------
    outputs
        The term that is written for each value, and the extent of the write.
    joins
        See `Code.joins`.
    reads
        What is read, also where it is of no use; and the product's result.
    result
        The product's result: a write may have its tile.
    """
    made = pool.rebuilt([term for term, _ in outputs.values()],
                        lambda term, uses: _two_streams(pool, term))
    return _Cover(pool, dict(zip(outputs, made, strict=True)),
                  {value: extent for value, (_, extent) in outputs.items()}, joins, reads,
                  result).run()


def needs_bf16(step: Step) -> bool:
    """Whether a step is for chips with floating point only."""
    return (step.op in FLOAT_OPS or step.post in FLOAT_POSTS
            or (step.reduce != Reduce.NONE and step.reduce_op in FLOAT_REDUCES))


def _two_streams(pool: Pool, term: Term) -> Term | None:
    if not isinstance(term.code, Op) or streams(term.args) <= STREAMS:
        return None
    if term.code is Op.SELECT:
        mask, a, b = term.args
        return pool.op(Op.OR, pool.op(Op.AND, mask, a), pool.op(Op.SELECT, mask, pool.word(0), b))
    if term.code is Op.REQUANT:
        x, scale, bias = term.args
        return pool.op(Op.REQUANT, pool.op(Op.IADD, x, bias), scale, pool.word(0),
                       param=term.extra)
    assert term.code is Op.FFMA
    a, b, c = term.args
    return pool.op(Op.FADD, pool.op(Op.FMUL, a, b), c)


class _Cover:
    def __init__(self, pool: Pool, outputs: dict[Value, Term], wanted: dict[Value, Extent],
                 joins: Mapping[Value, ReduceOp], reads: Sequence[tuple[Value, Extent]],
                 result: Value | None):
        self.pool, self.outputs, self.wanted = pool, outputs, wanted
        self.joins, self.reads, self.result = joins, reads, result
        self.uses = uses_of(outputs.values())
        #: What tiles of one code have in common.
        self.trace = kernel("tiles", lambda x: x).inputs[0].tiles[0].trace
        self.tiles: dict[Term, Tile] = {}
        self.extents: dict[int, Extent] = {}
        self.steps: list[Step] = []

    def run(self) -> Code:
        inputs = {}
        for value, extent in self.reads:
            inputs[value] = self.tiles[self.pool.read(value, extent)] = self._tile(extent)
        order = walk(self.outputs.values())
        inside = {arg for term in order for arg in term.args if self._goes_with(arg, term)}
        for term in order:
            if term not in inside and term.args:
                self._step(term)
        outputs = {value: self._output(value, term) for value, term in self.outputs.items()}
        return Code(tuple(self.steps), inputs, outputs, dict(self.joins), self.extents)

    def _tile(self, extent: Extent) -> Tile:
        tile = Tile(self.trace, len(self.extents), extent in (Extent.ROW, Extent.SCALAR))
        self.extents[tile.number] = extent
        return tile

    def _goes_with(self, arg: Term, term: Term) -> bool:
        """Whether ``arg`` is made by the instruction that makes ``term`` of it."""
        if self.uses[arg] > 1 or arg.code == "read":
            return False
        if term.is_op(Post.DIV):
            return (arg is term.args[0] and isinstance(arg.code, Op) and arg.code in DIV_OPS
                    and streams((*arg.args, term.args[1])) <= STREAMS)
        if isinstance(term.code, Post):
            return isinstance(arg.code, Op) and arg.code not in NO_POST_OPS
        return isinstance(term.code, ReduceOp) and isinstance(arg.code, (Op, Post))

    def _step(self, term: Term) -> None:
        result, reduce, post, param = term, Reduce.NONE, Post.NONE, 0
        reduce_op = ReduceOp.SUM_I
        numerator: list[Term] = []
        if isinstance(term.code, ReduceOp):
            reduce, reduce_op = Reduce.LANES, term.code
            [below] = term.args
            term = below if self._goes_with(below, term) else self._moved(below)
        if isinstance(term.code, Post):
            post, param = term.code, term.extra
            below, *numerator = term.args
            term = below if self._goes_with(below, term) else self._moved(below)
        assert isinstance(term.code, Op)
        if term.code is Op.REQUANT:
            param = term.extra
        operands = tuple(map(self._operand, (*term.args, *numerator)))
        self.tiles[result] = tile = self._tile(result.extent)
        self.steps.append(Step(term.code, operands, tile, post, param, reduce, reduce_op))

    def _moved(self, term: Term) -> Term:
        return Term(Op.MOV, (term,), term.extent)

    def _operand(self, term: Term) -> Operand:
        if term.is_word:
            return Word(term.extra)
        if term.code == "lane":
            return Index(False, term.extra)
        return self.tiles[term]

    def _output(self, value: Value, term: Term) -> Tile:
        """Return the tile of a write: of its extent, and none of what is read."""
        if term in self.tiles and term.extent is self.wanted[value] and (
                term.code != "read" or term.value == self.result):
            return self.tiles[term]
        operand = self._operand(term)
        tile = self._tile(self.wanted[value])
        self.steps.append(Step(Op.MOV, (operand,), tile))
        return tile
