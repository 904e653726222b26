"""Dependence graph of a sequence of operations: which must wait for which."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from celosia.arch.isa import Unit
from celosia.compiler.codegen.spans import EXTERNAL, TILE, CommandCost, SpaceTouch

__all__ = ["followers"]

#: Pieces of a memory that an operation touches on average, at most; else pieces are joined.
_PIECES = 32


class _Pieces:
    """A space, cut where something that is touched begins or ends."""

    def __init__(self, uses: Mapping[tuple[int, int], int]):
        """``uses``: how many touches there are of each first and last row or byte."""
        cuts = sorted({cut for first, last in uses for cut in (first, last + 1)})
        number = {cut: i for i, cut in enumerate(cuts)}
        covered = sum((number[last + 1] - number[first]) * count
                      for (first, last), count in uses.items())
        # Cuts are joined to one piece, so that no operation covers too many.
        joined = max(1, covered // (_PIECES * sum(uses.values())))
        #: Pieces of each of ``uses``, first and behind the last.
        self.ranges = {(first, last): (number[first] // joined,
                                       (number[last + 1] - 1) // joined + 1)
                       for first, last in uses}
        count = len(cuts) // joined + 1
        self.writer = [-1] * count
        self.readers: list[list[int]] = [[] for _ in range(count)]


def _stored(touched: Sequence[Sequence[SpaceTouch]]) -> tuple[list[int], list[int]]:
    """Bytes of external memory that are written, as ranges apart from each other."""
    ranges = sorted({(first, last) for touches in touched
                     for space, first, last, written in touches
                     if written and space == EXTERNAL})
    firsts: list[int] = []
    lasts: list[int] = []
    for first, last in ranges:
        if lasts and first <= lasts[-1]:
            lasts[-1] = max(lasts[-1], last)
        else:
            firsts.append(first)
            lasts.append(last)
    return firsts, lasts


def followers(costs: Sequence[CommandCost],
              touched: Sequence[Sequence[SpaceTouch]]) -> list[list[int]]:
    """Return for each operation those that must wait for it, not counting what follows from others.

    Spans count as the scoreboard has them: from the first row or byte to the last.
    """
    firsts, lasts = _stored(touched)
    spaces: defaultdict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    kept: list[list[SpaceTouch]] = []
    tiles = any(cost.tile for cost in costs)
    for cost, touches in zip(costs, touched, strict=True):
        mine = []
        for touch in touches:
            space, first, last, written = touch
            if space == EXTERNAL and not written:
                at = bisect_left(lasts, first)
                if at == len(lasts) or firsts[at] > last:
                    continue  # nothing stores there
            spaces[space][first, last] += 1
            mine.append(touch)
        if tiles and cost.unit == Unit.MXU:
            mine.append((TILE, 0, 0, not cost.tile))
            spaces[TILE][0, 0] += 1
        kept.append(mine)
    pieces = {space: _Pieces(uses) for space, uses in spaces.items()}
    out: list[list[int]] = [[] for _ in costs]
    for i, touches in enumerate(kept):
        before: set[int] = set()
        for number, first, last, written in touches:
            space = pieces[number]
            begin, end = space.ranges[first, last]
            if end - begin == 1:  # as most are
                readers = space.readers[begin]
                before.add(space.writer[begin])
                if written:
                    space.writer[begin] = i
                    before.update(readers)
                    readers.clear()
                else:
                    readers.append(i)
                continue
            before.update(space.writer[begin:end])
            if written:
                space.writer[begin:end] = [i] * (end - begin)
                for readers in space.readers[begin:end]:
                    before.update(readers)
                    readers.clear()
            else:
                for readers in space.readers[begin:end]:
                    readers.append(i)
        before.discard(-1)
        before.discard(i)
        for j in before:
            out[j].append(i)
    return out
