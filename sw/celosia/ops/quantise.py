"""Float networks as int8 networks: scales from calibration data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.ops.network import Dense

__all__ = ["FloatLayer", "QuantisedNetwork", "quantise_network"]


@dataclass(frozen=True, eq=False)
class FloatLayer:
    """A dense layer in float: weights (inputs, outputs), bias (outputs), relu or not."""

    weights: NDArray
    bias: NDArray
    relu: bool = False

    def __call__(self, x: NDArray) -> NDArray:
        """Return the layer's result for rows ``x``."""
        y = x @ self.weights + self.bias
        return np.maximum(y, 0) if self.relu else y


@dataclass(frozen=True, eq=False)
class QuantisedNetwork:
    """Layers in int8, and what the integers stand for.

    Attributes
    ----------
    layers
        For `celosia.ops.dense_network`; the last one gives int32 sums.
    scale, zero_point
        Of the input: real = scale * (integer - zero_point).
    output_scale
        Of the int32 sums: real = output_scale * integer.
    """

    layers: tuple[Dense, ...]
    scale: float
    zero_point: int
    output_scale: float

    def quantise(self, x: ArrayLike) -> NDArray[np.int8]:
        """Return real inputs as the integers that the network takes."""
        return _to_int8(_finite("x", x), self.scale, self.zero_point)

    def dequantise(self, sums: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the network's int32 results as real numbers."""
        return np.asarray(sums, np.float64) * np.float64(self.output_scale)


def _finite(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        at = tuple(int(i) for i in bad[0])
        raise ValueError(f"{name} must be finite, not {float(array[at])} at {list(at)}")
    return array


def _to_int8(x: NDArray[np.float64], scale: float, zero_point: int) -> NDArray[np.int8]:
    return np.clip(np.rint(x / scale) + zero_point, -128, 127).astype(np.int8)


def _range(values: NDArray[np.float64]) -> tuple[float, int]:
    """Scale and zero point that map the values, and 0 exactly, to int8."""
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    scale = (high - low) / 255 or 1.0
    return scale, int(np.clip(np.rint(-128 - low / scale), -128, 127))


def quantise_network(layers: Sequence[FloatLayer], calibration: ArrayLike) -> QuantisedNetwork:
    """Quantise a float network to int8.

    Weights are symmetric with a scale for each output channel (one for all in the last layer, so
    that its sums can be compared with each other). Activations have one scale and zero point a
    layer, from the smallest and largest value that the calibration rows bring about. Zero points
    are folded into the biases.

    Raises
    ------
    ValueError
        If a weight, a bias or a calibration value is not finite, there are no calibration rows, or
        sizes do not fit.
    """
    x = _finite("calibration", calibration)
    if not layers:
        raise ValueError("layers must hold at least one FloatLayer, not none")
    if x.ndim != 2 or not len(x) or x.shape[1] != layers[0].weights.shape[0]:
        raise ValueError(f"calibration must have rows of {layers[0].weights.shape[0]} values, "
                         f"not shape {list(x.shape)}")
    first = scale, zero_point = _range(x)
    made = []
    output_scale = 1.0
    for i, layer in enumerate(layers):
        weights = _finite(f"weights of layer {i}", layer.weights)
        bias = _finite(f"bias of layer {i}", layer.bias)
        if weights.shape[0] != x.shape[1] or bias.shape != weights.shape[1:]:
            raise ValueError(f"layer {i} must have weights ({x.shape[1]}, n) and bias (n), not "
                             f"{list(weights.shape)} and {list(bias.shape)}")
        last = i == len(layers) - 1
        largest = np.abs(weights).max(axis=None if last else 0)
        steps = np.where(largest > 0, largest / 127, 1.0)
        integers = np.clip(np.rint(weights / steps), -127, 127).astype(np.int8)
        sums_scale = scale * steps
        offset = zero_point * integers.astype(np.int64).sum(axis=0)
        biases = np.rint(bias / sums_scale).astype(np.int64) - offset
        if np.abs(biases).max() >= 1 << 31:
            raise ValueError(f"bias of layer {i} must fit int32 in units of its sums, not reach "
                             f"{np.abs(biases).max()}")
        x = FloatLayer(weights, bias, layer.relu)(x)
        if last:
            output_scale = float(sums_scale)
            made.append(Dense(integers, biases.astype(np.int32), layer.relu))
        else:
            scale, zero_point = _range(x)
            made.append(Dense(integers, biases.astype(np.int32), layer.relu,
                              scale=sums_scale / scale, zero_point=zero_point))
    return QuantisedNetwork(tuple(made), *first, output_scale)
