"""The matrix unit: exact sums of a tile, vectorised over rows, columns and matmuls.

int8: sums of at most 256 products stay below 2**24, so a float32 BLAS forms them exactly.
bf16: see :mod:`celosia.model.fast.chain`, and :mod:`celosia.model.fast.pending` for most of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.isa import MatmulFormat
from celosia.model.commands import Matmul
from celosia.model.fast import chain
from celosia.model.fast import numerics as fast
from celosia.model.fast.pending import Pending
from celosia.model.fast.widened import Widened
from celosia.model.streams import Stream, rounds

__all__ = ["Mxu", "write"]

F32 = NDArray[np.float32]
U32 = NDArray[np.uint32]


class Mxu:
    """The array and its weight tile, which matmuls of one run may keep.

    bf16 matmuls are collected (:class:`~celosia.model.fast.pending.Pending`), because a NumPy call
    costs more than the arithmetic of one of them; :meth:`settle` and :meth:`flush` write what is
    outstanding.

    Parameters
    ----------
    config
        The chip.
    """

    def __init__(self, config: TpuConfig):
        self._wide = config.bf16
        lane = np.uint16 if config.bf16 else np.uint8
        self._rows: NDArray = np.zeros((config.dim, config.dim), lane)  # of the tile, as stored
        self._transpose = False
        self._int8: F32 | None = None
        self._weights: F32 | None = None
        self._low = 0
        self._widened = Widened(config.ub_rows, config.dim) if config.bf16 else None
        self._pending = Pending()

    def execute(self, command: Matmul, ub: NDArray, acc: U32) -> None:
        """Run one matmul on the two memories; ``acc`` may lag behind until :meth:`flush`."""
        if command.weights is not None:
            self._load(command, command.weights, ub)
        if command.fmt == MatmulFormat.BF16:
            self._execute_bf16(command, ub, acc)
            return
        self.flush(acc)
        if self._int8 is None:
            self._int8 = self._signed(self._tile())
        acts = self._signed(ub[command.acts.index()])
        sums = np.matmul(acts, self._int8).astype(np.int32).view(np.uint32)
        write(command, sums, acc)

    def changed(self, first: int, last: int) -> None:
        """Note that rows of the unified buffer have been written."""
        if self._widened is not None:
            self._widened.changed(first, last)

    def settle(self, acc: U32, spans: list[tuple[int, int]]) -> None:
        """Make rows of ``acc``, spans of first and last rows, what they must be."""
        if self._pending and self._pending.touches(spans):
            self._pending.flush(acc)

    def flush(self, acc: U32) -> None:
        """Write the sums of every matmul so far."""
        if self._pending:
            self._pending.flush(acc)

    def _load(self, command: Matmul, weights: Stream, ub: NDArray) -> None:
        self._rows, self._transpose = ub[weights.index()].copy(), command.transpose
        self._int8 = self._weights = None
        if self._widened is not None and command.fmt == MatmulFormat.BF16:
            self._weights, self._low = self._widened.tile(weights, command.transpose, ub)

    def _tile(self) -> NDArray:
        """Return the tile, [k][n]: bits of its lanes."""
        rows, dim = self._rows.shape
        tile = np.concatenate([self._rows, np.zeros((dim - rows, dim), self._rows.dtype)])
        return np.ascontiguousarray(tile.T) if self._transpose else tile

    def _execute_bf16(self, command: Matmul, ub: NDArray, acc: U32) -> None:
        assert self._widened is not None
        if self._weights is not None and self._pending.takes(
                command, self._widened.acts(command.acts, ub), self._weights, self._low, acc):
            return
        self.flush(acc)
        bits = ub[command.acts.index()]
        write(command, chain.sums(bits[np.newaxis], self._tile()[np.newaxis])[0], acc)

    def _signed(self, lanes: NDArray) -> F32:
        if self._wide:
            lanes = lanes.astype(np.uint8)
        return lanes.view(np.int8).astype(np.float32)


@np.errstate(all="ignore")
def write(command: Matmul, sums: U32, acc: U32) -> None:
    """Write the sums of a matmul, shape (rows, D), or add them."""
    index = command.acc.index()
    if not command.accumulate:
        acc[index] = sums  # where a row repeats, NumPy keeps the last
        return
    parts = rounds(command.acc)
    if parts is None:
        acc[index] = _add(command.fmt, acc[index], sums)
        return
    assert not isinstance(index, slice)
    for part in parts:
        rows = index[part]
        acc[rows] = _add(command.fmt, acc[rows], sums[part])


def _add(fmt: MatmulFormat, a: U32, b: U32) -> U32:
    return a + b if fmt == MatmulFormat.INT8 else fast.f32_add(a, b)
