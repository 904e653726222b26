"""A small classifier, trained with NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.ops import FloatLayer

__all__ = ["accuracy", "forward", "train"]

#: Rows of a step for a small and for a large data set, and how many rows make it large.
_BATCH, _LARGE_BATCH, _LARGE = 64, 256, 10_000
_RATE, _BETA1, _BETA2, _EPSILON = 2e-3, 0.9, 0.999, 1e-8


def forward(layers: list[FloatLayer], x: NDArray) -> NDArray:
    """Return the scores of each class for rows ``x``."""
    for layer in layers:
        x = layer(x)
    return x


def accuracy(scores: NDArray, labels: NDArray) -> float:
    """Return the share of rows whose best score is that of their label."""
    return float((scores.argmax(axis=1) == labels).mean())


def train(x: NDArray[np.float32], y: NDArray[np.int64], hidden: int, epochs: int,
          seed: int = 0) -> list[FloatLayer]:
    """Return two layers that minimise the cross entropy (Adam; Kingma and Ba, 2015).

    Parameters
    ----------
    x, y
        Rows and their classes, 0 .. 9.
    hidden
        Outputs of the first layer.
    epochs
        Times that every row is seen.
    seed
        Of the first weights and of the order of the rows.
    """
    rng = np.random.default_rng(seed)
    sizes = (x.shape[1], hidden, 10)
    values = []
    for k, n in zip(sizes, sizes[1:], strict=False):
        values += [(rng.standard_normal((k, n)) * np.sqrt(2 / k)).astype(np.float32),
                   np.zeros(n, np.float32)]
    means = [np.zeros_like(value) for value in values]
    squares = [np.zeros_like(value) for value in values]
    batch = _LARGE_BATCH if len(x) >= _LARGE else _BATCH
    step = 0
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(order), batch):
            rows = order[start:start + batch]
            step += 1
            rate = _RATE * np.sqrt(1 - _BETA2**step) / (1 - _BETA1**step)
            for value, mean, square, slope in zip(
                    values, means, squares, _slopes(values, x[rows], y[rows]), strict=True):
                mean += (1 - _BETA1) * (slope - mean)
                square += (1 - _BETA2) * (slope * slope - square)
                value -= rate * mean / (np.sqrt(square) + _EPSILON)
    w1, b1, w2, b2 = values
    return [FloatLayer(w1, b1, relu=True), FloatLayer(w2, b2)]


def _slopes(values: list[NDArray], x: NDArray, y: NDArray) -> list[NDArray]:
    """Return the gradient of the mean cross entropy for weights and biases."""
    w1, b1, w2, b2 = values
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    scores -= scores.max(axis=1, keepdims=True)
    error = np.exp(scores)
    error /= error.sum(axis=1, keepdims=True)
    error[np.arange(len(y)), y] -= 1
    error /= len(y)
    back = (error @ w2.T) * (hidden > 0)
    return [x.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(axis=0)]
