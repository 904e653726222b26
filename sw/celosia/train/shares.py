"""Weights whose optimiser the chips of a pod share: each one updates its part of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.train.network import Classifier

__all__ = ["SHARE", "WeightShares"]

#: What a chip updates of the first layer's weights.
SHARE = "w1.share"


@dataclass(frozen=True)
class WeightShares:
    """How the weights of the first layer are cut among chips: rows, those of chip 0 first.

    Each chip has all weights for its array, and for the optimiser its share with its moments.

    Attributes
    ----------
    net
        The sizes.
    chips
        Which train together; of one, or where rows cannot be shared evenly, there are no shares.
    """

    net: Classifier
    chips: int

    @property
    def shared(self) -> bool:
        """Whether there are shares."""
        return self.chips > 1 and self.net.hidden % self.chips == 0

    @property
    def state(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all that goes from step to step on a chip."""
        found = self.net.state
        if self.shared:
            del found["w1.mean"], found["w1.square"]
            shape = self.net.hidden // self.chips, self.net.inputs
            found |= {f"{SHARE}{moment}": shape for moment in ("", ".mean", ".square")}
        return found

    def first(self, parameters: Mapping[str, NDArray[np.float32]],
              chip: int) -> dict[str, NDArray[np.float32]]:
        """Return the state of a chip before the first step."""
        found = {name: np.zeros(shape, np.float32) for name, shape in self.state.items()}
        found |= {name: np.array(parameters[name], np.float32) for name in self.net.shapes}
        if self.shared:
            found[SHARE] = np.split(found["w1"], self.chips)[chip].copy()
        return found
