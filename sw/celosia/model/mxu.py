"""The matrix unit: exact sums of a tile, vectorised over rows and columns.

int8: sums of at most 256 products stay below 2**24, so a float32 BLAS forms them exactly.

bf16: a chain over k ascending, ``sum = f32_add(sum, f32_mul(a[k], w[k]))`` from +0 on. A product
of two bf16 is exact in fp32 or underflows. Plain NumPy differs from the chip only where a
subnormal appears: none can where the smallest non-zero magnitudes of a row of activations and of
the tile have exponents that sum to -112 or more, for then every product, and so every partial
sum, is a multiple of 2**-126. Other rows take a slower path that flushes in each step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.isa import MatmulFormat
from celosia.arch.numerics import f32_add, flush
from celosia.model.commands import Matmul
from celosia.model.streams import rounds

__all__ = ["Mxu", "chain_bf16"]

_TINY = np.float32(2.0**-126)
#: Biased exponents of non-zero operands that sum to this or more (-112 unbiased) are safe.
_SAFE = 2 * 127 - 112
#: Elements of a partial-sum block: two blocks of fp32 fit a second-level cache.
_BLOCK = 1 << 15

F32 = NDArray[np.float32]
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]


def _widen(bits: U16) -> F32:
    """Return bf16 as fp32, subnormals flushed to a zero of their sign."""
    flushed = np.where(bits & np.uint16(0x7F80), bits, bits & np.uint16(0x8000))
    return (flushed.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _exponents(values: F32, axis: int | None) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the smallest and largest biased exponent of the non-zero values along an axis.

    The smallest is 255 where all values are zero.
    """
    exponents = (values.view(np.int32) & 0x7F800000) >> 23
    low = np.where(exponents == 0, 255, exponents).min(axis=axis)
    return low, exponents.max(axis=axis)


def _chain(acts: F32, tile: F32, exact: bool) -> F32:
    """Sum products over k ascending, plainly or (``exact``) flushing each product and sum."""
    rows, depth = acts.shape
    wide = rows >= depth
    # The longer side is the inner, contiguous one; out is (columns, rows) where wide.
    inner = np.ascontiguousarray(acts.T) if wide else tile
    outer = tile.T if wide else acts
    out = np.zeros((outer.shape[0], inner.shape[1]), np.float32)
    step = max(_BLOCK // out.shape[1], 1)
    for start in range(0, out.shape[0], step):
        total = out[start:start + step]
        product = np.empty_like(total)
        part = outer[start:start + step]
        for k in range(depth):
            np.multiply(part[:, k, np.newaxis], inner[k], out=product)
            if exact:
                product *= np.abs(product) >= _TINY
            total += product
            if exact:
                total *= np.abs(total) >= _TINY
    return out.T if wide else out


def chain_bf16(acts: U16, tile: U16) -> U32:
    """Return sums[m][n] over k ascending of acts[m][k] * tile[k][n], as fp32 bit patterns.

    Parameters
    ----------
    acts
        bf16 bit patterns, shape (rows, depth).
    tile
        bf16 bit patterns, shape (depth, columns).
    """
    a, w = _widen(acts), _widen(tile)
    a_low, a_high = _exponents(a, 1)
    w_low, w_high = _exponents(w, None)
    safe = a_low + w_low >= _SAFE
    with np.errstate(all="ignore"):
        if safe.all():
            sums = _chain(a, w, exact=False)
        elif not safe.any():
            sums = _chain(a, w, exact=True)
        else:
            sums = np.empty((a.shape[0], w.shape[1]), np.float32)
            sums[safe] = _chain(a[safe], w, exact=False)
            sums[~safe] = _chain(a[~safe], w, exact=True)
    bits = np.ascontiguousarray(sums).view(np.uint32)
    high, w_top = int(a_high.max()), int(w_high)
    if max(high, w_top) == 255 or high + w_top >= 360:  # a NaN went in, or an overflow may make one
        bits = np.asarray(flush(bits))
    return bits


class Mxu:
    """The array and its weight tile, which matmuls of one run may keep.

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

    def execute(self, command: Matmul, ub: NDArray, acc: U32) -> None:
        """Run one matmul on the two memories."""
        if command.weights is not None:
            tile = np.zeros_like(self._tile)
            tile[:command.weights.length] = ub[command.weights.index()]
            self._tile = np.ascontiguousarray(tile.T) if command.transpose else tile
            self._int8 = None
        acts = ub[command.acts.index()]
        if command.fmt == MatmulFormat.INT8:
            if self._int8 is None:
                self._int8 = self._signed(self._tile)
            sums = np.matmul(self._signed(acts), self._int8).astype(np.int32).view(np.uint32)
        else:
            sums = chain_bf16(acts, self._tile)
        index = command.acc.index()
        if not command.accumulate:
            acc[index] = sums  # where a row repeats, NumPy keeps the last
            return
        parts = rounds(command.acc)
        if parts is None:
            acc[index] = self._add(command.fmt, acc[index], sums)
            return
        assert not isinstance(index, slice)
        for part in parts:
            rows = index[part]
            acc[rows] = self._add(command.fmt, acc[rows], sums[part])

    def _signed(self, lanes: NDArray) -> F32:
        if self._wide:
            lanes = lanes.astype(np.uint8)
        return lanes.view(np.int8).astype(np.float32)

    @staticmethod
    def _add(fmt: MatmulFormat, a: U32, b: U32) -> U32:
        return a + b if fmt == MatmulFormat.INT8 else np.asarray(f32_add(a, b))
