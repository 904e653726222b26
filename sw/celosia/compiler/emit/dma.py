"""Boxes of rows of a tensor: how they lie in memory, and the loads and stores of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.words import ceil_div
from celosia.compiler.codegen.nodes import Op, load, store
from celosia.compiler.lowered import Access, External

__all__ = ["Dims", "box", "boxes", "merged", "most_rows", "transfer"]

#: Sizes and strides, outermost first.
Dims = list[tuple[int, int]]


def boxes(space: Sequence[int], kept: int, limit: int) -> list[tuple[int, int]]:
    """Cut the rows of a space into ranges of at most ``limit`` rows.

    Parameters
    ----------
    space
        Sizes; all but the last are rows.
    kept
        How many of the row dimensions remain where rows are joined. A range holds whole groups of
        joined rows, or a part of one.
    limit
        At least 1.

    Returns
    -------
    list of tuple
        (first row, rows), in order: each a part of one dimension with all of the dimensions inside
        it. All have the same size but the last of a dimension.
    """
    del kept  # a range that is a box never has parts of two groups
    rows = tuple(space[:-1])
    at, inner, piece = _cut(rows, limit)
    if not at:
        return [(0, inner)] if inner else []
    size = rows[at - 1]
    return [((outer * size + first) * inner, min(piece, size - first) * inner)
            for outer in range(math.prod(rows[:at - 1])) for first in range(0, size, piece)]


def most_rows(space: Sequence[int], limit: int) -> int:
    """Return the rows of the largest range of `boxes`."""
    _, inner, piece = _cut(tuple(space[:-1]), limit)
    return inner * piece


def _cut(rows: tuple[int, ...], limit: int) -> tuple[int, int, int]:
    """Return after which dimension none is cut, its rows, and what the one before is cut into."""
    inner, at = 1, len(rows)
    while at and inner * rows[at - 1] <= limit:
        at -= 1
        inner *= rows[at]
    if not at:
        return at, inner, 1
    pieces = ceil_div(rows[at - 1], max(1, limit // inner))
    return at, inner, ceil_div(rows[at - 1], pieces)


def merged(dims: Dims) -> Dims:
    """Return the same rows with as few dimensions as possible."""
    out: Dims = []
    for size, stride in reversed(dims):
        if size == 1:
            continue
        if out and stride == out[-1][0] * out[-1][1]:
            out[-1] = (out[-1][0] * size, out[-1][1])
        else:
            out.append((size, stride))
    return out[::-1]


def box(shape: Sequence[int], strides: Sequence[int], first: int, count: int) -> tuple[int, Dims]:
    """Return where rows ``first`` to ``first + count - 1`` lie, which must be a box.

    Returns
    -------
    tuple
        The offset of the first one in elements, and sizes and strides, `merged`.
    """
    offset, dims, inner = 0, [], 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        first, index = divmod(first, size)
        offset += index * stride
        taken = max(1, min(size, count // inner))
        assert index + taken <= size, (shape, first, count)
        dims.append((taken, stride))
        inner *= taken
    assert inner == count, (shape, first, count)
    return offset, merged(dims[::-1])


def transfer(config: TpuConfig, to_chip: bool, access: Access, row: int, offset: int, dims: Dims,
             cols: int, row_step: int, group_step: int, source: str) -> list[Op]:
    """Load to the accumulators, or store from there, rows of a tensor in external memory.

    Parameters
    ----------
    config
        The chip.
    to_chip
        Whether to load.
    access
        The tensor; of its view only the offset counts.
    row
        The first accumulator row.
    offset
        The first element, from the view's offset.
    dims
        Sizes and strides of the rows.
    cols
        Elements of each row, consecutive.
    row_step, group_step
        Accumulator rows from row to row, and from one D elements of a row to the next.
    source
        What the operations come from.
    """
    tensor = access.tensor
    assert isinstance(tensor.home, External), tensor.name
    reach = None
    if access.base is not None:
        reach = (tensor.home.offset, tensor.home.offset + max(tensor.nbytes, 1) - 1)
    inner = [math.prod(size for size, _ in dims[i + 1:]) for i in range(len(dims))]
    # One instruction walks the longest dimension that goes forward, the others are written out.
    forward = [i for i, (_, stride) in enumerate(dims) if stride >= 0]
    walked = max(forward, key=lambda i: dims[i][0], default=None)
    rows, stride, step = (1, 0, 1) if walked is None else (*dims[walked], inner[walked])
    others = [i for i in range(len(dims)) if i != walked]
    most = COUNT_MAX // config.dim * config.dim
    make = load if to_chip else store
    out = []
    for indexes in itertools.product(*(range(dims[i][0]) for i in others)):
        element = offset + sum(k * dims[i][1] for k, i in zip(indexes, others, strict=True))
        at = row + row_step * sum(k * inner[i] for k, i in zip(indexes, others, strict=True))
        for column in range(0, cols, most):
            taken = min(most, cols - column)
            out.append(make(Mem.ACC, tensor.format, at + column // config.dim * group_step,
                            access.address(element + column), rows, taken,
                            stride * tensor.element_bytes, row_step * step,
                            group_step if taken > config.dim else 0, source, base=access.base,
                            reach=reach))
    return out
