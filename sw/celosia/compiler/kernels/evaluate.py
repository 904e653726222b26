"""Runs a kernel on NumPy arrays, bit for bit as the chip does."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from celosia.arch.vector import Reduce
from celosia.compiler.kernels.terms import Leaf, Term, word
from celosia.compiler.kernels.trace import Kernel
from celosia.model.fast.lanes import FAST

__all__ = ["evaluate"]

U32 = NDArray[np.uint32]


class _Values:
    def __init__(self, scalars: Mapping[str, float | int], rows: int, lanes: int, first_row: int):
        self.known: dict[Term, U32] = {}
        self.scalars, self.rows, self.lanes, self.first_row = scalars, rows, lanes, first_row

    def of(self, arg: Term) -> U32:
        if arg.op is Leaf.SCALAR:
            arg = word(self.scalars[arg.source])
        if arg.op is Leaf.WORD:
            return np.full((1, 1), arg.param, np.uint32)
        if arg.op is Leaf.ROW:
            index = np.arange(self.rows)[:, np.newaxis] + (arg.param + self.first_row)
        elif arg.op is Leaf.LANE:
            index = np.arange(self.lanes)[np.newaxis] + arg.param
        else:
            return self.known[arg]
        return index.astype(np.uint32)

    def run(self, step: Term) -> U32:
        words = [self.of(arg) for arg in step.args]
        result = FAST.compute(step.first, step.post, words, step.param)
        if step.reduce == Reduce.NONE:
            return result
        if step.reduce == Reduce.LANES:
            rows = np.broadcast_to(result, (len(result), self.lanes))
            words = FAST.join_lanes(step.reduce_op, rows)
            return np.broadcast_to(words[:, np.newaxis], rows.shape).copy()
        rows = np.broadcast_to(result, (self.rows, result.shape[1]))
        return FAST.join_rows(step.reduce_op, rows[np.newaxis])


def evaluate(kernel: Kernel, *arrays: NDArray, dim: int | None = None, rows: int | None = None,
             first_row: int = 0, **scalars: float | int) -> tuple[NDArray, ...]:
    """Run a kernel on matrices.

    Parameters
    ----------
    kernel
        What to run.
    arrays
        Matrices of 32-bit elements, one for each input in order: [rows, lanes] without
        `Kernel.columns` (any number of lanes that fits the kernel), else [rows, columns];
        [1, ..] or one axis for an input of one row.
    dim
        Lanes of a row; None: the columns of the arrays.
    rows
        Rows, for a kernel without inputs.
    first_row
        What row 0 is numbered.
    scalars
        Values by name: a float for its fp32, an int for its bits.

    Returns
    -------
    tuple of NDArray
        The outputs in order, ``uint32``: [rows, lanes], [rows, columns], or [rows, 1] for one that
        is one element a row.
    """
    words = [np.ascontiguousarray(np.atleast_2d(array)).view(np.uint32) for array in arrays]
    lanes = dim if dim is not None else words[0].shape[1]
    count = max((len(array) for array in words), default=0) or rows or 1
    values = _Values(scalars, count, lanes, first_row)
    for array, taken in zip(words, kernel.inputs, strict=True):
        for g, tile in enumerate(taken.tiles):
            part = array[:, g * lanes:(g + 1) * lanes]
            pad = lanes - part.shape[1] if kernel.columns is not None else 0
            values.known[tile] = np.pad(part, ((0, 0), (0, pad)))
    with np.errstate(over="ignore"):
        for step in kernel.steps:
            values.known[step] = values.run(step)
    results = []
    for output in kernel.outputs:
        height = 1 if output.one_row else count
        parts = [np.broadcast_to(values.known[tile], (height, lanes))
                 for tile in output.tiles]
        width = 1 if output.per_row else kernel.columns
        results.append(np.ascontiguousarray(np.concatenate(parts, 1)[:, :width]))
    return tuple(results)
