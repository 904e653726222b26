"""Runs that are repeated.

A program does the same instructions in every run, and takes as many cycles by the estimate, as long
as the numbers that it reads back into the scalar unit are the same: those with which loops count
are. So the steps of a run are kept, and a later one of the same code takes them at once: what they
do is the same, only finding them is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.model.fast.steps import BadIndex
from celosia.model.state import ModelResult

__all__ = ["MOST_STEPS", "Look", "OtherNumber", "Recording"]

#: Steps of a run that are kept at most, those of all chips together.
MOST_STEPS = 400_000
#: Steps from one call of ``progress`` to the next.
_PACE = 64


class OtherNumber(Exception):
    """A repeated run has read another number: ``numbers`` are all that it has read."""

    def __init__(self, numbers: list[int]):
        super().__init__(numbers)
        self.numbers = numbers


class Look(NamedTuple):
    """A step of a run that reads a number, and goes on as it did where it is the same.

    Attributes
    ----------
    acc, row, lane
        Where it is.
    numbers
        What the run has read, all of it, of which this is number ``index``.
    """

    acc: NDArray[np.uint32]
    row: int
    lane: int
    numbers: list[int]
    index: int

    def __call__(self) -> None:
        """Read; OtherNumber if it is another one."""
        found = int(self.acc[self.row, self.lane])
        if found != self.numbers[self.index]:
            raise OtherNumber([*self.numbers[:self.index], found])


@dataclass(frozen=True)
class Recording:
    """A run that can be repeated: its steps, how it ended."""

    steps: list[Callable[[], object]]
    result: ModelResult

    def repeat(self, progress: Callable[[int], None] | None = None) -> ModelResult:
        """Run it again, on the same memories; ``progress`` as of `PlainMachine.run`.

        Raises
        ------
        OtherNumber
            If it cannot go on as it did.
        """
        cycles = self.result.cycles
        try:
            with np.errstate(all="ignore"):
                for index, step in enumerate(self.steps):
                    if progress is not None and index % _PACE == 0:
                        progress(cycles * index // len(self.steps))
                    step()
        except BadIndex as bad:
            return bad.result
        return self.result
