"""bf16 matmuls that are known in advance, many at once.

They are given in order, and computed together when something looks at their rows; which ones these
are does not depend on data, so all indices are found once. What does depend on data is looked at
for a whole batch. Sums are those of :mod:`celosia.model.fast.chain`; rows are added to with native
arithmetic, too, where no subnormal can appear, which is where all products, and the rows that they
are added to, are multiples of 2**-126. Matmuls alone are too little work for NumPy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import Matmul
from celosia.arch.streams import Stream
from celosia.model.fast import chain, numerics
from celosia.model.fast.mxu import write

__all__ = ["Batch", "Job", "Scratch"]

F32 = NDArray[np.float32]
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]

_NAN = np.uint32(0x7FC00000)


class Scratch:
    """Memory to write into, the same again and again: new memory is slow."""

    def __init__(self) -> None:
        self._words: F32 = np.empty((2, 0), np.float32)

    def pair(self, shape: tuple[int, ...]) -> tuple[F32, F32]:
        """Return two arrays, which are good until the next call."""
        size = math.prod(shape)
        if self._words.shape[1] < size:
            self._words = np.empty((2, size), np.float32)
        first, second = self._words[:, :size]
        return first.reshape(shape), second.reshape(shape)


@dataclass(frozen=True, slots=True)
class Job:
    """A matmul with its tile, which it may have kept."""

    command: Matmul
    weights: Stream
    transpose: bool

    @property
    def shape(self) -> tuple:
        """What must be the same in a batch."""
        return (self.command.acts.counts, self.command.acts.strides, self.command.acc.counts,
                self.command.acc.strides, self.weights.counts, self.weights.strides,
                self.transpose)


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
    scratch
        Memory that batches share.
    """

    def __init__(self, jobs: list[Job], scratch: Scratch):
        self._scratch = scratch
        self._commands = [job.command for job in jobs]
        self._transpose = jobs[0].transpose
        self._acts = _rows([job.command.acts for job in jobs])
        self._weights = _rows([job.weights for job in jobs])
        self._chains = _chains(self._commands)

    def execute(self, ub: U16, acc: U32) -> None:
        """Run the matmuls on the two memories; wants NumPy's warnings switched off."""
        acts, tiles = ub[self._acts], ub[self._weights]
        if self._transpose:
            tiles = tiles.swapaxes(1, 2)
        if tiles.shape[1] != tiles.shape[2]:
            tiles = _square(tiles, ub.shape[1])
        low_acts, low_tiles = _exponents(acts), _exponents(tiles)
        safe = (low_acts + low_tiles >= chain.SAFE) & (low_acts > 0) & (low_tiles > 0)
        sums = _sums(acts, tiles, self._scratch)
        starts = [start for start in (_start(chains, acc) for chains in self._chains)
                  if start is not None]
        if safe.all() and len(starts) == len(self._chains):
            for chains, start in zip(self._chains, starts, strict=True):
                total = sums[chains.parts[0]] + start
                for part in chains.parts[1:]:
                    total += sums[part]
                acc[chains.rows] = _canonical(total).swapaxes(1, 2)
            return
        words = _canonical(sums).swapaxes(1, 2)
        if not safe.all():
            words[~safe] = chain.sums(acts[~safe], tiles[~safe])
        for command, part in zip(self._commands, words, strict=True):
            write(command, part, acc)


def _start(chains: _Chains, acc: U32) -> F32 | None:
    """Return what chains begin with, (chains, D, rows), or zero; None where it is too fine."""
    if not chains.accumulate:
        return np.zeros((1, 1, 1), np.float32)
    rows = acc[chains.rows]
    if numerics.exponent(rows) < numerics.COARSE:
        return None
    return rows.view(np.float32).swapaxes(1, 2)


def _rows(streams: list[Stream]) -> NDArray[np.int64]:
    bases = np.array([stream.base for stream in streams])
    return bases[:, np.newaxis] + streams[0].offsets()


def _chains(commands: list[Matmul]) -> list[_Chains]:
    open_: dict[Stream, tuple[bool, list[int]]] = {}
    for i, command in enumerate(commands):
        if command.accumulate and command.acc in open_:
            open_[command.acc][1].append(i)
        else:  # what was there is lost
            open_[command.acc] = command.accumulate, [i]
    alike: dict[tuple[bool, int], list[Stream]] = {}
    for stream, (accumulate, parts) in open_.items():
        alike.setdefault((accumulate, len(parts)), []).append(stream)
    return [_Chains(accumulate,
                    [_selection([open_[stream][1][step] for stream in streams])
                     for step in range(length)], _rows(streams))
            for (accumulate, length), streams in alike.items()]


def _selection(numbers: list[int]) -> slice | NDArray[np.int64]:
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    selected = range(numbers[0], numbers[-1] + 1, step) if step > 0 else range(0)
    if list(selected) == numbers:
        return slice(numbers[0], numbers[-1] + 1, step)
    return np.array(numbers)


def _square(tiles: U16, dim: int) -> U16:
    """Fill tiles up with zeros."""
    batch, depth, columns = tiles.shape
    whole = np.zeros((batch, dim, dim), np.uint16)
    whole[:, :depth, :columns] = tiles
    return whole


def _exponents(bits: U16) -> NDArray[np.int64]:
    """Return the biased exponent of the smallest non-zero number of each matmul.

    It is 256 where there is none, 0 where there is a subnormal.
    """
    magnitudes = bits << np.uint16(1)
    magnitudes -= np.uint16(1)
    return (magnitudes.min(axis=(1, 2)).astype(np.int64) + 1) >> 8


def _sums(acts: U16, tiles: U16, scratch: Scratch) -> F32:
    """Return the sums [b][n][m] over k ascending of acts[b][m][k] * tiles[b][k][n]."""
    inner, outer = _wide(acts.transpose(2, 0, 1)), _wide(tiles.swapaxes(0, 1))
    depth, batch, rows = inner.shape
    sums, product = scratch.pair((batch, outer.shape[2], rows))
    sums.fill(0)
    for k in range(depth):
        # Sums nothing, and is faster than a product with an operand that is repeated.
        np.einsum("bn,bm->bnm", outer[k], inner[k], out=product)
        sums += product
    return sums


def _wide(bits: U16) -> F32:
    words = bits.astype(np.uint32, order="C")
    words <<= np.uint32(16)
    return words.view(np.float32)


def _canonical(numbers: F32) -> U32:
    odd = np.isnan(numbers)
    bits = numbers.view(np.uint32)
    return np.where(odd, _NAN, bits) if odd.any() else bits
