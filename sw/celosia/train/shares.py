"""Weights whose optimiser the chips of a pod share: each one updates its part of every block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import lcm

import numpy as np
from numpy.typing import NDArray

from celosia.train.network import Classifier

__all__ = ["WeightShares"]

#: Rows that the array makes at once, where it has most.
_TILE = 16
#: Fewest bytes of a block whose exchange is worth a part of the program, and how many such the
#: longest blocks have: short ones come last, for nothing hides their exchange.
_BLOCK, _LONGEST = 1 << 15, 5


@dataclass(frozen=True)
class WeightShares:
    """How the weights of the first layer are cut into blocks of rows, and those among chips.

    Each chip has all weights for its array, and for the optimiser its share of each block, with
    its moments: rows behind each other, those of chip 0 first.

    Attributes
    ----------
    net
        The sizes.
    chips
        Which train together; of one, or where rows cannot be shared evenly, there are no blocks.
    """

    net: Classifier
    chips: int

    @cached_property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """First row of each block, and the one behind it."""
        rows, chips = self.net.hidden, self.chips
        if chips == 1 or rows % chips:
            return ()
        whole = lcm(chips, _TILE) // chips
        least = -(-_BLOCK // (4 * self.net.inputs * chips * whole)) * whole
        units = max(1, rows // chips // least)
        sizes: list[int] = []
        while units:
            sizes.append(min(1 if len(sizes) < 2 else sizes[-1] + 1, _LONGEST, units))
            units -= sizes[-1]
        found, at = [], rows
        for size in sizes:
            start = at - size * least * chips
            found.append((start, at))
            at = start
        return tuple((0 if i == 0 else start, stop)
                     for i, (start, stop) in enumerate(reversed(found)))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of what is a chip's own: of each block its share, and that one's moments."""
        return {f"w1.{i}{moment}": ((stop - start) // self.chips, self.net.inputs)
                for i, (start, stop) in enumerate(self.blocks)
                for moment in ("", ".mean", ".square")}

    @property
    def state(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all that goes from step to step on a chip."""
        whole = self.net.state
        if self.blocks:
            del whole["w1.mean"], whole["w1.square"]
        correction = whole.pop("correction")
        return {**whole, **self.shapes, "correction": correction}

    def first(self, parameters: Mapping[str, NDArray[np.float32]],
              chip: int) -> dict[str, NDArray[np.float32]]:
        """Return the state of a chip before the first step."""
        found = {name: np.zeros(shape, np.float32) for name, shape in self.state.items()}
        found |= {name: np.array(parameters[name], np.float32) for name in self.net.shapes}
        for i, (start, stop) in enumerate(self.blocks):
            found[f"w1.{i}"] = np.split(found["w1"][start:stop], self.chips)[chip].copy()
        return found
