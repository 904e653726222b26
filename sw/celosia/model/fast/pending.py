"""bf16 sums of many matmuls at once: the fast path of the matrix unit.

A matmul alone is too little work for NumPy. So matmuls are collected and computed together, and
accumulator rows that are added to again and again stay here, transposed, until somebody looks at
them. Bits are those of
:func:`celosia.model.fast.chain.sums` and ``f32_add``: native float32 differs from the chip only in
subnormals, and none can appear where all products, and the rows that they are added to, are
multiples of 2**-126; a matmul for which that is not sure is refused, and its caller goes the plain
way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from celosia.model.commands import Matmul
from celosia.model.fast.widened import Acts
from celosia.model.streams import Stream, rounds

__all__ = ["Pending"]

F32 = NDArray[np.float32]
U32 = NDArray[np.uint32]

#: Biased exponents of the smallest non-zero operands of products that are multiples of 2**-126.
_SAFE = 2 * 127 - 112
#: Smallest biased exponent of fp32 numbers that are multiples of 2**-126.
_COARSE = np.uint32(24 << 23)
#: Elements of a block of partial sums: the block and its products fit a second-level cache.
_BLOCK = 1 << 16
_CANONICAL = np.uint32(0x7FC00000)


class Pending:
    """Matmuls that have been given, but are not yet in the accumulators.

    All of them have the same rows, or wait in the order in which they came.
    """

    def __init__(self) -> None:
        self._queue: list[tuple[Stream, bool, Acts, F32]] = []
        self._size = 0
        self._totals: dict[Stream, F32] = {}  # (D, rows) of each stream
        self._spans: dict[Stream, tuple[int, int]] = {}  # of totals and queue
        self._memory: F32 = np.empty((2, 0), np.float32)

    def __bool__(self) -> bool:
        return bool(self._spans)

    def takes(self, command: Matmul, acts: Acts, tile: F32, low: int, acc: U32) -> bool:
        """Take a matmul, or refuse it: the caller must then :meth:`flush` and compute it itself.

        Parameters
        ----------
        command
            The matmul; its format is bf16.
        acts
            Its activations.
        tile
            Its weights, fp32, [k][n]; no longer to be changed.
        low
            Smallest biased exponent of the weights that are not zero.
        acc
            The accumulators, in which all matmuls that are not pending have been written.
        """
        if acts.low + low < _SAFE:
            return False
        key = command.acc
        if key not in self._spans:
            if len(rounds(key) or ()) > 1:
                return False
            if self.touches([(key.base, key.last)]):
                self.flush(acc)
            if command.accumulate:
                rows = acc[key.index()]
                magnitude = rows & np.uint32(0x7FFFFFFF)
                if ((magnitude < _COARSE) & (magnitude != 0)).any():
                    return False
                self._totals[key] = np.array(rows.T, order="C").view(np.float32)
            self._spans[key] = key.base, key.last
        if self._queue and self._queue[0][2].values.shape != acts.values.shape:
            self._compute()
        self._queue.append((key, command.accumulate, acts, tile))
        self._size += acts.values.size
        if self._size >= _BLOCK:
            self._compute()
        return True

    def touches(self, spans: Iterable[tuple[int, int]]) -> bool:
        """Whether a pending matmul writes one of these spans of rows, first to last."""
        return any(first <= end and begin <= last
                   for first, last in spans for begin, end in self._spans.values())

    def flush(self, acc: U32) -> None:
        """Write what is pending."""
        self._compute()
        for key, total in self._totals.items():
            bits = total.view(np.uint32)
            odd = np.isnan(total)
            if odd.any():
                bits = np.where(odd, _CANONICAL, bits)
            acc[key.index()] = bits.T
        self._totals.clear()
        self._spans.clear()

    def _compute(self) -> None:
        """Bring the totals up to date."""
        if not self._queue:
            return
        batches: list[list[int]] = []  # matmuls of the same activations, one after another
        for i, (_, _, acts, _) in enumerate(self._queue):
            if i and self._queue[i - 1][2] is acts:
                batches[-1].append(i)
            else:
                batches.append([i])
        if any(len(batch) != len(batches[0]) for batch in batches):
            batches = [[i] for i in range(len(self._queue))]
        acts = [self._queue[batch[0]][2].values for batch in batches]
        depth, rows = acts[0].shape
        # (matmuls of different activations, of the same ones, lanes, rows), by k
        inner = acts[0][np.newaxis] if len(acts) == 1 else np.stack(acts)
        outer = np.array([tile for _, _, _, tile in self._queue])
        outer = outer.reshape(len(batches), -1, *outer.shape[1:])
        sums, product = self._buffers((len(batches), outer.shape[1], outer.shape[3], rows))
        sums.fill(0)
        with np.errstate(all="ignore"):
            for k in range(depth):
                np.multiply(outer[:, :, k, :, np.newaxis], inner[:, np.newaxis, k, np.newaxis],
                            out=product)
                np.add(sums, product, out=sums)
            flat = sums.reshape(-1, *sums.shape[2:])
            for part, (key, accumulate, _, _) in zip(flat, self._queue, strict=True):
                if accumulate:
                    total = self._totals[key]
                    np.add(total, part, out=total)
                else:
                    self._totals[key] = part.copy()
        self._queue.clear()
        self._size = 0

    def _buffers(self, shape: tuple[int, ...]) -> tuple[F32, F32]:
        """Return two arrays to write into, the same ones where they fit: new memory is slow."""
        size = math.prod(shape)
        if self._memory.shape[1] < size:
            self._memory = np.empty((2, size), np.float32)
        first, second = self._memory[:, :size]
        return first.reshape(shape), second.reshape(shape)
