"""Matmuls that are known in advance, many at once.

They are given in order, and computed together when something looks at their rows; which ones these
are does not depend on data, so all indices are found once. What does depend on data is looked at
for a whole batch. Sums of bf16 are those of :mod:`celosia.model.fast.chain`; rows are added to with
native arithmetic, too, where no subnormal can appear, which is where all products, and the rows
that they are added to, are multiples of 2**-126. Matmuls alone are too little work for NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import Matmul
from celosia.arch.isa import MatmulFormat
from celosia.arch.numerics import F32, NAN, U16, U32
from celosia.arch.streams import Stream
from celosia.model.fast import chain, numerics
from celosia.model.fast.mxu import int8_sums, write

__all__ = ["Batch", "Job"]



@dataclass(frozen=True, slots=True)
class Job:
    """A matmul with its tile, which it may have kept."""

    command: Matmul
    weights: Stream
    transpose: bool

    @property
    def shape(self) -> tuple:
        """What must be the same in a batch."""
        command, weights = self.command, self.weights
        return (command.fmt, command.acts.counts, command.acts.strides, command.acc.counts,
                command.acc.strides, weights.counts, weights.strides, self.transpose)


@dataclass(frozen=True, slots=True)
class _Chains:
    """Chains of matmuls that are as long as each other.

    ``parts[i]`` selects the matmuls that are added in step i, one of each chain. ``rows`` are those
    of the accumulators, shape (chains, rows); ``accumulate``: what they held is added to.
    """

    accumulate: bool
    parts: list[slice | NDArray[np.int64]]
    rows: NDArray[np.int64]


class Batch:
    """Matmuls of the same shape, in order; none has an operand that one before it changes.

    Two of them write the same rows or none in common, and none writes a row twice.

    Parameters
    ----------
    jobs
        The matmuls.
    """

    def __init__(self, jobs: list[Job]):
        self._commands = [job.command for job in jobs]
        self._transpose = jobs[0].transpose
        self._acts = _rows([job.command.acts for job in jobs])
        self._weights = _rows([job.weights for job in jobs])
        self._chains = _chains(self._commands)

    def execute(self, ub: NDArray, acc: U32) -> None:
        """Run the matmuls on the two memories; wants NumPy's warnings switched off."""
        acts, tiles = ub[self._acts], ub[self._weights]
        if self._transpose:
            tiles = tiles.swapaxes(1, 2)
        if tiles.shape[1] != tiles.shape[2]:
            tiles = _square(tiles, ub.shape[1])
        if self._commands[0].fmt == MatmulFormat.INT8:
            self._integers(acts, tiles, acc)
        else:
            self._floats(acts, tiles, acc)

    def _integers(self, acts: NDArray, tiles: NDArray, acc: U32) -> None:
        sums = int8_sums(acts, tiles)
        for chains in self._chains:
            total = sums[chains.parts[0]]
            for part in chains.parts[1:]:
                total = total + sums[part]
            acc[chains.rows] = total + acc[chains.rows] if chains.accumulate else total

    def _floats(self, acts: U16, tiles: U16, acc: U32) -> None:
        (low_acts, top_acts), (low_tiles, top_tiles) = _exponents(acts), _exponents(tiles)
        safe = (low_acts + low_tiles >= chain.SAFE) & (low_acts > 0) & (low_tiles > 0)
        sums = chain.plain_sums(_wide(acts), _wide(tiles), top_acts + top_tiles <= chain.FINITE)
        starts = [start for start in (_start(chains, acc) for chains in self._chains)
                  if start is not None]
        if safe.all() and len(starts) == len(self._chains):
            for chains, start in zip(self._chains, starts, strict=True):
                total = sums[chains.parts[0]] + start
                for part in chains.parts[1:]:
                    total += sums[part]
                acc[chains.rows] = _canonical(total)
            return
        words = _canonical(np.ascontiguousarray(sums))
        if not safe.all():
            words[~safe] = chain.sums(acts[~safe], tiles[~safe])
        for command, part in zip(self._commands, words, strict=True):
            write(command, part, acc)


def _start(chains: _Chains, acc: U32) -> F32 | None:
    """Return what chains begin with, (chains, rows, D), or zero; None where it is too fine."""
    if not chains.accumulate:
        return np.zeros((1, 1, 1), np.float32)
    rows = acc[chains.rows]
    if numerics.exponent(rows) < numerics.COARSE:
        return None
    return rows.view(np.float32)


def _rows(streams: list[Stream]) -> NDArray[np.int64]:
    bases = np.array([stream.base for stream in streams])
    return bases[:, np.newaxis] + streams[0].offsets()


def _chains(commands: list[Matmul]) -> list[_Chains]:
    open_: dict[int, tuple[bool, list[int]]] = {}  # by the first row: all rows are alike
    for i, command in enumerate(commands):
        base = command.acc.base
        if command.accumulate and base in open_:
            open_[base][1].append(i)
        else:  # what was there is lost
            open_[base] = command.accumulate, [i]
    alike: dict[tuple[bool, int], list[list[int]]] = {}
    for accumulate, parts in open_.values():
        alike.setdefault((accumulate, len(parts)), []).append(parts)
    return [_Chains(accumulate, [_selection(list(step)) for step in zip(*chains, strict=True)],
                    _rows([commands[parts[0]].acc for parts in chains]))
            for (accumulate, _), chains in alike.items()]


def _selection(numbers: list[int]) -> slice | NDArray[np.int64]:
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    selected = range(numbers[0], numbers[-1] + 1, step) if step > 0 else range(0)
    if list(selected) == numbers:
        return slice(numbers[0], numbers[-1] + 1, step)
    return np.array(numbers)


def _square(tiles: NDArray, dim: int) -> NDArray:
    """Fill tiles up with zeros."""
    batch, depth, columns = tiles.shape
    whole = np.zeros((batch, dim, dim), tiles.dtype)
    whole[:, :depth, :columns] = tiles
    return whole


def _exponents(bits: U16) -> tuple[NDArray[np.int64], int]:
    """Return biased exponents: of each matmul's smallest non-zero number, and of the largest.

    The smallest is 256 where there is none, 0 where there is a subnormal.
    """
    magnitudes = bits << np.uint16(1)
    top = int(magnitudes.max()) >> 8
    magnitudes -= np.uint16(1)
    return (magnitudes.min(axis=(1, 2)).astype(np.int64) + 1) >> 8, top


def _wide(bits: U16) -> F32:
    words = bits.astype(np.uint32, order="C")
    words <<= np.uint32(16)
    return words.view(np.float32)


def _canonical(numbers: F32) -> U32:
    odd = np.isnan(numbers)
    bits = numbers.view(np.uint32)
    return np.where(odd, np.uint32(NAN), bits) if odd.any() else bits
