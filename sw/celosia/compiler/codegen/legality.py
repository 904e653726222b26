"""Dependence test of loops: whether their operations do the same in another order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.arch.isa import Unit
from celosia.compiler.codegen.spans import TILE, Touch

__all__ = ["Moving", "conflicts", "tile_touches"]

_ALL = 1 << 40


@dataclass(frozen=True, slots=True)
class Moving:
    """Rows or bytes that an operation of a loop touches: in the first turn, and how they move."""

    space: int
    first: int
    last: int
    written: bool
    step: int

    @staticmethod
    def between(now: Sequence[Touch], later: Sequence[Touch]) -> list[Moving]:
        """What moves from one turn to the next; what grows counts as all there is."""
        return [Moving(space, first, last, written, then[1] - first)
                if then[1] - first == then[2] - last else Moving(space, 0, _ALL, written, 0)
                for (space, first, last, written), then in zip(now, later, strict=True)]


def _table(each: Sequence[Sequence[Moving]]) -> dict[int, np.ndarray]:
    """For each space an array: operation, first, last, written, step."""
    rows: dict[int, list[tuple[int, int, int, int, int]]] = {}
    for i, touches in enumerate(each):
        for touch in touches:
            rows.setdefault(touch.space, []).append(
                (i, touch.first, touch.last, touch.written, touch.step))
    return {space: np.array(found, np.int64) for space, found in rows.items()}


def conflicts(one: Sequence[Sequence[Moving]], other: Sequence[Sequence[Moving]],
              turns: int, *, apart: bool = False) -> Iterator[tuple[int, int]]:
    """Pairs (i, j) of which ``one[i]`` and ``other[j]`` conflict in some of ``turns`` turns.

    With ``apart`` only those that step differently are compared.
    """
    left, right = _table(one), _table(other)
    for space in left.keys() & right.keys():
        a, b = left[space].T[:, :, None], right[space].T[:, None, :]
        fits = (a[3] | b[3]) != 0
        step = a[4] - b[4]
        if apart:
            fits = fits & (step != 0)
        if not fits.any():
            continue
        # They overlap in turn t where low <= t * step <= high.
        low, high = b[1] - a[2], b[2] - a[1]
        low, high = np.where(step < 0, -high, low), np.where(step < 0, -low, high)
        size = np.abs(step)
        by = np.maximum(size, 1)
        begin, end = np.maximum(-(-low // by), 0), np.minimum(high // by, turns - 1)
        hit = np.where(size == 0, (low <= 0) & (high >= 0), begin <= end) & fits
        for i, j in np.argwhere(hit):
            yield int(left[space][i, 0]), int(right[space][j, 0])


def tile_touches(units: Sequence[Unit], uses: Sequence[bool]) -> list[list[Moving]]:
    """What matmuls do to the tile that the array holds, where some do without their own."""
    if not any(uses):
        return [[] for _ in units]
    return [[Moving(TILE, 0, 0, not use, 0)] if unit == Unit.MXU else []
            for unit, use in zip(units, uses, strict=True)]
