"""Training on a device, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.driver import Device
from celosia.driver.agree import same_state
from celosia.train.network import Adam, Classifier
from celosia.train.step import training_step

__all__ = ["Trainer"]


class Trainer:
    """A classifier in training. Program and state stay in the device's memory from step to step.

    Parameters
    ----------
    device
        The chip.
    net
        Sizes.
    parameters
        First parameters by the names of `Classifier.shapes`, float32.
    adam
        Its constants; None: those of the paper.

    Attributes
    ----------
    compiled
        The step.
    counters
        Performance counters of the last step; empty before the first.

    Raises
    ------
    ValueError
        If the chip cannot train such a network, or a parameter is missing or of another shape.
    OutOfDeviceMemory
        If program and state do not fit.
    """

    def __init__(self, device: Device, net: Classifier, parameters: Mapping[str, ArrayLike],
                 adam: Adam | None = None):
        self.device, self.net = device, net
        if set(parameters) != set(net.shapes):
            raise ValueError(f"parameters must be {', '.join(net.shapes)}, not "
                             f"{', '.join(parameters) or '(none)'}")
        self._loss = np.full((), np.nan, np.float32)
        self._state: dict[str, Any] = {
            name: np.zeros(shape, np.float32) for name, shape in net.state.items()}
        for name, value in parameters.items():
            given = np.array(value, np.float32)
            if given.shape != net.shapes[name]:
                raise ValueError(f"{name} must be float32{list(net.shapes[name])}, not "
                                 f"float32{list(given.shape)}")
            self._state[name] = given
        self.compiled = training_step(device.config, net, adam)
        self._loaded = self.compiled.load(device)

    @property
    def counters(self) -> Mapping[str, int]:
        """As the class says."""
        return self._loaded.counters

    def step(self, x: NDArray, labels: NDArray[np.integer], rate: float) -> float:
        """Update the parameters by a batch; return its mean loss before that.

        Parameters
        ----------
        x
            Rows (batch, inputs); rounded to bfloat16.
        labels
            The class of each row.
        rate
            Learning rate.

        Raises
        ------
        TypeError, ValueError
            If a shape does not fit the sizes, or a label is no integer or no class.
        DeviceError
            If the run fails.
        """
        classes = np.asarray(labels)
        if not np.issubdtype(classes.dtype, np.integer):
            raise TypeError(f"labels must be integers, not {classes.dtype}")
        if classes.size and not (0 <= classes.min() and classes.max() < self.net.classes):
            wrong = classes[(classes < 0) | (classes >= self.net.classes)]
            raise ValueError(f"labels must be from 0 to {self.net.classes - 1}, "
                             f"not {wrong.flat[0]}")
        loss, *state = self._loaded.run(
            np.asarray(x).astype(ml_dtypes.bfloat16), classes.astype(np.int32), np.float32(rate),
            *self._state.values())
        self._loss = np.asarray(loss)
        self._state = dict(zip(self._state, state, strict=True))
        return float(self._loss)

    def parameters(self) -> dict[str, NDArray[np.float32]]:
        """Return the parameters as they are now."""
        return {name: np.array(self._state[name]) for name in self.net.shapes}

    def state(self) -> dict[str, NDArray[np.float32]]:
        """Return the loss of the last step, and everything that goes on to the next one."""
        return {"loss": self._loss,
                **{name: np.array(value) for name, value in self._state.items()}}

    def equals(self, other: Trainer) -> bool:
        """Whether loss, parameters, state and the on-chip memories are the same, bit for bit.

        On-chip memories are compared where both devices show them.
        """
        mine, others = self.state(), other.state()
        return (all(mine[name].tobytes() == others[name].tobytes() for name in others)
                and same_state(self.device, other.device) is not False)

    def close(self) -> None:
        """Give the memory back."""
        self._loaded.free()
