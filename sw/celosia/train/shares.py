"""Parameters whose optimiser the chips of a pod share: each one updates its part of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from celosia.train.network import Classifier

__all__ = ["OTHERS", "SHARE", "WeightShares"]

#: What a chip updates of the first layer's weights, and of all other parameters.
SHARE, OTHERS = "w1.share", "others.share"
_WHOLE = "b1", "w2", "b2"


@dataclass(frozen=True)
class WeightShares:
    """How parameters are cut among chips.

    Each chip has all of them for its array, and for the optimiser its share with its moments: rows
    of the first layer's weights, and of the others, which are one vector, so many elements; those
    of chip 0 first.

    Attributes
    ----------
    net
        The sizes.
    chips
        Which train together; one has no shares.
    """

    net: Classifier
    chips: int

    @property
    def shared(self) -> bool:
        """Whether there are shares."""
        return self.chips > 1

    @property
    def rows(self) -> int:
        """Rows of the first layer's weights that a chip has; those of the last ones may be zero."""
        return -(-self.net.hidden // self.chips)

    @property
    def parts(self) -> dict[str, tuple[int, int]]:
        """First element of each of the other parameters in their vector, and the one behind it."""
        found, at = {}, 0
        for name in _WHOLE:
            size = prod(self.net.shapes[name])
            found[name] = at, at + size
            at += size
        return found

    @property
    def others(self) -> int:
        """Elements of the vector: those of `parts`, one more, and what is missing to shares."""
        return -(-(self.parts["b2"][1] + 1) // self.chips) * self.chips

    @property
    def state(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all that goes from step to step on a chip."""
        found = self.net.state
        if self.shared:
            found = {name: found[name] for name in (*self.net.shapes, "correction")}
            own = {SHARE: (self.rows, self.net.inputs),
                   OTHERS: (self.others // self.chips,)}
            found |= {f"{name}{moment}": shape for moment in ("", ".mean", ".square")
                      for name, shape in own.items()}
        return found

    def first(self, parameters: Mapping[str, NDArray[np.float32]],
              chip: int) -> dict[str, NDArray[np.float32]]:
        """Return the state of a chip before the first step."""
        found = {name: np.zeros(shape, np.float32) for name, shape in self.state.items()}
        found |= {name: np.array(parameters[name], np.float32) for name in self.net.shapes}
        if self.shared:
            own = found["w1"][self.rows * chip:self.rows * (chip + 1)]
            found[SHARE][:len(own)] = own
            others = np.zeros(self.others, np.float32)
            for name, (start, stop) in self.parts.items():
                others[start:stop] = found[name].reshape(-1)
            found[OTHERS] = np.split(others, self.chips)[chip].copy()
        return found
