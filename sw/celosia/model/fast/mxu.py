"""Matmuls alone: those that :mod:`celosia.model.fast.batches` leaves."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import Matmul
from celosia.arch.config import TpuConfig
from celosia.arch.isa import MatmulFormat
from celosia.arch.numerics import F32, U32
from celosia.arch.streams import Stream
from celosia.model.fast import chain, numerics

__all__ = ["FastMxu", "int8_sums", "repeats", "write"]



class FastMxu:
    """The array and its tile of weights.

    Parameters
    ----------
    config
        The chip.
    """

    def __init__(self, config: TpuConfig):
        self._tile: NDArray = np.zeros((config.dim, config.dim),
                                       np.uint16 if config.bf16 else np.uint8)

    def load(self, weights: Stream, transpose: bool, ub: NDArray) -> None:
        """Take rows as the tile."""
        rows, dim = ub[weights.index()], ub.shape[1]
        if len(rows) < dim:
            rows = np.concatenate([rows, np.zeros((dim - len(rows), dim), rows.dtype)])
        self._tile = (rows.T if transpose else rows).copy()

    def execute(self, command: Matmul, ub: NDArray, acc: U32) -> None:
        """Do what `celosia.model.mxu.Mxu.execute` does."""
        if command.weights is not None:
            self.load(command.weights, command.transpose, ub)
        sums = chain.sums if command.fmt == MatmulFormat.BF16 else int8_sums
        acts = ub[command.acts.index()]
        write(command, sums(acts[np.newaxis], self._tile[np.newaxis])[0], acc)


def int8_sums(acts: NDArray, tiles: NDArray) -> U32:
    """Return sums[b][m][n] of acts[b][m][k] * tiles[b][k][n], the low bytes of both.

    Sums of at most 256 products of int8 stay below 2**24: a float32 BLAS forms them exactly.
    """
    return np.matmul(_signed(acts), _signed(tiles)).astype(np.int32).view(np.uint32)


def _signed(lanes: NDArray) -> F32:
    return lanes.astype(np.int8).astype(np.float32)


@np.errstate(all="ignore")
def write(command: Matmul, sums: U32, acc: U32) -> None:
    """Write the sums of a matmul, shape (rows, D), or add them."""
    index = command.acc.index()
    if not command.accumulate:
        acc[index] = sums  # where a row repeats, NumPy keeps the last
        return
    parts = None if isinstance(index, slice) else _rounds(command.acc.counts, command.acc.strides)
    if parts is None:
        acc[index] = _add(command.fmt, acc[index], sums)
        return
    assert not isinstance(index, slice)
    for part in parts:
        rows = index[part]
        acc[rows] = _add(command.fmt, acc[rows], sums[part])


def repeats(stream: Stream) -> bool:
    """Whether a row occurs twice in a stream."""
    return (not isinstance(stream.index(), slice)
            and _rounds(stream.counts, stream.strides) is not None)


@lru_cache(maxsize=256)
def _rounds(counts: tuple[int, ...], strides: tuple[int, ...]) -> list[NDArray[np.int64]] | None:
    """Split positions of a stream so that no row occurs twice in a part, keeping the order.

    Position p is in part r where its row occurred r times before. None where no row repeats.
    """
    offsets = Stream(0, counts, strides).offsets()
    order = np.argsort(offsets, kind="stable")
    ordered = offsets[order]
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    if len(first) == len(offsets):
        return None
    lengths = np.diff(first, append=len(offsets))
    rank = np.empty(len(offsets), np.int64)
    rank[order] = np.arange(len(offsets)) - np.repeat(first, lengths)
    return [np.flatnonzero(rank == r) for r in range(int(lengths.max()))]


def _add(fmt: MatmulFormat, a: U32, b: U32) -> U32:
    return a + b if fmt == MatmulFormat.INT8 else numerics.f32_add(a, b)
