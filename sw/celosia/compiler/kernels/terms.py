"""The vector IR: a term is a value, and the vector instruction that makes it of other terms.

The functions of `celosia.compiler.kernels` are written on terms, with operators and `step`;
whoever calls one says in `recording` what its instructions become. The compiler selects, fuses
and places terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Flag, IntEnum
from typing import Any, Protocol

import numpy as np

from celosia.arch.vector import (
    DIV_OPS,
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    MOVEMENT_OPS,
    PARAM_POSTS,
    Post,
    Reduce,
    ReduceOp,
    VectorOp,
    operand_names,
)
from celosia.arch.words import WORD_MASK

__all__ = ["STREAMS", "TermLike", "Extent", "Leaf", "Recorder", "Term", "clamp", "clamp_bounds",
           "current", "extent_of", "join_extents", "lane_index", "recording", "row_index", "step",
           "word"]

#: Streams that one instruction reads at most; other operands are one row, a scalar or an index.
STREAMS = 2


class Extent(Flag):
    """What a value has elements for: rows, lanes, both (FULL) or neither (SCALAR).

    What has one element for all rows, or all lanes, goes with each of them.
    """

    SCALAR = 0
    ROWS = 1
    LANES = 2
    FULL = 3


_EXTENTS = tuple(map(Extent, range(4)))


class Leaf(IntEnum):
    """A term that no instruction makes; the numbers are none of `VectorOp`.

    READ is given: a tensor. WORD is an immediate of 32 bits. LANE and ROW are the number of the
    lane, and of the row in the whole matrix, plus ``param``.
    """

    READ = 64
    WORD = 65
    LANE = 66
    ROW = 67


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Term:
    """A value: ``reduce(post(op(args)))`` over all rows and lanes of its extent, or a `Leaf`.

    ``+``, ``-``, ``*``, unary ``-`` and ``abs`` are those of fp32; one of the operands may be a
    Python number. Terms are compared by identity.

    Attributes
    ----------
    op
        First stage, or which leaf.
    args
        Operands; last the numerator of the second stage DIV.
    extent
        What it has elements for.
    post, reduce, reduce_op
        Second stage and reduction. A term that is a second stage or a reduction alone moves its
        operand first.
    param
        Of a second stage or of REQUANT; the bits of a WORD; the number of the first LANE or ROW.
    source
        What a READ reads.
    destination
        Where the result goes instead of rows of its own (`celosia.compiler.lowered.Write`), or
        None. Nothing reads such a term.
    index
        Of the terms of its pool.
    origin
        What its instruction says that it comes from; "": from what it is a part of.
    """

    op: VectorOp | Leaf
    args: tuple[Term, ...] = ()
    extent: Extent = Extent.FULL
    post: Post = Post.NONE
    reduce: Reduce = Reduce.NONE
    reduce_op: ReduceOp = ReduceOp.SUM_I
    param: int = 0
    source: Any = None
    destination: Any = None
    index: int = 0
    origin: str = ""
    #: The operands that have rows: all but immediates and indexes.
    values: tuple[Term, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(
            arg for arg in self.args if arg.args or arg.op is Leaf.READ))

    def __repr__(self) -> str:
        return f"<{self.op.name.lower()} {self.extent.name}>"

    def __add__(self, other: Term | float) -> Term:
        return step(VectorOp.FADD, self, _fp32(other))

    def __radd__(self, other: float) -> Term:
        return step(VectorOp.FADD, _fp32(other), self)

    def __sub__(self, other: Term | float) -> Term:
        return step(VectorOp.FSUB, self, _fp32(other))

    def __rsub__(self, other: float) -> Term:
        return step(VectorOp.FSUB, _fp32(other), self)

    def __mul__(self, other: Term | float) -> Term:
        return step(VectorOp.FMUL, self, _fp32(other))

    def __rmul__(self, other: float) -> Term:
        return step(VectorOp.FMUL, _fp32(other), self)

    def __neg__(self) -> Term:
        return step(VectorOp.FNEG, self)

    def __abs__(self) -> Term:
        return step(VectorOp.FABS, self)

    @property
    def first(self) -> VectorOp:
        """First stage of an instruction."""
        assert not isinstance(self.op, Leaf)
        return self.op

    @property
    def is_stream(self) -> bool:
        """Whether it differs from row to row: an instruction that reads it reads a stream."""
        return Extent.ROWS in self.extent

    @property
    def is_word(self) -> bool:
        """Whether it is an immediate."""
        return self.op is Leaf.WORD

    @property
    def number(self) -> float:
        """The fp32 that an immediate is."""
        return float(np.uint32(self.param).view(np.float32))

    @property
    def walks(self) -> bool:
        """Whether the instruction runs over all rows; else its operands are one row."""
        return any(arg.is_stream for arg in self.args)

    @property
    def moves(self) -> bool:
        """Whether it gives its one operand as it is, and that has rows."""
        return self.op is VectorOp.MOV and not self.post and bool(self.values)

    @property
    def needs_bf16(self) -> bool:
        """Whether the instruction is for chips with floating point only."""
        return (self.op in FLOAT_OPS or self.post in FLOAT_POSTS
                or (self.reduce != Reduce.NONE and self.reduce_op in FLOAT_REDUCES))

    def is_op(self, *ops: VectorOp) -> bool:
        """Whether it is one of these first stages, and nothing behind it."""
        return self.op in ops and not self.post and not self.reduce

    def is_post(self, *posts: Post) -> bool:
        """Whether it is one of these second stages, of what it moves."""
        return self.post in posts and self.op is VectorOp.MOV and not self.reduce


#: What `step` takes: a float stands for its fp32, an int for its 32 bits.
TermLike = Term | float | int


def join_extents(terms: Iterable[Term]) -> Extent:
    """Return the extent of what is computed from terms."""
    parts = 0
    for term in terms:
        parts |= term.extent.value
    return _EXTENTS[parts]


def extent_of(args: Iterable[Term], reduce: Reduce = Reduce.NONE) -> Extent:
    """Return the extent of an instruction with these operands."""
    left = {Reduce.LANES: Extent.ROWS, Reduce.ROWS: Extent.LANES}.get(reduce, Extent.FULL)
    return join_extents(args) & left


def word(value: TermLike) -> Term:
    """Return the operand that a number stands for; operands are returned as they are."""
    if isinstance(value, Term):
        return value
    if isinstance(value, np.number):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"operand must be a Term or a number, not {value!r}")
    if isinstance(value, float):
        return Term(Leaf.WORD, (), Extent.SCALAR, param=int(np.float32(value).view(np.uint32)))
    if not -1 << 31 <= value <= WORD_MASK:
        raise ValueError(f"operand must fit 32 bits, not {value!r}")
    return Term(Leaf.WORD, (), Extent.SCALAR, param=value & WORD_MASK)


def _fp32(value: TermLike) -> Term:
    return word(float(value)) if isinstance(value, (int, float)) else value


def lane_index(base: int = 0) -> Term:
    """Return the operand that holds ``base`` plus the number of the lane."""
    return Term(Leaf.LANE, (), Extent.LANES, param=base)


def row_index(base: int = 0) -> Term:
    """Return the operand that holds ``base`` plus the number of the row in the whole matrix."""
    return Term(Leaf.ROW, (), Extent.ROWS, param=base)


def clamp_bounds(lo: float, hi: float) -> int:
    """Return the ``param`` of `Post.CLAMP_F`.

    Raises
    ------
    ValueError
        If a bound is no bf16.
    """
    halves = []
    for bound in (lo, hi):
        bits = int(np.float32(bound).view(np.uint32))
        if bits & 0xFFFF or float(np.float32(bound)) != bound:
            raise ValueError(f"clamp bounds must be bf16 numbers, not {bound!r}")
        halves.append(bits >> 16)
    return halves[0] | halves[1] << 16


def clamp(lo: float, hi: float) -> dict:
    """Return the keywords of a `step` that clamps its result to the bf16 numbers ``lo``..``hi``."""
    return {"post": Post.CLAMP_F, "param": clamp_bounds(lo, hi)}


class Recorder(Protocol):
    """What makes terms of the instructions of a function."""

    def step(self, op: VectorOp, args: tuple[Term, ...], post: Post, param: int, reduce: Reduce,
             reduce_op: ReduceOp) -> Term:
        """Return the result of an instruction that the chip has."""
        ...


_current: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def current() -> Recorder | None:
    """Return the recorder of the innermost `recording`."""
    return _current.get()


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Inside, every instruction is made by ``recorder``."""
    token = _current.set(recorder)
    try:
        yield
    finally:
        _current.reset(token)


