"""Runs the code of a cluster on NumPy arrays, bit for bit as the chip does."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from celosia.arch import numerics
from celosia.arch.vector import NEUTRAL, Reduce, ReduceOp
from celosia.compiler.kernels.terms import Extent, Leaf, Term
from celosia.compiler.lowered import Code
from celosia.graph import DType, Value
from celosia.model.lanes import JOINS, PLAIN

__all__ = ["evaluate", "from_words", "to_words"]

U32 = NDArray[np.uint32]


def to_words(array: NDArray, dtype: DType) -> U32:
    """Return elements as they are on chip."""
    if dtype is DType.BOOL:
        return np.where(array, np.uint32(0xFFFFFFFF), np.uint32(0))
    if dtype.is_float:
        return np.ascontiguousarray(array.astype(np.float32)).view(np.uint32)
    return array.astype(np.int64).astype(np.uint32)


def from_words(words: U32, dtype: DType) -> NDArray:
    """Return words as a store leaves them: bf16 rounded, i8 saturated, bools bytes.

    f16 is stored as the fp32 of the same number, so it must be rounded before.
    """
    words = np.ascontiguousarray(words, np.uint32)
    if dtype is DType.BF16:
        return np.asarray(numerics.f32_to_bf16(words)).view(dtype.numpy)
    if dtype is DType.F32:
        return words.view(np.float32)
    if dtype is DType.F16:
        numbers = words.view(np.float32)
        np.testing.assert_array_equal(numbers.astype(np.float16).astype(np.float32), numbers)
        return numbers.astype(np.float16)
    if dtype is DType.BOOL:
        return words != 0
    if dtype is DType.I8:
        return numerics.saturate_i8(words.view(np.int32))
    return words.view(np.int32).astype(dtype.numpy)


def evaluate(code: Code, space: tuple[int, ...], arrays: Mapping[Value, NDArray], dim: int = 16,
             kept: int | None = None) -> dict[Value, U32]:
    """Run the code of a cluster.

    Lanes are joined panel by panel first (panel 0 with 1, that with 2, ..), lanes beyond the last
    column holding `NEUTRAL`, then as `celosia.arch.numerics.lane_tree` does; rows one after
    another.

    Parameters
    ----------
    space, kept
        Of the `Cluster`.
    arrays
        What is read, and the product's result: elements as the graph has them, in any shape.
    dim
        Lanes of the chip.

    Returns
    -------
    dict
        Words of what is written: [rows, columns] for FULL, [rows] for COLUMN, [columns] for ROW, []
        for SCALAR; what is joined over rows has as many rows as are kept.
    """
    rows, lanes = math.prod(space[:-1]), space[-1] if space else 1
    groups = rows if kept is None else math.prod(space[:kept])
    run = _Run(code, rows, lanes, dim)
    for value, term in code.inputs.items():
        words = to_words(np.asarray(arrays[value]), value.dtype)
        run.words[term] = words.reshape(run.shape(term))
    with np.errstate(all="ignore"):
        for step in code.steps:
            run.step(step)
        found = {}
        for value, term in code.outputs.items():
            words = run.words[term]
            if term.reduce is Reduce.ROWS:
                count, width = words.shape
                rows = words.reshape(groups, count // groups, width)
                words = PLAIN.join_rows(term.reduce_op, rows)
            found[value] = _squeezed(words, term.extent)
    return found


def _squeezed(words: U32, extent: Extent) -> U32:
    if extent is Extent.FULL:
        return words
    if extent is Extent.ROWS:
        return words[:, 0]
    return words[0] if extent is Extent.LANES else words[0, 0]


class _Run:
    def __init__(self, code: Code, rows: int, lanes: int, dim: int):
        self.code, self.rows, self.lanes, self.dim = code, rows, lanes, dim
        self.words: dict[Term, U32] = {}

    def shape(self, term: Term) -> tuple[int, int]:
        return (self.rows if Extent.ROWS in term.extent else 1,
                self.lanes if Extent.LANES in term.extent else 1)

    def step(self, step: Term) -> None:
        words = PLAIN.compute(step.first, step.post, [self._of(arg) for arg in step.args],
                              step.param)
        if step.reduce is Reduce.LANES:
            words = self._joined(step.reduce_op, words)
        self.words[step] = np.broadcast_to(words, self.shape(step)).copy()

    def _of(self, arg: Term) -> U32:
        if arg.is_word:
            return np.full((1, 1), arg.param, np.uint32)
        if arg.op is Leaf.LANE:
            return (np.arange(self.lanes)[np.newaxis] + arg.param).astype(np.uint32)
        return self.words[arg]

    def _joined(self, op: ReduceOp, words: U32) -> U32:
        count = len(words)
        words = np.broadcast_to(words, (count, self.lanes))
        panels = -(-self.lanes // self.dim)
        padded = np.full((count, panels * self.dim), NEUTRAL[op], np.uint32)
        padded[:, :self.lanes] = words
        total = padded[:, :self.dim]
        for panel in range(1, panels):
            total = np.asarray(JOINS[op](total, padded[:, panel * self.dim:(panel + 1) * self.dim]))
        return PLAIN.join_lanes(op, np.ascontiguousarray(total))[:, np.newaxis]
