"""Parameters whose optimiser the chips of a pod share: each one updates its part of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import lcm, prod

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from celosia.train.network import Classifier

__all__ = ["OTHERS", "WeightShares"]

#: What a chip updates of all parameters but the first layer's weights.
OTHERS = "others.share"
_WHOLE = "b1", "w2", "b2"
#: Sizes of the blocks of the first layer's weights: links are busy with one while the array is with
#: the next. Nothing is beside the first exchange and the last, so those are short, and neighbours
#: are not too unlike.
_SIZES = (2, 4, 5, 5, 5, 5, 4, 2)
#: Hidden units of which a block has a multiple, and bytes that so many need at least.
_UNITS, _BYTES = 16, 1 << 15


@dataclass(frozen=True)
class WeightShares:
    """How parameters are cut among chips.

    A chip has its share of the first layer's weights, which are gathered for each step, block after
    block. Of all other parameters it has all, and, for the optimiser, a share of their vector.
    Moments are of shares alone.

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

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """First hidden unit of each block and the one behind it; each chip has a share of a
        block's weights.
        """
        unit = lcm(self.chips, _UNITS)
        count, rest = divmod(self.net.hidden, unit)
        if not self.shared or rest or 4 * unit * self.net.inputs < _BYTES:
            return [(0, self.net.hidden)]
        ends = accumulate(_SIZES, initial=0)
        cuts = sorted({unit * round(count * end / sum(_SIZES)) for end in ends})
        return list(pairwise(cuts))

    @property
    def rows(self) -> list[int]:
        """Rows of each block's weights that a chip has; those of the last chips may be zero."""
        return [-(-(stop - start) // self.chips) for start, stop in self.blocks]

    @property
    def names(self) -> list[str]:
        """What a chip's share of each block is called."""
        return [f"w1.share{block}" for block in range(len(self.blocks))]

    @property
    def rounded(self) -> list[str]:
        """What a chip's share of each block in bf16 is called: that is what is gathered."""
        return [f"{name}.rounded" for name in self.names] if self.shared else []

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
        """Elements of the vector: those of `parts`, what is missing to shares, and one more."""
        return -(-(self.parts["b2"][1] + 1) // self.chips) * self.chips

    @property
    def state(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all that goes from step to step on a chip: fp32, but for `rounded`."""
        found = self.net.state
        if self.shared:
            found = {name: found[name] for name in (*_WHOLE, "correction")}
            blocks: dict[str, tuple[int, ...]] = {
                name: (rows, self.net.inputs)
                for name, rows in zip(self.names, self.rows, strict=True)}
            own = {**blocks, OTHERS: (self.others // self.chips,)}
            found |= {f"{name}{moment}": shape for moment in ("", ".mean", ".square")
                      for name, shape in own.items()}
            found |= dict(zip(self.rounded, blocks.values(), strict=True))
        return found

    def first(self, parameters: Mapping[str, NDArray[np.float32]],
              chip: int) -> dict[str, NDArray]:
        """Return the state of a chip before the first step."""
        found: dict[str, NDArray] = {name: np.zeros(shape, np.float32)
                                     for name, shape in self.state.items()}
        known = {name: np.array(parameters[name], np.float32) for name in self.net.shapes}
        found |= {name: value for name, value in known.items() if name in found}
        if self.shared:
            for name, (start, stop), rows in zip(self.names, self.blocks, self.rows, strict=True):
                own = known["w1"][start:stop][rows * chip:rows * (chip + 1)]
                found[name][:len(own)] = own
            others = np.zeros(self.others, np.float32)
            for name, (start, stop) in self.parts.items():
                others[start:stop] = known[name].reshape(-1)
            found[OTHERS] = np.split(others, self.chips)[chip].copy()
            found |= {short: found[name].astype(ml_dtypes.bfloat16)
                      for short, name in zip(self.rounded, self.names, strict=True)}
        return found