def step(op: VectorOp, *operands: TermLike, post: Post = Post.NONE, param: int = 0,
         reduce: Reduce = Reduce.NONE, reduce_op: ReduceOp = ReduceOp.SUM_I) -> Term:
    """Return the result of an instruction, as the innermost `recording` makes it.

    Parameters
    ----------
    op, post, param, reduce, reduce_op
        Fields of the instruction (docs/isa.md); reductions are none, rows and lanes. Operations
        that move words are not for kernels.
    operands
        Those of the operation, then the numerator of ``post`` div. Without any of more than one
        row the result has one row, and so it has with ``Reduce.ROWS``.

    Raises
    ------
    TypeError, ValueError
        If the chip has no such instruction.
    """
    args = tuple(word(operand) for operand in operands)
    if op in MOVEMENT_OPS:
        raise ValueError(f"{op.name.lower()} moves words and must not be in a kernel")
    taken = len(operand_names(op, post))
    if len(args) != taken:
        raise ValueError(f"{op.name.lower()} must have {taken} operands, not {len(args)}")
    if post == Post.DIV and op not in DIV_OPS:
        raise ValueError(f"{op.name.lower()} must not have the second stage div, which takes c")
    if param and post not in PARAM_POSTS and op != VectorOp.REQUANT:
        raise ValueError(f"param of {op.name.lower()} must be 0, not {param!r}")
    if op == VectorOp.REQUANT and post != Post.NONE:
        raise ValueError(f"requant must have no second stage, not {post.name.lower()}")
    if reduce == Reduce.COLLECT:
        raise ValueError("reduce must be none, rows or lanes, not collect")
    recorder = current()
    if recorder is None:
        raise ValueError(f"operands of {op.name.lower()} must belong to the kernel being traced")
    return recorder.step(op, args, post, param, reduce, reduce_op)
