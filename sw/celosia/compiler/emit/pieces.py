"""Boxes cut into pieces: rows into ranges, copies into grids of pieces of one size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

from celosia.arch.words import ceil_div
from celosia.compiler.codegen.blocks import Block, BlockRun
from celosia.compiler.emit.fold import Turn, fold_loops

__all__ = ["Piece", "cut", "even", "fold_groups", "grids", "groups_of", "loops_of", "most_rows",
           "offset"]

#: First index and sizes.
Piece = tuple[tuple[int, ...], tuple[int, ...]]


def _divided(sizes: Sequence[int], limit: int) -> tuple[int, int, int]:
    """Return how many dimensions are outside of those that fit whole, their product, and of what
    size the pieces of the one before them are.
    """
    inner, at = 1, len(sizes)
    while at and inner * sizes[at - 1] <= limit:
        at -= 1
        inner *= sizes[at]
    return at, inner, even(sizes[at - 1], max(1, limit // inner)) if at else 1


def cut(sizes: Sequence[int], limit: int,
        piece: Callable[[int, int], int] | None = None) -> list[tuple[int, int]]:
    """Cut the rows of a box into ranges of at most ``limit`` rows.

    Parameters
    ----------
    sizes
        Of the dimensions of rows, outermost first.
    limit
        At least 1.
    piece
        Takes the size of the pieces of the dimension that is cut, and the rows inside of it; gives
        another size, or 0 where there is none.

    Returns
    -------
    list of tuple
        (first row, rows), in order: each a part of one dimension with all of the dimensions inside
        it. All have the same size but the last of a dimension.
    """
    at, inner, step = _divided(sizes, limit)
    if not at:
        return [(0, inner)] if inner else []
    if piece is not None:
        step = piece(step, inner)
    size = sizes[at - 1]
    return [((outer * size + first) * inner, min(step, size - first) * inner)
            for outer in range(math.prod(sizes[:at - 1]))
            for first in range(0, size, step)] if step else []


def most_rows(sizes: Sequence[int], limit: int) -> int:
    """Return the rows of the largest range of `cut`."""
    _, inner, step = _divided(sizes, limit)
    return inner * step


def loops_of(sizes: Sequence[int], blocks: int) -> list[int]:
    """Return how many turns the loops have that walk a box in blocks, innermost first.

    The outer dimensions are walked one by one, the others together in parts.
    """
    out: list[int] = []
    for size in sizes:
        if not blocks or blocks % size:
            break
        blocks //= size
        out.append(size)
    return [blocks, *reversed(out)]


def grids(sizes: Sequence[int],
          steps: Sequence[int]) -> Iterator[tuple[list[int], list[Piece]]]:
    """Cut a box into pieces of ``steps``, and what is left over at the edges.

    Yields how many pieces there are along each dimension, outermost first, and lists of (first
    index, sizes); in each list all have the same sizes. The innermost dimension of a list is the
    one that has most often an even number of pieces.
    """
    cuts = []
    for size, step in zip(sizes, steps, strict=True):
        whole = size // step
        parts = [(range(0, whole * step, step), step)] if whole else []
        if size % step:
            parts.append((range(whole * step, size, step), size % step))
        cuts.append(parts)
    for parts in product(*cuts):
        counts = tuple(count for _, count in parts)
        lengths = [len(firsts) for firsts, _ in parts]
        order = sorted(range(len(parts)), key=lambda dim: (lengths[dim] & -lengths[dim]
                                                           if lengths[dim] > 1 else 0))
        back = sorted(range(len(order)), key=lambda i: order[i])
        yield [lengths[dim] for dim in order], [
            (tuple(first[i] for i in back), counts)
            for first in product(*(parts[dim][0] for dim in order))]


def even(size: int, most: int, multiple: int = 1) -> int:
    """Return a step, at most ``most``, that cuts ``size`` into parts of about one size."""
    most = max(most // multiple * multiple, multiple)
    if size <= most:
        return size
    return ceil_div(ceil_div(size, ceil_div(size, most)), multiple) * multiple


def fold_groups(sizes: Sequence[int], steps: Sequence[int], most: int,
                make: Callable[[list[Piece], int], Block], places: int = 2) -> list[BlockRun]:
    """Cut a box into `grids`, their pieces into groups; return the blocks of these as runs.

    Parameters
    ----------
    most
        Pieces of a group at most.
    make
        Makes the block of a group, in one of the places.
    places
        How many places take turns.
    """
    runs: list[BlockRun] = []
    number = 0
    for lengths, pieces in grids(sizes, steps):
        groups = [(group, place % places)
                  for place, group in enumerate(groups_of(pieces, most), number)]
        runs += fold_loops([_turn(*each) for each in groups],
                           lambda i, groups=groups: make(*groups[i]),
                           loops_of(lengths, len(groups)), places)
        number += len(groups)
    return runs


def _turn(group: list[Piece], place: int) -> Turn:
    """Return the turn that works on a group in a place."""
    return Turn(tuple([sizes for _, sizes in group]),
                (place, *[i for first, _ in group for i in first]))


def groups_of(pieces: list[Piece], most: int) -> Iterator[list[Piece]]:
    """Put pieces of one grid into groups of at most ``most``; they repeat from run to run."""
    runs = 1  # pieces along the innermost dimension
    if len(pieces) > 1:
        (first, _), (second, _) = pieces[:2]
        [inner] = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
        runs = len({index[inner] for index, _ in pieces})
    whole = runs * max(most // runs, 1)
    for run in range(0, len(pieces), whole):
        end = min(run + whole, len(pieces))
        step = even(end - run, most)
        for at in range(run, end, step):
            yield pieces[at:min(at + step, end)]


def offset(first: Sequence[int], strides: Sequence[int]) -> int:
    """Return how far an index is from the first one."""
    return sum(i * step for i, step in zip(first, strides, strict=True))
