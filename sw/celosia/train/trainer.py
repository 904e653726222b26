"""Training on a device, step by step."""

from __future__ import annotations

from collections.abc import Mapping

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.driver import Device, RunResult
from celosia.driver.agree import same_state
from celosia.train.places import Adam, Classifier
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
    result
        The run of the last step, with its counters; None before the first.

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
        self.result: RunResult | None = None
        if set(parameters) != set(net.shapes):
            raise ValueError(f"parameters must be {', '.join(net.shapes)}, not "
                             f"{', '.join(parameters) or '(none)'}")
        self.program = training_step(device.config, net, adam)
        self._loaded = device.load(self.program)
        for name, value in parameters.items():
            device.put(np.asarray(value, np.float32), into=self._loaded.array(name))

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
        self.result = self.device.run(self._loaded, {
            "x": np.asarray(x).astype(ml_dtypes.bfloat16),
            "labels": classes.astype(np.int32), "rate": np.array([rate], np.float32)})
        return float(self.result["loss"][0])

    def parameters(self) -> dict[str, NDArray[np.float32]]:
        """Return the parameters as they are now."""
        return {name: self.device.get(self._loaded.array(name)) for name in self.net.shapes}

    def state(self) -> dict[str, NDArray]:
        """Return everything that a step leaves in external memory, by name of its buffer."""
        names = [buffer.name for buffer in self.program.buffers if buffer.kind != "constant"]
        return {name: self.device.get(self._loaded.array(name)) for name in names}

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
