"""Float networks as int8 networks: scales from calibration data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.ops.network import Dense, scale_words

__all__ = ["FloatLayer", "QuantisedNetwork", "quantise_network"]

#: Scales are not smaller: a subnormal one has lost its precision.
_MIN_SCALE = float(np.finfo(np.float64).tiny)


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
    try:
        given = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array of real numbers, not a "
                         f"{type(values).__name__} of uneven rows") from None
    if not np.can_cast(given.dtype, np.float64, "same_kind"):
        raise TypeError(f"{name} must hold real numbers, not {given.dtype}")
    with np.errstate(all="ignore"):
        array: NDArray[np.float64] = given.astype(np.float64)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        at = tuple(int(i) for i in bad[0])
        raise ValueError(f"{name} must be finite, not {float(array[at])} at {list(at)}")
    return array


def _to_int8(x: NDArray[np.float64], scale: float, zero_point: int) -> NDArray[np.int8]:
    with np.errstate(over="ignore", under="ignore"):  # what is too large saturates
        return np.clip(np.rint(x / scale) + zero_point, -128, 127).astype(np.int8)


def _check_scale(name: str, scale: ArrayLike) -> None:
    values = np.ravel(scale)
    bad = values[~(np.isfinite(values) & (values >= _MIN_SCALE))]
    if len(bad):
        raise ValueError(f"{name} must be finite and at least {_MIN_SCALE}, not {float(bad[0])}")


def _range(name: str, values: NDArray[np.float64]) -> tuple[float, int]:
    """Scale and zero point that map the values, and 0 exactly, to int8."""
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    scale = (high - low) / 255 if high > low else 1.0
    _check_scale(f"scale of {name}", scale)
    return scale, int(np.clip(np.rint(-128 - low / scale), -128, 127))


def _floats(layers: Sequence[FloatLayer]) -> list[FloatLayer]:
    """Return the layers in float64; TypeError or ValueError where they contradict each other."""
    if not isinstance(layers, Sequence):
        raise TypeError(f"layers must be a sequence of FloatLayer, not {layers!r}")
    if not layers:
        raise ValueError("layers must hold at least one FloatLayer, not none")
    found: list[FloatLayer] = []
    for i, layer in enumerate(layers):
        if not isinstance(layer, FloatLayer):
            raise TypeError(f"layer {i} must be a FloatLayer, not {layer!r}")
        for part, values in (("weights", layer.weights), ("bias", layer.bias)):
            if not isinstance(values, np.ndarray):
                raise TypeError(f"{part} of layer {i} must be a NumPy array, not "
                                f"{type(values).__name__}")
        weights = _finite(f"weights of layer {i}", layer.weights)
        bias = _finite(f"bias of layer {i}", layer.bias)
        if weights.ndim != 2 or 0 in weights.shape:
            raise ValueError(f"weights of layer {i} must have two sizes of at least 1, not shape "
                             f"{list(weights.shape)}")
        inputs = found[-1].weights.shape[1] if found else weights.shape[0]
        if weights.shape[0] != inputs or bias.shape != weights.shape[1:]:
            raise ValueError(f"layer {i} must have weights ({inputs}, n) and bias (n), not "
                             f"{list(weights.shape)} and {list(bias.shape)}")
        found.append(FloatLayer(weights, bias, layer.relu))
    return found


def _quantise(layers: list[FloatLayer], x: NDArray[np.float64]) -> QuantisedNetwork:
    inputs = layers[0].weights.shape[0]
    if x.ndim != 2 or not len(x) or x.shape[1] != inputs:
        raise ValueError(f"calibration must have rows of {inputs} values, not shape "
                         f"{list(x.shape)}")
    first = scale, zero_point = _range("calibration", x)
    made = []
    output_scale = 1.0
    for i, layer in enumerate(layers):
        last = i == len(layers) - 1
        largest = np.abs(layer.weights).max(axis=None if last else 0)
        steps = np.where(largest > 0, largest / 127, 1.0)
        _check_scale(f"scale of the weights of layer {i}", steps)
        integers = np.clip(np.rint(layer.weights / steps), -127, 127).astype(np.int8)
        sums_scale = scale * steps
        _check_scale(f"scale of the sums of layer {i}", sums_scale)
        offset = zero_point * integers.astype(np.int64).sum(axis=0)
        biases = np.rint(layer.bias / sums_scale) - offset
        reach = float(np.abs(biases).max())
        if not reach < 1 << 31:
            raise ValueError(f"bias of layer {i} must fit int32 in units of its sums, not reach "
                             f"{reach:.10g}")
        x = _finite(f"results of layer {i}", layer(x))
        if last:
            output_scale = float(sums_scale)
            made.append(Dense(integers, biases.astype(np.int32), layer.relu))
        else:
            scale, zero_point = _range(f"the results of layer {i}", x)
            factors = sums_scale / scale
            scale_words(factors, len(factors), f"scale of layer {i}")
            made.append(Dense(integers, biases.astype(np.int32), layer.relu, scale=factors,
                              zero_point=zero_point))
    return QuantisedNetwork(tuple(made), *first, output_scale)


def quantise_network(layers: Sequence[FloatLayer], calibration: ArrayLike) -> QuantisedNetwork:
    """Quantise a float network to int8.

    Weights are symmetric with a scale for each output channel (one for all in the last layer, so
    that its sums can be compared with each other). Activations have one scale and zero point a
    layer, from the smallest and largest value that the calibration rows bring about. Zero points
    are folded into the biases.

    Raises
    ------
    TypeError
        If a layer is not a FloatLayer, or its weights, its bias or the calibration are not of real
        numbers.
    ValueError
        If a weight, a bias or a calibration value is not finite, there are no calibration rows,
        sizes do not fit, or results or scales become too large or too small.
    """
    with np.errstate(all="ignore"):  # what overflows is refused by name
        return _quantise(_floats(layers), _finite("calibration", calibration))
