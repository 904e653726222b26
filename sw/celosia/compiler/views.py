"""Strided views: how the elements of a tensor lie in memory, and their dimensions merged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from celosia.arch.words import ceil_div

__all__ = ["View", "merged"]


def merged(sizes: Sequence[int], *sides: Sequence[int],
           most: float = math.inf) -> tuple[list[int], list[list[int]]]:
    """Return the same walk in as few dimensions as possible.

    Parameters
    ----------
    sizes
        Of each dimension, outermost first.
    sides
        Strides of all that is walked over at the same time: dimensions become one where all sides
        allow it.
    most
        Size of a dimension that is made of others, at most.

    Returns
    -------
    tuple
        Sizes, none of them 1, and the strides of each side.
    """
    out: list[int] = []
    steps: list[list[int]] = [[] for _ in sides]
    for size, *strides in zip(sizes, *sides, strict=True):
        if size == 1:
            continue
        if out and out[-1] * size <= most and all(
                [step[-1] == size * stride for step, stride in zip(steps, strides, strict=True)]):
            out[-1] *= size
            for step, stride in zip(steps, strides, strict=True):
                step[-1] = stride
        else:
            out.append(size)
            for step, stride in zip(steps, strides, strict=True):
                step.append(stride)
    return out, steps


@dataclass(frozen=True)
class View:
    """Element (i0, i1, ..) lies ``offset + i0 * strides[0] + i1 * strides[1] + ..`` elements on.

    Strides may be 0 (the same element again) and negative. All methods return a new view.
    """

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def contiguous(cls, shape: Iterable[int]) -> View:
        """Return the view of a whole row-major tensor."""
        shape = tuple(shape)
        strides, step = [], 1
        for size in reversed(shape):
            strides.append(step)
            step *= size
        return cls(0, shape, tuple(reversed(strides)))

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after another in row-major order."""
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and stride != step:
                return False
            step *= size
        return True

    def transpose(self, permutation: Sequence[int]) -> View:
        """Result dimension i is dimension ``permutation[i]``."""
        return View(self.offset, tuple(self.shape[i] for i in permutation),
                    tuple(self.strides[i] for i in permutation))

    def broadcast(self, shape: Sequence[int], dims: Sequence[int]) -> View:
        """Dimension i becomes ``dims[i]`` of ``shape``; the others repeat the same elements."""
        strides = [0] * len(shape)
        for i, dim in enumerate(dims):
            strides[dim] = self.strides[i] if self.shape[i] == shape[dim] else 0
        return View(self.offset, tuple(shape), tuple(strides))

    def slice(self, start: Sequence[int], limit: Sequence[int],
              stride: Sequence[int] | None = None) -> View:
        """Elements from ``start`` to below ``limit``, each ``stride``-th."""
        steps = stride or (1,) * len(self.shape)
        shape = tuple(max(0, ceil_div(b - a, step))
                      for a, b, step in zip(start, limit, steps, strict=True))
        offset = self.offset + sum(a * s for a, s in zip(start, self.strides, strict=True))
        return View(offset, shape,
                    tuple(s * step for s, step in zip(self.strides, steps, strict=True)))

    def reverse(self, dims: Iterable[int]) -> View:
        """Dimensions ``dims`` backwards."""
        offset, strides = self.offset, list(self.strides)
        for dim in dims:
            offset += (self.shape[dim] - 1) * strides[dim]
            strides[dim] = -strides[dim]
        return View(offset, self.shape, tuple(strides))

    def part(self, first: int, count: int) -> View:
        """Elements ``first`` to ``first + count - 1`` in row-major order, which must be a box."""
        offset, sizes, inner, at = self.offset, [], 1, first
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            at, index = divmod(at, size)
            offset += index * stride
            taken = max(1, min(size, count // inner))
            assert index + taken <= size, (self, first, count)
            sizes.append(taken)
            inner *= taken
        assert inner == count, (self, first, count)
        return View(offset, tuple(sizes[::-1]), self.strides)

    def reshape(self, shape: Sequence[int]) -> View | None:
        """Return the same elements in row-major order in another shape; None where no view can."""
        shape = tuple(shape)
        strides, at = [0] * len(shape), len(shape)
        if self.size > 1:
            sizes, (steps,) = merged(self.shape, self.strides)
            for size, step in zip(reversed(sizes), reversed(steps), strict=True):
                while size > 1:  # the dimensions that this one becomes, innermost first
                    at -= 1
                    if size % shape[at]:
                        return None
                    if shape[at] > 1:
                        strides[at] = step
                    size, step = size // shape[at], step * shape[at]
        return View(self.offset, shape, tuple(strides))
