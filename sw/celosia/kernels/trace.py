"""Straight-line vector code over tiles, before it has rows: values, steps, kernels.

A kernel is written once, as a function on tiles; calling it records a step for each vector
instruction. `celosia.kernels.evaluate` runs the steps on NumPy arrays, `celosia.ops.emit` makes
instructions of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

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
from celosia.arch.words import WORD_MASK, ceil_div

__all__ = ["Index", "Input", "Kernel", "Operand", "Scalar", "Step", "Tile", "Word", "clamp",
           "clamp_bounds", "kernel", "lane_index", "row_index", "step", "word"]

#: Streams that one instruction reads at most; other operands are one row, a scalar or an index.
STREAMS = 2


@dataclass(frozen=True)
class Word:
    """An immediate of 32 bits."""

    bits: int


@dataclass(frozen=True)
class Scalar:
    """A word that is bound to its name when the kernel is evaluated or emitted."""

    name: str


@dataclass(frozen=True)
class Index:
    """The number of the lane, or of the row in the whole matrix, plus ``base``."""

    of_row: bool
    base: int


@dataclass(frozen=True, eq=False)
class Tile:
    """A value: rows of D words. ``one_row``: a single row, which goes with every row of the others.

    ``+``, ``-``, ``*``, unary ``-`` and ``abs`` are those of fp32; one of the operands may be a
    Python number or a `Scalar`.
    """

    trace: _Trace
    number: int
    one_row: bool

    def __add__(self, other: _Number) -> Tile:
        return step(VectorOp.FADD, self, _fp32(other))

    def __radd__(self, other: _Number) -> Tile:
        return step(VectorOp.FADD, _fp32(other), self)

    def __sub__(self, other: _Number) -> Tile:
        return step(VectorOp.FSUB, self, _fp32(other))

    def __rsub__(self, other: _Number) -> Tile:
        return step(VectorOp.FSUB, _fp32(other), self)

    def __mul__(self, other: _Number) -> Tile:
        return step(VectorOp.FMUL, self, _fp32(other))

    def __rmul__(self, other: _Number) -> Tile:
        return step(VectorOp.FMUL, _fp32(other), self)

    def __neg__(self) -> Tile:
        return step(VectorOp.FNEG, self)

    def __abs__(self) -> Tile:
        return step(VectorOp.FABS, self)


Operand = Tile | Word | Scalar | Index
_Number = Operand | float
#: What `step` takes: a float stands for its fp32, an int for its 32 bits.
Argument = Operand | float | int


@dataclass(frozen=True)
class Step:
    """One vector instruction: ``result = reduce(post(op(operands)))``."""

    op: VectorOp
    operands: tuple[Operand, ...]
    result: Tile
    post: Post = Post.NONE
    param: int = 0
    reduce: Reduce = Reduce.NONE
    reduce_op: ReduceOp = ReduceOp.SUM_I

    @property
    def walks(self) -> bool:
        """Whether it runs over all rows; else its operands are one row, and so is its result."""
        return any(map(_walks, self.operands))


@dataclass
class _Trace:
    values: int = 0
    steps: list[Step] = field(default_factory=list)

    def value(self, one_row: bool) -> Tile:
        self.values += 1
        return Tile(self, self.values - 1, one_row)


#: The trace of the function that `kernel` is calling.
_current: ContextVar[_Trace | None] = ContextVar("trace", default=None)


def _fp32(value: _Number) -> Operand:
    return word(float(value)) if isinstance(value, (int, float)) else value


def word(value: Argument) -> Operand:
    """Return the operand that a number stands for; operands are returned as they are."""
    if isinstance(value, np.number):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float, Tile, Word, Scalar, Index)):
        raise TypeError(f"operand must be a Tile, a scalar, an index or a number, not {value!r}")
    if isinstance(value, float):
        return Word(int(np.float32(value).view(np.uint32)))
    if isinstance(value, int):
        if not -1 << 31 <= value <= WORD_MASK:
            raise ValueError(f"operand must fit 32 bits, not {value!r}")
        return Word(value & WORD_MASK)
    return value


def lane_index(base: int = 0) -> Index:
    """Return the operand that holds ``base`` plus the number of the lane."""
    return Index(False, base)


def row_index(base: int = 0) -> Index:
    """Return the operand that holds ``base`` plus the number of the row in the whole matrix."""
    return Index(True, base)


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


def step(op: VectorOp, *operands: Argument, post: Post = Post.NONE, param: int = 0,
         reduce: Reduce = Reduce.NONE, reduce_op: ReduceOp = ReduceOp.SUM_I) -> Tile:
    """Record an instruction and return its result.

    Parameters
    ----------
    op, post, param, reduce, reduce_op
        Fields of the instruction (docs/isa.md); reductions are none, rows and lanes. Operations
        that move words are not for kernels.
    operands
        Those of the operation, then the numerator of ``post`` div. At most two of them may be tiles
        of more than one row. Without any such tile (and without a row index) the result has one
        row, and so it has with ``Reduce.ROWS``.

    Raises
    ------
    TypeError, ValueError
        If the chip has no such instruction.
    """
    words = tuple(word(operand) for operand in operands)
    if op in MOVEMENT_OPS:
        raise ValueError(f"{op.name.lower()} moves words and must not be in a kernel")
    taken = len(operand_names(op, post))
    if len(words) != taken:
        raise ValueError(f"{op.name.lower()} must have {taken} operands, not {len(words)}")
    trace = _current.get()
    tiles = [operand for operand in words if isinstance(operand, Tile)]
    if trace is None or any(tile.trace is not trace for tile in tiles):
        raise ValueError(f"operands of {op.name.lower()} must belong to the kernel being traced")
    if sum(not tile.one_row for tile in tiles) > STREAMS:
        raise ValueError(f"{op.name.lower()} must have at most {STREAMS} operands of more than one "
                         f"row")
    if post == Post.DIV and op not in DIV_OPS:
        raise ValueError(f"{op.name.lower()} must not have the second stage div, which takes c")
    if param and post not in PARAM_POSTS and op != VectorOp.REQUANT:
        raise ValueError(f"param of {op.name.lower()} must be 0, not {param!r}")
    if op == VectorOp.REQUANT and post != Post.NONE:
        raise ValueError(f"requant must have no second stage, not {post.name.lower()}")
    if reduce == Reduce.COLLECT:
        raise ValueError("reduce must be none, rows or lanes, not collect")
    result = trace.value(not any(map(_walks, words)) or reduce == Reduce.ROWS)
    trace.steps.append(Step(op, words, result, post, param, reduce, reduce_op))
    return result


def _walks(operand: Operand) -> bool:
    """Whether an operand differs from row to row."""
    if isinstance(operand, Tile):
        return not operand.one_row
    return isinstance(operand, Index) and operand.of_row


@dataclass(frozen=True)
class Input:
    """An array that a kernel takes or gives: a tile for each group of D columns.

    ``per_row``: it is one element a row, which every lane has; only lane 0 is given.
    """

    name: str
    tiles: tuple[Tile, ...]
    per_row: bool = False

    @property
    def one_row(self) -> bool:
        """Whether it is one row for all rows."""
        return self.tiles[0].one_row


@dataclass(frozen=True)
class Kernel:
    """Steps with names for what goes in and comes out; made by `kernel`.

    Attributes
    ----------
    inputs, outputs
        Arrays; those of more than one row have all the same rows.
    columns
        Columns of the arrays where that matters (a reduction over lanes, one row for all), else
        None: then an array of any shape will do, D elements a row.
    steps
        In the order in which they run, none of them without use.
    integers
        Names of the arrays that hold int32; the others hold float32.
    dim
        Lanes of the chip that it is for; None: any.
    """

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Input, ...]
    columns: int | None
    steps: tuple[Step, ...]
    integers: frozenset[str] = frozenset()
    dim: int | None = None

    @property
    def scalars(self) -> tuple[str, ...]:
        """Names of the scalars that must be bound."""
        names = (operand.name for taken in self.steps for operand in taken.operands
                 if isinstance(operand, Scalar))
        return tuple(dict.fromkeys(names))

    @property
    def cost(self) -> int:
        """Cycles of the vector unit per row: the instructions that walk all rows."""
        return sum(taken.walks for taken in self.steps)

    @property
    def needs_bf16(self) -> bool:
        """Whether it is for chips with floating point only."""
        return any(taken.op in FLOAT_OPS or taken.post in FLOAT_POSTS
                   or (taken.reduce and taken.reduce_op in FLOAT_REDUCES) for taken in self.steps)


def _used(steps: list[Step], outputs: Sequence[Input]) -> tuple[Step, ...]:
    wanted = {tile.number for output in outputs for tile in output.tiles}
    kept = []
    for taken in reversed(steps):
        if taken.result.number in wanted:
            kept.append(taken)
            wanted |= {operand.number for operand in taken.operands if isinstance(operand, Tile)}
    return tuple(reversed(kept))


def kernel(name: str, function: Callable[..., Any],
           inputs: Sequence[str] = ("x",), *, rows: Sequence[str] = (),
           columns: int | None = None, dim: int | None = None,
           integers: Sequence[str] = (), per_row: Sequence[str] = ()) -> Kernel:
    """Trace a function.

    Parameters
    ----------
    name
        What to call the kernel.
    function
        Called with a tile for each of ``inputs``, then for each of ``rows``; returns the tile of
        the one output ("y"), or a mapping from names of outputs to tiles. With ``columns`` it takes
        and gives lists of tiles, one for each group of ``dim`` columns.
    inputs
        Names of the arrays.
    rows
        Names of arrays of one row.
    columns, dim
        Columns of all arrays, and lanes of the chip, where the kernel depends on them.
    integers
        Names of the arrays that hold int32.
    per_row
        Names of the outputs that are one element a row; every lane must have it.
    """
    if columns is not None and (dim is None or columns < 1):
        raise ValueError(f"columns must be at least 1 and have a dim, not {columns!r}")
    if dim is not None and dim < 1:
        raise ValueError(f"dim must be at least 1, not {dim!r}")
    trace = _Trace()
    groups = 1 if columns is None or dim is None else ceil_div(columns, dim)
    arrays = tuple(Input(label, tuple(trace.value(label in rows) for _ in range(groups)))
                   for label in (*inputs, *rows))
    arguments = [list(array.tiles) if columns is not None else array.tiles[0] for array in arrays]
    token = _current.set(trace)
    try:
        results = function(*arguments)
    finally:
        _current.reset(token)
    if not isinstance(results, Mapping):
        results = {"y": results}
    outputs = tuple(Input(label, (tiles,) if isinstance(tiles, Tile) else tuple(tiles),
                          label in per_row)
                    for label, tiles in results.items())
    return Kernel(name, arrays, outputs, columns, _used(trace.steps, outputs), frozenset(integers),
                  dim)
