"""Spaces: the rows and lanes that the nodes of a cluster run over.

A space is a shape without dimensions of size 1; its last dimension are lanes, the others rows. Two
shapes are the same rows and lanes where one refines the other: (12, 8) and (2, 6, 8) do, (96,) and
(12, 8) do not, for their rows differ. Rows are compared by their cuts: the numbers of rows after
which an outer index changes.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Space", "squeezed"]


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without its dimensions of size 1."""
    return tuple(size for size in shape if size != 1)


def _cuts(rows: tuple[int, ...]) -> frozenset[int]:
    found, step = set(), 1
    for size in reversed(rows):
        step *= size
        found.add(step)
    return frozenset(found)


@dataclass(frozen=True)
class Space:
    """Rows and lanes.

    Attributes
    ----------
    cuts
        Products of the sizes of the innermost row dimensions; the largest is the number of rows.
        Empty where there is one row.
    lanes
        Size of the last dimension.
    """

    cuts: frozenset[int]
    lanes: int

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> Space:
        """Return the space of a shape."""
        dims = squeezed(shape) or (1,)
        return cls(_cuts(dims[:-1]), dims[-1])

    @property
    def rows(self) -> int:
        """Number of rows."""
        return max(self.cuts, default=1)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.rows * self.lanes

    @property
    def row_dims(self) -> tuple[int, ...]:
        """Sizes of the row dimensions, outermost first."""
        dims, step = [], 1
        for cut in sorted(self.cuts):
            dims.append(cut // step)
            step = cut
        return tuple(reversed(dims))

    @property
    def dims(self) -> tuple[int, ...]:
        """All sizes, lanes last."""
        return (*self.row_dims, self.lanes)

    def refined(self, other: Space) -> Space | None:
        """Return the space that refines both; None where they are not the same rows and lanes."""
        if self.lanes != other.lanes or self.rows != other.rows:
            return None
        return self.cut(other.cuts)

    def cut(self, cuts: frozenset[int]) -> Space | None:
        """Return the space with these cuts, too; None where dimensions would overlap."""
        joined = sorted(self.cuts | cuts)
        for below, above in zip(joined, joined[1:], strict=False):
            if above % below:
                return None
        if joined and joined[-1] != self.rows:
            return None
        return Space(frozenset(joined), self.lanes)
