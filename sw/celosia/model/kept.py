"""What is kept of runs that may come again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["KeptRuns"]

#: Runs that are kept whatever their size; beyond them so many more, of so many instructions in all:
#: a training step has a dozen small programs beside it.
_ALWAYS, _MOST, _INSTRUCTIONS = 8, 256, 400_000
_Run = TypeVar("_Run")


class KeptRuns(Generic[_Run]):
    """The last runs that can be repeated, by where and how they were started."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[object, _Run, int]] = OrderedDict()

    def find(self, key: Hashable, code: object) -> _Run | None:
        """Return what is kept of a run of the same code, if there is one."""
        found = self._kept.get(key)
        if found is None or found[0] != code:
            return None
        self._kept.move_to_end(key)
        return found[1]

    def keep(self, key: Hashable, code: object, run: _Run, instructions: int) -> None:
        """Keep a run that has ended with its halt, after so many instructions."""
        self._kept[key] = code, run, instructions
        self._kept.move_to_end(key)
        size = sum(each for _, _, each in self._kept.values())
        while len(self._kept) > _ALWAYS and (len(self._kept) > _MOST or size > _INSTRUCTIONS):
            size -= self._kept.popitem(last=False)[1][2]
