"""The matrix unit: exact sums of a tile, vectorised over rows, columns and matmuls.

int8: sums of at most 256 products stay below 2**24, so a float32 BLAS forms them exactly.
bf16: see :mod:`celosia.model.chain`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.isa import MatmulFormat
from celosia.model import chain, fast
from celosia.model.commands import Matmul
from celosia.model.streams import rounds

__all__ = ["Mxu"]

F32 = NDArray[np.float32]
U32 = NDArray[np.uint32]


class Mxu:
    """The array and its weight tile, which matmuls of one run may keep.

    bf16 matmuls of the same length are collected, because a NumPy call costs more than the
    arithmetic of one of them; :meth:`settle` and :meth:`flush` write what is outstanding.

    Parameters
    ----------
    config
        The chip.
    """

    def __init__(self, config: TpuConfig):
        self._dim = config.dim
        self._wide = config.bf16
        lane = np.uint16 if config.bf16 else np.uint8
        self._tile: NDArray = np.zeros((config.dim, config.dim), lane)
        self._int8: F32 | None = None
        self._queue: list[tuple[Matmul, NDArray, NDArray]] = []
        self._queued = 0

    def execute(self, command: Matmul, ub: NDArray, acc: U32) -> None:
        """Run one matmul on the two memories; ``acc`` may lag behind until :meth:`flush`."""
        if command.weights is not None:
            tile = np.zeros_like(self._tile)
            tile[:command.weights.length] = ub[command.weights.index()]
            self._tile = np.ascontiguousarray(tile.T) if command.transpose else tile
            self._int8 = None
        acts = ub[command.acts.index()]
        if command.fmt == MatmulFormat.INT8:
            self.flush(acc)
            if self._int8 is None:
                self._int8 = self._signed(self._tile)
            sums = np.matmul(self._signed(acts), self._int8).astype(np.int32).view(np.uint32)
            _write(command, sums, acc)
            return
        if self._queue and self._queue[0][1].shape != acts.shape:
            self.flush(acc)
        self._queue.append((command, acts.copy(), self._tile))
        self._queued += acts.size
        if self._queued >= chain.BLOCK:
            self.flush(acc)

    def settle(self, acc: U32, spans: list[tuple[int, int]]) -> None:
        """Make rows of ``acc``, spans of first and last rows, what they must be."""
        if any(first <= command.acc.last and command.acc.base <= last
               for first, last in spans for command, _, _ in self._queue):
            self.flush(acc)

    def flush(self, acc: U32) -> None:
        """Write the sums of every matmul so far."""
        if not self._queue:
            return
        sums = chain.sums(np.stack([acts for _, acts, _ in self._queue]),
                          np.stack([tile for _, _, tile in self._queue]))
        for (command, _, _), part in zip(self._queue, sums, strict=True):
            _write(command, part, acc)
        self._queue.clear()
        self._queued = 0

    def _signed(self, lanes: NDArray) -> F32:
        if self._wide:
            lanes = lanes.astype(np.uint8)
        return lanes.view(np.int8).astype(np.float32)


def _write(command: Matmul, sums: U32, acc: U32) -> None:
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
