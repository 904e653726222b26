"""A small classifier, trained with NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.ops import FloatLayer
from celosia.train import HostTrainer

__all__ = ["accuracy", "forward", "train"]

#: Rows of a step for a small and for a large data set, and how many rows make it large.
_BATCH, _LARGE_BATCH, _LARGE = 64, 256, 10_000
_RATE = 2e-3


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
    """Return two layers that minimise the cross entropy (`HostTrainer`).

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
    first = {}
    for i, (k, n) in enumerate(((x.shape[1], hidden), (hidden, 10)), 1):
        first[f"w{i}"] = (rng.standard_normal((k, n)) * np.sqrt(2 / k)).T
        first[f"b{i}"] = np.zeros(n)
    trainer = HostTrainer(first)
    batch = _LARGE_BATCH if len(x) >= _LARGE else _BATCH
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(order), batch):
            rows = order[start:start + batch]
            trainer.step(x[rows], y[rows], _RATE)
    trained = trainer.parameters()
    return [FloatLayer(np.ascontiguousarray(trained["w1"].T), trained["b1"], relu=True),
            FloatLayer(np.ascontiguousarray(trained["w2"].T), trained["b2"])]
