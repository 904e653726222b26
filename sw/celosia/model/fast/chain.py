"""The bf16 sums of the array, bit for bit, in NumPy.

A sum is the chain ``sum = f32_add(sum, f32_mul(a[k], w[k]))`` over k ascending, from +0 on. The
product of two bf16 is exact in fp32 or underflows, so plain float32 arithmetic differs from the
chain only where a subnormal appears. None can where the smallest non-zero magnitudes of the
activations and of the tile have exponents that sum to -112 or more, for then every product, and so
every partial sum, is a multiple of 2**-126. Other operands take a path that flushes in each step.

Where products are exact, it is the same whether a sum is rounded after a product or fused with it.
So the host's GEMM gives the chain too, if it has one sum for each element and adds to it in order,
and so do NumPy's own loops. Some do, some do not; it is tried, for each shape, with so many sums
that none comes out right by luck.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from celosia.arch.numerics import F32, TINY, U16, U32, flush
from celosia.arch.words import ceil_div

__all__ = ["FINITE", "SAFE", "plain_sums", "sums"]


_TINY = np.float32(TINY)
#: Biased exponents of the smallest non-zero operands that sum to this (-112 unbiased) are safe.
SAFE = 2 * 127 - 112
#: Biased exponents of the largest operands that sum to less cannot make an overflow.
_OVERFLOW = 360
#: Biased exponents of the largest operands that sum to this or less: no product overflows.
FINITE = 2 * 127 + 126
#: Products of a GEMM that no library spreads over threads: its order could depend on their number.
_ALONE = 1 << 18
#: Elements of a block of partial sums: the block and its products fit a second-level cache.
_BLOCK = 1 << 16
#: Sums that show that products are added in order: of three terms that are not zero, one in ten or
#: so tells one order from another.
_SHOWING = 1 << 11


def sums(acts: U16, tiles: U16) -> U32:
    """Return sums[b][m][n] over k ascending of acts[b][m][k] * tiles[b][k][n].

    Parameters
    ----------
    acts
        bf16 bit patterns, shape (batch, rows, depth).
    tiles
        bf16 bit patterns, shape (batch, depth, columns).

    Returns
    -------
    numpy.ndarray
        fp32 bit patterns, shape (batch, rows, columns).
    """
    a, w = _widen(acts), _widen(tiles)
    a_low, a_high = _exponents(a, -1)  # of each row
    w_low, w_high = _exponents(w, (1, 2))  # of each tile
    safe = a_low + w_low[:, np.newaxis] >= SAFE
    with np.errstate(all="ignore"):
        a_top, w_top = int(a_high.max()), int(w_high.max())
        if safe.all():
            out = plain_sums(a, w, a_top + w_top <= FINITE)
        else:
            out = np.empty((a.shape[0], a.shape[1], w.shape[2]), np.float32)
            for b, rows in enumerate(safe):
                for exact, part in ((False, rows), (True, ~rows)):
                    if part.any():
                        out[b, part] = _chain(a[b:b + 1, part], w[b:b + 1], exact)[0]
    bits = np.ascontiguousarray(out).view(np.uint32)
    if max(a_top, w_top) == 255 or a_top + w_top >= _OVERFLOW:  # there may be a NaN
        bits = np.asarray(flush(bits))
    return bits


def plain_sums(acts: F32, tiles: F32, finite: bool) -> F32:
    """Return the sums of `sums` where no subnormal can appear; wants warnings switched off.

    ``finite``: no product overflows either.
    """
    batch, rows, depth = acts.shape
    turned = tiles.strides[2] > tiles.strides[1]
    way = _way(batch, rows, depth, tiles.shape[2], turned) if finite else None
    return _products(acts, tiles) if way is None else way(acts, tiles)


def _step(depth: int, columns: int) -> int:
    return max(_ALONE // (depth * columns), 1)


def _gemm(acts: F32, tiles: F32) -> F32:
    """Return them by the host's GEMM."""
    batch, rows, depth = acts.shape
    columns = tiles.shape[2]
    step = _step(depth, columns)
    out = np.empty((batch, rows, columns), np.float32)
    for row in range(0, rows, step):
        np.matmul(acts[:, row:row + step], tiles, out=out[:, row:row + step])
    return out


def _einsum(acts: F32, tiles: F32) -> F32:
    """Return them by NumPy's loops, of which the innermost is over rows."""
    turned = np.ascontiguousarray(acts.swapaxes(1, 2))
    return np.einsum("bkm,bkn->bnm", turned, np.ascontiguousarray(tiles)).swapaxes(1, 2)


