"""Strided streams of on-chip rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Index", "Stream", "Strides"]

#: Rows from one row of a stream to the next in each dimension, innermost first.
Strides = tuple[int, ...]

#: What selects rows of a memory: a slice where they are consecutive, else their numbers.
Index = slice | NDArray[np.int64]


@lru_cache(maxsize=256)
def _offsets(counts: tuple[int, ...], strides: tuple[int, ...]) -> NDArray[np.int64]:
    offsets = np.zeros(1, np.int64)
    for count, stride in zip(counts, strides, strict=True):
        steps = np.arange(count, dtype=np.int64) * stride
        offsets = (steps[:, np.newaxis] + offsets).reshape(-1)
    offsets.setflags(write=False)
    return offsets


class Stream:
    """Rows ``base + i0*s0 + i1*s1 + i2*s2``, ``i0`` innermost. Not to be changed.

    Parameters
    ----------
    base
        First row.
    counts
        Rows in each dimension, innermost first; each at least 1.
    strides
        Rows per step of each dimension; at least 0.

    Attributes
    ----------
    last
        Highest row.
    length
        Number of rows, repeated ones included.
    """

    # A plain class, because two or three are made for every tensor instruction.
    __slots__ = ("base", "counts", "last", "length", "strides")

    def __init__(self, base: int, counts: tuple[int, ...], strides: tuple[int, ...]):
        self.base, self.counts, self.strides = base, counts, strides
        length = 1
        for count, stride in zip(counts, strides, strict=True):
            length *= count
            base += (count - 1) * stride
        self.last, self.length = base, length

    def __eq__(self, other: object) -> bool:
        """Whether base, counts and strides are equal."""
        return (isinstance(other, Stream) and self.base == other.base
                and self.counts == other.counts and self.strides == other.strides)

    def __hash__(self) -> int:
        return hash((self.base, self.counts, self.strides))

    def __repr__(self) -> str:
        return f"Stream({self.base}, {self.counts}, {self.strides})"

    @staticmethod
    def linear(base: int, counts: tuple[int, int, int]) -> Stream:
        """Return a stream of consecutive rows."""
        n0, n1, n2 = counts
        return Stream(base, counts, (1, n0, n0 * n1))

    def at(self, base: int) -> Stream:
        """Return the same stream from another row on."""
        moved = Stream.__new__(Stream)
        moved.base, moved.counts, moved.strides = base, self.counts, self.strides
        moved.last, moved.length = base + self.last - self.base, self.length
        return moved

    @property
    def triple(self) -> Strides | None:
        """What a stride register must hold for it: 0 for a single row; None for consecutive rows.

        Streams whose rows are as far apart from each other have the same one.
        """
        expected, consecutive = 1, True
        for count, stride in zip(self.counts, self.strides, strict=True):
            consecutive = consecutive and (count == 1 or stride == expected)
            expected *= count
        if consecutive:
            return None
        return tuple(stride if count > 1 else 0
                     for count, stride in zip(self.counts, self.strides, strict=True))

    def index(self) -> Index:
        """Return what selects the rows of the stream, in order."""
        expected = 1
        for count, stride in zip(self.counts, self.strides, strict=True):
            if count > 1 and stride != expected:
                return self.base + _offsets(self.counts, self.strides)
            expected *= count
        return slice(self.base, self.base + expected)

    def offsets(self) -> NDArray[np.int64]:
        """Return the rows of the stream, in order, less its base; not to be changed."""
        return _offsets(self.counts, self.strides)
