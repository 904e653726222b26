"""What the programs compute, in plain NumPy: an independent account of the same arithmetic."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from celosia.arch import numerics
from celosia.ops.formats import OUTPUTS
from celosia.ops.network import Dense, scale_words

__all__ = ["reference_matmul", "reference_network"]

#: Where every non-zero magnitude is between these, each product and each sum of products is a
#: multiple of 2**-114: no subnormal can appear, and float32 of NumPy rounds as the chip does.
_SAFE = (2.0**-50, 2.0**50)


def _plain(array: NDArray[np.float32]) -> bool:
    magnitude = np.abs(array[array != 0])
    return magnitude.size == 0 or bool(_SAFE[0] <= magnitude.min() and magnitude.max() <= _SAFE[1])


def _chain(a: NDArray[np.float32], b: NDArray[np.float32], dim: int) -> NDArray[np.float32]:
    """Sum in the array's order: k ascending in tiles of ``dim`` from +0 on, then tile by tile."""
    plain = _plain(a) and _plain(b)
    total: NDArray[np.float32] | None = None
    for tile in range(0, a.shape[1], dim):
        part = np.zeros((a.shape[0], b.shape[1]), np.float32)
        for k in range(tile, min(tile + dim, a.shape[1])):
            if plain:
                part += a[:, k, np.newaxis] * b[k]
            else:
                product = numerics.f32_mul(a[:, k, np.newaxis].view(np.uint32),
                                           b[k].view(np.uint32))
                part = _add(part, np.asarray(product).view(np.float32), plain)
        total = part if total is None else _add(total, part, plain)
    assert total is not None
    return total


def _add(a: NDArray[np.float32], b: NDArray[np.float32], plain: bool) -> NDArray[np.float32]:
    if plain:
        return a + b
    return np.asarray(numerics.f32_add(a.view(np.uint32), b.view(np.uint32))).view(np.float32)


def _integer(a: NDArray, b: NDArray, bias: NDArray | None, scale: NDArray | None, relu: bool,
             zero_point: int) -> NDArray:
    # float64 holds every partial sum of 2**38 products exactly.
    sums = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64).astype(np.int32)
    if scale is not None:
        low = max(-128, zero_point) if relu else -128
        offset = np.int32(0) if bias is None else bias
        return np.asarray(numerics.requant(sums, scale.view(np.uint32), offset, zero_point, low,
                                           127)).astype(np.int8)
    if bias is not None:
        sums = sums + bias
    return np.maximum(sums, 0) if relu else sums


def reference_matmul(a: NDArray, b: NDArray, dim: int, *, bias: NDArray | None = None,
                     scale: NDArray | None = None, relu: bool = False,
                     zero_point: int = 0, output: str | None = None) -> NDArray:
    """Return ``finish(a @ b + bias)`` bit for bit as a chip of side ``dim`` gives it.

    Parameters
    ----------
    a, b
        (m, k) and (k, n), both int8 or both bfloat16, not transposed.
    dim
        Side of the array, which sets the order of floating-point sums.
    bias, relu, zero_point, output
        As of `celosia.ops.matmul`.
    scale
        One for each column: requantise words for an int8 output, float32 factors for bf16.
    """
    if a.dtype == np.int8:
        return _integer(a, b, bias, scale, relu, operator.index(zero_point))
    sums = _chain(a.astype(np.float32), b.astype(np.float32), dim)
    bits = np.asarray(numerics.flush(sums.view(np.uint32)))
    if scale is not None and bias is not None:
        bits = np.asarray(numerics.f32_fma(bits, scale.view(np.uint32), bias.view(np.uint32)))
    elif scale is not None:
        bits = np.asarray(numerics.f32_mul(bits, scale.view(np.uint32)))
    elif bias is not None:
        bits = np.asarray(numerics.f32_add(bits, bias.view(np.uint32)))
    if relu:
        bits = np.asarray(numerics.relu_f(bits))
    if output == "bfloat16":
        return np.asarray(numerics.f32_to_bf16(bits)).view(ml_dtypes.bfloat16)
    return bits.view(np.float32)


def reference_network(x: NDArray, layers: Sequence[Dense], dim: int,
                      output: str | None = None) -> NDArray:
    """Return what `celosia.ops.dense_network` gives for a batch ``x``, bit for bit."""
    for i, layer in enumerate(layers):
        weights = layer.weights.T if layer.transpose else layer.weights
        scale = None if layer.scale is None else scale_words(layer.scale, layer.outputs)
        wanted = output if i == len(layers) - 1 else OUTPUTS["bf16"][1]
        x = reference_matmul(x, weights, dim, bias=layer.bias, scale=scale, relu=layer.relu,
                             zero_point=layer.zero_point, output=wanted)
    return x
