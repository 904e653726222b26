"""Free list of accumulator rows, for values that come and go."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["FreeList", "Slot", "Slots"]


@dataclass(frozen=True)
class Slot:
    """Consecutive rows: ``size`` of them, ``offset`` from the beginning of area ``area``."""

    area: int
    offset: int
    size: int


@dataclass
class FreeList:
    """Rows of one area: given out where they fit first, and taken back.

    Attributes
    ----------
    size
        Rows that the area has; None: as many as it takes.
    end
        Rows from the beginning that were ever in use.
    """

    size: int | None = None
    end: int = 0
    _free: list[tuple[int, int]] = field(default_factory=list)

    def take_free(self, size: int) -> int | None:
        """Return the first of ``size`` rows that were in use and are free, or None."""
        for i, (first, last) in enumerate(self._free):
            if last - first >= size:
                self._free[i] = (first + size, last)
                return first
        return None

    def take(self, size: int) -> int | None:
        """Return the first of ``size`` rows that are free, or None."""
        found = self.take_free(size)
        if found is not None:
            return found
        first = self.end
        if self._free and self._free[-1][1] == self.end:
            first = self._free[-1][0]
        if self.size is not None and first + size > self.size:
            return None
        if first != self.end:
            self._free.pop()
        self.end = first + size
        return first

    def give(self, first: int, size: int) -> None:
        """Take back rows."""
        merged: list[tuple[int, int]] = []
        for low, high in sorted([*self._free, (first, first + size)]):
            if merged and merged[-1][1] == low:
                merged[-1] = (merged[-1][0], high)
            else:
                merged.append((low, high))
        self._free = [(low, high) for low, high in merged if low < high]


class Slots:
    """Areas of rows: area 0 grows as needed, area 1 has the rows of a product's sums.

    Parameters
    ----------
    sums
        Rows of area 1; all are in use at first.
    apart
        Whether nothing else comes to lie in the rows of the sums, so that the array need not wait
        for the vector unit; and what only the vector unit sees in area 2, which all blocks share.
    """

    def __init__(self, sums: int = 0, *, apart: bool = False):
        self._pools = (FreeList(), FreeList(sums, sums), FreeList())
        self.apart = apart

    @property
    def rows(self) -> int:
        """Rows that area 0 must have."""
        return self._pools[0].end

    @property
    def shared(self) -> int:
        """Rows that area 2 must have."""
        return self._pools[2].end

    def take(self, size: int, *, stored: bool = False) -> Slot:
        """Return rows that are free, those of the sums first.

        ``stored``: the store engine reads them.
        """
        if self.apart and not stored:
            first = self._pools[0].take_free(size)
            if first is not None:
                return Slot(0, first, size)
        for area in ((0,) if stored else (2,)) if self.apart else (1, 0):
            first = self._pools[area].take(size)
            if first is not None:
                return Slot(area, first, size)
        raise AssertionError(size)

    def take_new(self, size: int) -> Slot:
        """Return rows of area 0: for what is there before the sums are."""
        first = self._pools[0].take(size)
        assert first is not None
        return Slot(0, first, size)

    def give(self, slot: Slot) -> None:
        """Take back the rows of a slot."""
        self._pools[slot.area].give(slot.offset, slot.size)
