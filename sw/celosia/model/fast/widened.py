"""The bf16 rows of the unified buffer as fp32, widened once for as long as they stay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.model.streams import Stream

__all__ = ["Acts", "Widened"]

F32 = NDArray[np.float32]
U16 = NDArray[np.uint16]

#: Rows that are widened at a time behind those that are wanted, where they are new too.
_AHEAD = 1024
#: Sets of activations that are kept.
_KEPT = 256


class Acts:
    """Activations of a matmul.

    Attributes
    ----------
    values
        fp32, shape (D, rows), contiguous.
    low
        Smallest biased exponent of the values that are not zero; 256 where there are none.
    """

    __slots__ = ("low", "values")

    def __init__(self, values: F32, low: int):
        self.values, self.low = values, low


class Widened:
    """A copy in fp32 of a buffer of bf16 bits, brought up to date where it is looked at.

    Subnormals are zeros.

    Parameters
    ----------
    rows, dim
        Shape of the buffer.
    """

    def __init__(self, rows: int, dim: int):
        self._stale = np.ones(rows, np.bool_)
        self._values: F32 = np.zeros((rows, dim), np.float32)
        #: Bits without the sign, shifted up, less one: zeros are the largest.
        self._magnitudes: U16 = np.zeros((rows, dim), np.uint16)
        self._acts: dict[Stream, Acts] = {}

    def changed(self, first: int, last: int) -> None:
        """Note that rows of the buffer have been written."""
        self._stale[first:last + 1] = True
        for stream in [s for s in self._acts if s.base <= last and first <= s.last]:
            del self._acts[stream]

    def acts(self, stream: Stream, buffer: U16) -> Acts:
        """Return the rows of a stream as activations."""
        acts = self._acts.get(stream)
        if acts is None:
            self._update(stream, buffer)
            index = stream.index()
            # A copy: the transpose of one row would be a view of what changes later.
            acts = Acts(np.array(self._values[index].T, order="C"),
                        (int(self._magnitudes[index].min()) + 1) >> 8)
            if len(self._acts) >= _KEPT:
                self._acts.clear()
            self._acts[stream] = acts
        return acts

    def tile(self, stream: Stream, transpose: bool, buffer: U16) -> tuple[F32, int]:
        """Return the rows of a stream as a weight tile, [k][n], and its smallest exponent."""
        self._update(stream, buffer)
        index = stream.index()
        values = self._values[index]
        low = (int(self._magnitudes[index].min()) + 1) >> 8
        rows, dim = values.shape
        if rows != dim:
            values = np.concatenate([values, np.zeros((dim - rows, dim), np.float32)])
        return (values.T if transpose else values).copy(), low

    def _update(self, stream: Stream, buffer: U16) -> None:
        first, end = stream.base, stream.last + 1
        if not self._stale[first:end].any():
            return
        behind = self._stale[end:end + _AHEAD]
        if len(behind):
            end += len(behind) if behind.all() else int(behind.argmin())
        bits = buffer[first:end]
        magnitudes = self._magnitudes[first:end]
        np.left_shift(bits, np.uint16(1), out=magnitudes)
        magnitudes -= np.uint16(1)
        words = self._values[first:end].view(np.uint32)
        np.left_shift(bits, np.uint32(16), out=words, dtype=np.uint32)
        if magnitudes.min() < 0xFF:
            subnormal = magnitudes < 0xFF
            words[subnormal] &= np.uint32(0x80000000)
            magnitudes[subnormal] = 0xFFFF
        self._stale[first:end] = False
