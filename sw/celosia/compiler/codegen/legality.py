"""Dependence test of loops: whether their operations do the same in another order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from celosia.arch.isa import Unit
from celosia.compiler.codegen.spans import TILE, SpaceTouch

__all__ = ["Moving", "conflicts", "tile_touches"]

_ALL = 1 << 40


class Moving(NamedTuple):
    """Rows or bytes that an operation of a loop touches: in the first turn, and how they move."""

    space: int
    first: int
    last: int
    written: bool
    step: int

    @staticmethod
    def between(now: Sequence[SpaceTouch], later: Sequence[SpaceTouch]) -> list[Moving]:
        """What moves from one turn to the next; what grows counts as all there is."""
        return [Moving(space, first, last, written, then[1] - first)
                if then[1] - first == then[2] - last else Moving(space, 0, _ALL, written, 0)
                for (space, first, last, written), then in zip(now, later, strict=True)]


def _spaces(each: Sequence[Sequence[Moving]]) -> dict[int, dict[Moving, list[int]]]:
    """For each space what is touched there, and by which operations: many touch the same."""
    out: dict[int, dict[Moving, list[int]]] = {}
    for i, touches in enumerate(each):
        for touch in touches:
            out.setdefault(touch.space, {}).setdefault(touch, []).append(i)
    return out


def conflicts(one: Sequence[Sequence[Moving]], other: Sequence[Sequence[Moving]],
              turns: int, *, apart: bool = False) -> Iterator[tuple[int, int]]:
    """Pairs (i, j) of which ``one[i]`` and ``other[j]`` conflict in some of ``turns`` turns.

    With ``apart`` only those that step differently are compared.
    """
    left, right = _spaces(one), _spaces(other)
    for space in left.keys() & right.keys():
        _, *a = np.array([*left[space]]).T[:, :, None]
        _, *b = np.array([*right[space]]).T[:, None, :]
        fits = (a[2] | b[2]) != 0
        step = a[3] - b[3]
        if apart:
            fits = fits & (step != 0)
        if not fits.any():
            continue
        # They overlap in turn t where low <= t * step <= high.
        low, high = b[0] - a[1], b[1] - a[0]
        low, high = np.where(step < 0, -high, low), np.where(step < 0, -low, high)
        size = np.abs(step)
        by = np.maximum(size, 1)
        begin, end = np.maximum(-(-low // by), 0), np.minimum(high // by, turns - 1)
        hit = np.where(size == 0, (low <= 0) & (high >= 0), begin <= end) & fits
        ones, others = [*left[space].values()], [*right[space].values()]
        for i, j in np.argwhere(hit).tolist():
            yield from product(ones[i], others[j])


def tile_touches(units: Sequence[int], uses: Sequence[bool]) -> list[list[Moving]]:
    """What matmuls do to the tile that the array holds, where some do without their own."""
    if not any(uses):
        return [[] for _ in units]
    return [[Moving(TILE, 0, 0, not use, 0)] if unit == Unit.MXU else []
            for unit, use in zip(units, uses, strict=True)]