def _products(acts: F32, tiles: F32) -> F32:
    """Return the same, by products of a column and a row each."""
    inner, outer = (np.ascontiguousarray(each) for each in (
        acts.transpose(2, 0, 1), tiles.swapaxes(0, 1)))
    depth, batch, rows = inner.shape
    out = np.zeros((batch, outer.shape[2], rows), np.float32)
    step = max(_BLOCK // out[0].size, 1)
    product = np.empty_like(out[:step])
    for b in range(0, batch, step):
        part = out[b:b + step]
        for k in range(depth):
            # Sums nothing, and is faster than a product with an operand that is repeated.
            np.einsum("bn,bm->bnm", outer[k, b:b + step], inner[k, b:b + step],
                      out=product[:len(part)])
            part += product[:len(part)]
    return out.swapaxes(1, 2)


def _way(batch: int, rows: int, depth: int, columns: int,
         turned: bool) -> Callable[[F32, F32], F32] | None:
    """Return what adds products of this shape one after another, k ascending; None: neither does.

    ``turned``: the tiles lie by columns.
    """
    step = _step(depth, columns)
    alike = rows if rows <= step else step + rows % step  # GEMM is given rows as many at a time
    return _tried(min(batch, 2), alike, depth, columns, turned)


@lru_cache(maxsize=1024)
def _tried(batch: int, rows: int, depth: int, columns: int,
           turned: bool) -> Callable[[F32, F32], F32] | None:
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> F32:
        # Rounding shows the order: terms are of several magnitudes. Zeros have both signs.
        numbers = rng.standard_normal(shape) * np.exp2(rng.integers(-6, 7, shape))
        numbers *= rng.random(shape) > 0.1
        return _widen((numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))

    count = batch * ceil_div(_SHOWING, batch * rows * columns)
    acts, tiles = draw(count, rows, depth), draw(count, depth, columns)
    if turned:
        tiles = np.ascontiguousarray(tiles.swapaxes(1, 2)).swapaxes(1, 2)
    wanted = _chain(acts, tiles, exact=False).view(np.uint32)

    def holds(way: Callable[[F32, F32], F32]) -> bool:
        return all(np.array_equal(way(acts[b:b + batch], tiles[b:b + batch]).view(np.uint32),
                                  wanted[b:b + batch]) for b in range(0, count, batch))

    return next((way for way in (_gemm, _einsum) if holds(way)), None)


def _widen(bits: U16) -> F32:
    """Return bf16 as fp32, subnormals flushed to a zero of their sign."""
    flushed = np.where(bits & np.uint16(0x7F80), bits, bits & np.uint16(0x8000))
    return (flushed.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _exponents(values: F32, axis: int | tuple[int, int]) -> tuple[NDArray, NDArray]:
    """Return the smallest and largest biased exponent of the non-zero values along axes.

    The smallest is 255 where all values are zero.
    """
    exponents = (values.view(np.int32) & 0x7F800000) >> 23
    low = np.where(exponents == 0, 255, exponents).min(axis=axis)
    return low, exponents.max(axis=axis)


def _chain(acts: F32, tiles: F32, exact: bool) -> F32:
    """Sum products over k ascending, plainly or (``exact``) flushing each product and sum."""
    depth = acts.shape[2]
    wide = acts.shape[1] >= tiles.shape[2]
    # The longer side is the inner, contiguous one; out is (batch, columns, rows) where wide.
    inner = np.ascontiguousarray(acts.swapaxes(1, 2)) if wide else tiles
    outer = tiles.swapaxes(1, 2) if wide else acts
    out = np.zeros((outer.shape[0], outer.shape[1], inner.shape[2]), np.float32)
    step = max(_BLOCK // inner.shape[2], 1)
    batch = max(step // outer.shape[1], 1)
    for b in range(0, out.shape[0], batch):
        for row in range(0, out.shape[1], step):
            where = (slice(b, b + batch), slice(row, row + step))
            _accumulate(out[where], outer[where], inner[b:b + batch], depth, exact)
    return out.swapaxes(1, 2) if wide else out


def _accumulate(total: F32, outer: F32, inner: F32, depth: int, exact: bool) -> None:
    product = np.empty_like(total)
    for k in range(depth):
        np.multiply(outer[:, :, k, np.newaxis], inner[:, k, np.newaxis], out=product)
        if exact:
            product *= np.abs(product) >= _TINY
        total += product
        if exact:
            total *= np.abs(total) >= _TINY
