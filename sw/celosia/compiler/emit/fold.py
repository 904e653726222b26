"""Loop folding: an emitter's nest of loops as runs of blocks, of which one period is made.

An emitter says how its loops nest, and how many places on chip take turns: blocks repeat with one
turn of a loop, or with as many as there are places. First turns load what later ones find, and
edges are cut short, so it says of each block what it is like and where it is, too: periods that are
alike, and as far apart from each other all along, are one run.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import accumulate, zip_longest
from operator import mul
from typing import NamedTuple

import numpy as np

from celosia.compiler.codegen.blocks import MIN_TURNS, Block, BlockRun
from celosia.compiler.verify import enabled, refuse

__all__ = ["Turn", "fold_loops"]

#: Blocks of a period at most: all of them are written out.
_MOST = 16


class Turn(NamedTuple):
    """One turn of the innermost loop of an emitter.

    Attributes
    ----------
    form
        Blocks of the same form have the same operations, but for rows and addresses.
    at
        Numbers in which these are affine, as many in turns of one form.
    """

    form: Hashable
    at: tuple[int, ...]


class _Nest:
    """The turns of a nest of loops, and the periods in which they may repeat."""

    def __init__(self, turns: Sequence[Turn], loops: Sequence[int], places: int):
        ids: dict[Hashable, int] = {}
        forms = np.array([ids.setdefault(turn.form, len(ids)) for turn in turns])
        at = np.array([*zip_longest(*(turn.at for turn in turns), fillvalue=0)], np.int64).T
        self._count = len(turns)
        #: For each period, turns that are not of the form of the one a period before; and that are
        #: not as far from that as it is from the one before it, either.
        self._other: dict[int, list[int]] = {}
        self._uneven: dict[int, list[int]] = {}
        for period in sorted({blocks for inner in accumulate(loops, mul, initial=1)
                              for blocks in (inner, inner * places)}):
            if period > _MOST or period * MIN_TURNS > self._count:
                break
            other = forms[period:] != forms[:-period]
            step = at[period:] - at[:-period]
            uneven = other[period:] | (step[period:] != step[:-period]).any(axis=1)
            self._other[period] = (np.flatnonzero(other) + period).tolist()
            self._uneven[period] = (np.flatnonzero(uneven) + 2 * period).tolist()

    def _end(self, first: int, period: int) -> int:
        """Turn up to which all from ``first`` on repeat."""
        end = _next(self._other[period], first + period, self._count)
        return min(end, _next(self._uneven[period], first + 2 * period, self._count))

    def run(self, first: int) -> tuple[int, int]:
        """Period and number of the turns from ``first`` on that repeat; (1, 1) where none do."""
        best = (1, 1)
        for period in self._other:
            if best[1] == self._count - first:
                break
            count = self._end(first, period) - first
            # A longer period must cover clearly more.
            if count >= max(period * MIN_TURNS, best[1] + best[1] // 4 + 1):
                best = period, count
        return best


def _next(places: list[int], at: int, none: int) -> int:
    """First of ``places``, which are in order, from ``at`` on."""
    i = bisect_left(places, at)
    return places[i] if i < len(places) else none


def fold_loops(turns: Sequence[Turn], make: Callable[[int], Block], loops: Sequence[int] = (),
               places: int = 1) -> list[BlockRun]:
    """Return the blocks of a nest of loops, one after another.

    Parameters
    ----------
    turns
        What is known of each turn.
    make
        Makes the block of a turn, whichever others are made.
    loops
        How many turns each loop of the nest has, innermost first. What the outermost one has does
        not count.
    places
        How many places take turns, with the turns of any of the loops.
    """
    if not turns:
        return []
    nest, out, first = _Nest(turns, loops, places), [], 0
    while first < len(turns):
        period, count = nest.run(first)
        run = _run(first, period, count, make)
        if run.turns < MIN_TURNS:
            run = BlockRun(run.period[:1])
        if enabled():
            refuse("a run of blocks", _wrong(run, first, make))
        out.append(run)
        first += run.count
    return out


def _run(first: int, period: int, count: int, make: Callable[[int], Block]) -> BlockRun:
    """Return a run of some turns: its steps are from the first period to the second."""
    blocks = [make(number) for number in range(first, first + period)]
    if count == 1:
        return BlockRun(blocks)
    steps = [[[tuple([b - a for a, b in zip(op.varying, later.varying, strict=True)])
               for op, later in zip(*stages, strict=True)]
              for stages in zip(block.stages, make(first + period + i).stages, strict=True)]
             for i, block in enumerate(blocks)]
    return BlockRun(blocks, steps, count)


def _wrong(run: BlockRun, first: int, make: Callable[[int], Block]) -> Iterator[str]:
    """Yield where a run does not have the blocks of its turns."""
    for number in range(run.count):
        for op, wanted in zip(run.block(number).operations, make(first + number).operations,
                              strict=True):
            if op != wanted:
                yield (f"block {number} of {run.count} must have {wanted.mnemonic} of "
                       f"{wanted.source or 'unknown source'} at {wanted.varying}, not "
                       f"{op.mnemonic} at {op.varying}")
