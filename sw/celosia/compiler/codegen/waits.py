"""Dependence graph of a sequence of operations, and when each would start on the chip."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from celosia.arch.isa import Unit
from celosia.compiler.codegen.spans import EXTERNAL, TILE, CommandCost, Touch

__all__ = ["ends", "followers", "starts"]

#: Pieces of a memory that an operation touches on average, at most; else pieces are joined.
_PIECES = 32
#: Cycles from one operation to the next in the checker, at least.
_CHECK = 11


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


def _stored(touched: Sequence[Sequence[Touch]]) -> tuple[list[int], list[int]]:
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


def followers(costs: Sequence[CommandCost], touched: Sequence[Sequence[Touch]]) -> list[list[int]]:
    """Return for each operation those that must wait for it, not counting what follows from others.

    Spans count as the scoreboard has them: from the first row or byte to the last.
    """
    firsts, lasts = _stored(touched)
    spaces: defaultdict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    kept: list[list[Touch]] = []
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


def _behind(costs: Sequence[CommandCost], waiting: list[list[int]]) -> list[int]:
    """Cycles from the start of each operation to the end of all that follows from it."""
    out = [cost.latency for cost in costs]
    for i in range(len(costs) - 1, -1, -1):
        cost, most = costs[i], out[i]
        for j in waiting[i]:
            same = costs[j].unit == cost.unit != Unit.VPU
            most = max(most, out[j] + (cost.occupied if same else cost.latency + 1))
        out[i] = most
    return out


def starts(costs: Sequence[CommandCost], waiting: list[list[int]], *, urgent: int = 0) -> list[int]:
    """Return the cycle in which each operation starts where units take the first that is ready.

    ``waiting``: for each operation those that wait for it. ``urgent``: units take the one that most
    depends on, among so many.
    """
    count = len(costs)
    place = [*range(count)]
    if urgent:
        behind = _behind(costs, waiting)
        for rank, i in enumerate(sorted(place, key=lambda i: (i // urgent, -behind[i], i))):
            place[i] = rank
    waits, ready_at, out = [0] * count, [0] * count, [0] * count
    for after in waiting:
        for j in after:
            waits[j] += 1
    free = [0] * len(Unit)
    #: Of each unit: operations by when they are ready, and those that are, by their place.
    later: list[list[tuple[int, int]]] = [[] for _ in Unit]
    ready: list[list[tuple[int, int]]] = [[] for _ in Unit]
    units = [int(cost.unit) for cost in costs]
    for i in range(count):
        if not waits[i]:
            later[units[i]].append((0, i))
    vector = int(Unit.VPU)
    every = [*map(int, Unit)]
    for _ in range(count):
        start, unit = -1, 0
        for number in every:
            if ready[number]:
                at = free[number]
            elif later[number]:
                at = max(free[number], later[number][0][0])
            else:
                continue
            if start < 0 or at < start:
                start, unit = at, number
        mine, soon = ready[unit], later[unit]
        while soon and soon[0][0] <= start:
            i = heapq.heappop(soon)[1]
            heapq.heappush(mine, (place[i], i))
        i = heapq.heappop(mine)[1]
        cost = costs[i]
        out[i] = start
        free[unit] = start + cost.occupied
        for j in waiting[i]:
            # Instructions of one unit follow each other through it; only the vector unit waits.
            same = units[j] == unit and unit != vector
            end = start + (cost.occupied if same else cost.latency + 1)
            if end > ready_at[j]:
                ready_at[j] = end
            waits[j] -= 1
            if not waits[j]:
                heapq.heappush(later[units[j]], (ready_at[j], j))
    return out


def ends(costs: Sequence[CommandCost], waiting: list[list[int]], order: Sequence[int],
         window: int) -> list[int]:
    """Return the cycle in which each operation ends where they are issued in a given order.

    The scoreboard holds ``window`` of them; those of a unit start in order. ``waiting``: for each
    operation those that wait for it, which come later in ``order``.
    """
    ready_at, out = [0] * len(costs), [0] * len(costs)
    free = [0] * len(Unit)
    held: list[int] = []
    vector, now = int(Unit.VPU), 0
    for i in order:
        cost = costs[i]
        unit = int(cost.unit)
        now += _CHECK
        if len(held) >= window:
            now = max(now, heapq.heappop(held))
        start = max(now, free[unit], ready_at[i])
        after = start + cost.occupied
        free[unit] = after
        end = out[i] = start + cost.latency
        heapq.heappush(held, end)
        for j in waiting[i]:
            at = after if unit != vector and costs[j].unit == unit else end + 1
            if at > ready_at[j]:
                ready_at[j] = at
    return out
