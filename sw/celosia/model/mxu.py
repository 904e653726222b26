"""The matrix unit: products of rows with a tile of weights, and what is added to what."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import Matmul
from celosia.arch.config import TpuConfig
from celosia.arch.isa import MatmulFormat
from celosia.arch.numerics import U16, U32, f32_add, f32_mul

__all__ = ["Mxu", "chain", "int8_sums"]



class Mxu:
    """The array and its tile of weights, which matmuls may keep.

    Parameters
    ----------
    config
        The chip.

    Attributes
    ----------
    tile
        Lanes as they are in the unified buffer, shape (D, D), [k][n].
    """

    def __init__(self, config: TpuConfig):
        self.tile: NDArray = np.zeros((config.dim, config.dim),
                                      np.uint16 if config.bf16 else np.uint8)

    def execute(self, command: Matmul, ub: NDArray, acc: U32) -> None:
        """Run one matmul on the two memories."""
        if command.weights is not None:
            self.tile[:] = 0
            self.tile[:command.weights.length] = ub[command.weights.index()]
            if command.transpose:
                self.tile = np.ascontiguousarray(self.tile.T)
        acts = ub[command.acts.index()]
        if command.fmt == MatmulFormat.INT8:
            sums, add = int8_sums(acts, self.tile), np.add
        else:
            sums, add = chain(acts, self.tile), f32_add
        # A row that occurs again holds the last sums, or is added to again.
        for row, words in zip(command.acc.base + command.acc.offsets(), sums, strict=True):
            acc[row] = add(acc[row], words) if command.accumulate else words


def int8_sums(acts: NDArray, tile: NDArray) -> U32:
    """Return sums [m][n] over k of int8 acts[m][k] * tile[k][n], 32 bits of them."""
    a, w = (lanes.astype(np.uint8).view(np.int8).astype(np.int32) for lanes in (acts, tile))
    return np.matmul(a, w).view(np.uint32)


def chain(acts: U16, tile: U16) -> U32:
    """Return sums [m][n] of bf16 acts[m][k] * tile[k][n], in fp32: over k ascending, from +0 on."""
    a, w = (bits.astype(np.uint32) << np.uint32(16) for bits in (acts, tile))
    total = np.zeros((len(a), w.shape[1]), np.uint32)
    for k in range(len(w)):
        total = np.asarray(f32_add(total, f32_mul(a[:, k, np.newaxis], w[k])))
    return total
