"""Arguments that functions are measured with: all binades, hard places, specials."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["SPECIAL", "Arguments", "column", "pairs", "row", "scalar", "unary"]

F32 = NDArray[np.float32]
#: Makes all arguments: from a generator, so many elements.
Arguments = Callable[[np.random.Generator, int], list[F32]]

_MAX = float(np.finfo(np.float32).max)
#: Zeros, infinities, NaN, the ends of the range, those of exp and its like, and what is next to 1.
SPECIAL = np.array([
    0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, _MAX, -_MAX, 2.0**-126, -(2.0**-126), 1e-20,
    -1e-20, 1e10, -1e10, 0.99999994, -0.99999994, 1.0000001, -1.0000001, 0.5, -0.5, 1.5, -1.5, 2.5,
    -2.5, 2.0, -2.0, 3.0, -3.0, 16777217.0, 88.72283, 88.72284, 89.0, 100.0, -87.33654, -87.33655,
    -89.0, -103.97, 127.99999, 128.0, -126.0, -127.0], np.float32)
#: Of these pairs are made.
_FEW = SPECIAL[:23]


def _binades(rng: np.random.Generator, points: int) -> F32:
    """Numbers of all binades and both signs, the ends of each among them."""
    exponent = np.resize(np.arange(-126, 128), points)
    ends = rng.integers(0, 16, points)
    part = np.where(ends == 0, 1.0, np.where(ends == 1, 2 - 2.0**-23, rng.uniform(1, 2, points)))
    found = np.ldexp(part, exponent) * np.where(np.arange(points) // 254 % 2, -1, 1)
    return np.clip(found, -_MAX, _MAX).astype(np.float32)


def _near_one(rng: np.random.Generator, points: int) -> F32:
    """Numbers up to 1 from 1 and from -1, as likely in each binade of the distance."""
    off = np.exp2(rng.uniform(-24, 0, points)) * rng.choice((-1, 1), points)
    return ((1 + off) * rng.choice((-1, 1), points)).astype(np.float32)


def _filled(rng: np.random.Generator, points: int, first: F32,
            ranges: Sequence[tuple[float, float]]) -> F32:
    parts = [first[:points]]
    left = points - len(parts[0])
    parts.append(_binades(rng, left // 3))
    each = (left - left // 3) // (len(ranges) + 1)
    parts += [rng.uniform(low, high, each).astype(np.float32) for low, high in ranges]
    parts.append(_near_one(rng, points - sum(map(len, parts))))
    return np.concatenate(parts)


def unary(*ranges: tuple[float, float]) -> Arguments:
    """One argument: specials, all binades, some ranges, and about 1 and -1."""
    return lambda rng, points: [_filled(rng, points, SPECIAL, ranges)]


def pairs(*ranges: tuple[float, float]) -> Arguments:
    """Two arguments: pairs of specials, and the others in any order."""
    def sample(rng: np.random.Generator, points: int) -> list[F32]:
        a, b = (grid.reshape(-1) for grid in np.meshgrid(_FEW, _FEW))
        rest = max(points - len(a), 0)
        parts = [_filled(rng, rest, a[:0], ranges) for _ in range(2)]
        # Of one kind with one kind, and across.
        for part in parts:
            half = rest // 2
            part[:half] = part[rng.permutation(half)]
            part[half:] = part[half + rng.permutation(rest - half)]
        return [np.concatenate([a, parts[0]])[:points], np.concatenate([b, parts[1]])[:points]]
    return sample


def scalar(value: float, *ranges: tuple[float, float]) -> Arguments:
    """One argument, and a scalar."""
    return lambda rng, points: [_filled(rng, points, SPECIAL, ranges),
                                np.array(value, np.float32)]


def _table(rng: np.random.Generator, points: int) -> tuple[F32, F32]:
    """Return a table, and numbers for its rows or columns; ``points`` is a power of two."""
    rows = 1 << (points.bit_length() - 1) // 2
    first, other = (rng.permutation(_filled(rng, points, SPECIAL, [(-4, 4)])) for _ in range(2))
    return first.reshape(rows, -1), np.concatenate([_FEW, other])


def column(rng: np.random.Generator, points: int) -> list[F32]:
    """A table, and one number for each of its rows."""
    x, other = _table(rng, points)
    return [x, other[:len(x), None]]


def row(rng: np.random.Generator, points: int) -> list[F32]:
    """A table, and one number for each of its columns."""
    x, other = _table(rng, points)
    return [x, other[None, :x.shape[1]]]
