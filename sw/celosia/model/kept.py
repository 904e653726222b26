"""What is kept of runs that may come again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["KeptRuns"]

_MOST = 8
_Run = TypeVar("_Run")


class KeptRuns(Generic[_Run]):
    """The last runs that can be repeated, by where and how they were started."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[object, _Run]] = OrderedDict()

    def find(self, key: Hashable, code: object) -> _Run | None:
        """Return what is kept of a run of the same code, if there is one."""
        found = self._kept.get(key)
        if found is None or found[0] != code:
            return None
        self._kept.move_to_end(key)
        return found[1]

    def keep(self, key: Hashable, code: object, run: _Run) -> None:
        """Keep a run that has ended with its halt."""
        self._kept[key] = code, run
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)
