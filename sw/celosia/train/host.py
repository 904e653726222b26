"""The same training in NumPy, in float32 throughout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from celosia.arch.numerics import F32
from celosia.train.network import Adam, Classifier

__all__ = ["HostTrainer", "accuracy", "batches", "initial_parameters"]



def initial_parameters(net: Classifier, seed: int = 0) -> dict[str, F32]:
    """Return normal weights of variance 2 / inputs (He et al., 2015), and biases of zero."""
    rng = np.random.default_rng(seed)
    return {name: (rng.standard_normal(shape) * np.sqrt(2 / shape[1])).astype(np.float32)
            if len(shape) == 2 else np.zeros(shape, np.float32)
            for name, shape in net.shapes.items()}


def batches(rows: int, batch: int, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of one batch after another, without end.

    Every epoch has an order of its own; rows that do not fill a batch at its end are left out.
    """
    if batch < 1:
        raise ValueError(f"batch must be at least 1, not {batch}")
    if rows < batch:
        raise ValueError(f"batch must be at most {rows}, the rows there are, not {batch}")
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(rows)
        for start in range(0, rows - batch + 1, batch):
            yield order[start:start + batch]


def scores(parameters: Mapping[str, F32], x: F32) -> F32:
    """Return the scores of each class for rows ``x``."""
    hidden = np.maximum(x @ parameters["w1"].T + parameters["b1"], 0)
    return hidden @ parameters["w2"].T + parameters["b2"]


def accuracy(parameters: Mapping[str, F32], x: F32, labels: NDArray[np.integer]) -> float:
    """Return the share of rows whose best score is that of their label."""
    return float((scores(parameters, x).argmax(axis=1) == labels).mean())


class HostTrainer:
    """Trains as a `Trainer` does, in NumPy and float32.

    Parameters
    ----------
    parameters
        By the names of `Classifier.shapes`; copied.
    adam
        Its constants; None: those of the paper.
    """

    def __init__(self, parameters: Mapping[str, F32], adam: Adam | None = None):
        self.adam = Adam() if adam is None else adam
        self._values = {name: np.array(value, np.float32) for name, value in parameters.items()}
        self._means = {name: np.zeros_like(value) for name, value in self._values.items()}
        self._squares = {name: np.zeros_like(value) for name, value in self._values.items()}
        self._steps = 0

    def parameters(self) -> dict[str, F32]:
        """Return copies of the parameters."""
        return {name: value.copy() for name, value in self._values.items()}

    def step(self, x: F32, labels: NDArray[np.integer], rate: float) -> float:
        """Update the parameters by a batch; return its mean loss before that."""
        beta1, beta2, epsilon = self.adam.beta1, self.adam.beta2, self.adam.epsilon
        self._steps += 1
        mean_scale = rate / (1 - beta1**self._steps)
        square_scale = 1 / (1 - beta2**self._steps)
        loss, slopes = self._slopes(x, labels)
        for name, slope in slopes.items():
            mean, square = self._means[name], self._squares[name]
            mean += (1 - beta1) * (slope - mean)
            square += (1 - beta2) * (slope * slope - square)
            self._values[name] -= mean_scale * mean / (np.sqrt(square * square_scale) + epsilon)
        return loss

    def _slopes(self, x: F32, labels: NDArray[np.integer]) -> tuple[float, dict[str, F32]]:
        """Return the loss of a batch and its gradient."""
        values, rows = self._values, np.arange(len(labels))
        hidden = np.maximum(x @ values["w1"].T + values["b1"], 0)
        shifted = hidden @ values["w2"].T + values["b2"]
        shifted -= shifted.max(axis=1, keepdims=True)
        error = np.exp(shifted)
        total = error.sum(axis=1, keepdims=True)
        loss = float((np.log(total[:, 0]) - shifted[rows, labels]).mean())
        error /= total
        error[rows, labels] -= 1
        error /= np.float32(len(labels))
        back = (error @ values["w2"]) * (hidden > 0)
        return loss, {"w1": back.T @ x, "b1": back.sum(axis=0),
                      "w2": error.T @ hidden, "b2": error.sum(axis=0)}
