"""An exchange whose words all have rows of their own: many parts are loaded or stored at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby

from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.collectives.schedule.moves import (
    LOAD,
    STORE,
    IssueTime,
    MoveRun,
    RowMove,
    Slice,
    at,
    batched,
)
from celosia.collectives.schedule.place import LATE, TimedStep
from celosia.collectives.schedule.table import Action

__all__ = ["ResidentRows", "Whole", "resident_moves"]


@dataclass(frozen=True)
class Whole:
    """An exchange as a chip's steps, what it gives and what it gets, in the arrays' order."""

    steps: tuple[TimedStep, ...]
    given: tuple[Slice, ...]
    result: tuple[Slice, ...]


class ResidentRows:
    """The rows of a schedule that a chip uses, without gaps."""

    def __init__(self, whole: Whole):
        used = sorted({*(each.step.words for each in whole.steps),
                       *(each.rows for each in (*whole.given, *whole.result))})
        self._steps = whole.steps
        self._starts: list[int] = []
        ends: list[int] = []
        for start, stop in used:
            if ends and start <= ends[-1]:
                ends[-1] = max(ends[-1], stop)
            else:
                self._starts.append(start)
                ends.append(stop)
        sizes = [b - a for a, b in zip(self._starts, ends, strict=True)]
        self._at = [0, *accumulate(sizes)]

    def __len__(self) -> int:
        return self._at[-1]

    @property
    def whole(self) -> bool:
        """Whether they are those of the schedule."""
        return self._starts == [0]

    @cached_property
    def of_steps(self) -> tuple[int, ...]:
        """The row of the first word of each step."""
        return tuple(self[each.step.words.start] for each in self._steps)

    def __getitem__(self, row: int) -> int:
        i = bisect_right(self._starts, row) - 1
        return self._at[i] + row - self._starts[i]


def resident_moves(whole: Whole, config: TpuConfig, most: int,
                   ahead: int) -> tuple[tuple[int, ...], list[MoveRun], list[MoveRun]]:
    """Return the row of each step's first word, the loads and the stores.

    Parameters
    ----------
    whole
        The exchange: the accumulators have room for all of its words.
    config
        The chip.
    most
        Rows that are loaded or stored at once.
    ahead
        Cycles before a step in which the bus must have begun to bring its words.
    """
    rows = ResidentRows(whole)
    times = _Times(whole, rows)
    loads = times.runs(whole.given, (times.needs, times.begins), min, config.dim, most)
    stores = times.runs(whole.result, (times.wrote,), max, config.dim, most)
    return (rows.of_steps,
            sorted(_loads(loads, config, ahead), key=_order),
            sorted((at(run, (*run[0].time, STORE, *run[0].time)) for run in stores), key=_order))


class _Times:
    """When each row is used first, when its words must be there, and when it has the result."""

    def __init__(self, whole: Whole, rows: ResidentRows):
        self._rows, end = rows, max((each.ends for each in whole.steps), default=0)
        self.begins, self.needs, self.wrote = ([end] * len(self._rows) for _ in range(3))
        written: set[int] = set()
        for (step, begins, ends, needs), first in zip(
                reversed(whole.steps), reversed(rows.of_steps), strict=True):
            for row in range(first, first + step.words.count):
                self.begins[row], self.needs[row] = begins, needs
                if row not in written:
                    self.wrote[row] = begins if step.action == Action.SEND else ends
                    if step.action != Action.SEND:
                        written.add(row)

    def runs(self, slices: Iterable[Slice], times: Sequence[Sequence[int]],
             pick: Callable[[Iterable[int]], int], dim: int, most: int) -> Iterator[MoveRun]:
        """Give loads or stores, several slices as one where that can be."""
        def move(one: Slice, row: int) -> RowMove:
            return RowMove(tuple(pick(each[row:row + one.rows.count]) for each in times), one, row)

        return batched((move(each, self._rows[each.rows.start]) for each in slices),
                       dim, most, pick)


def _loads(runs: Iterable[MoveRun], config: TpuConfig, ahead: int) -> Iterator[MoveRun]:
    """Give loads, whose times are when they must be there and when a step waits for them, with the
    times at which they are issued: as late as the bus allows, but not behind that step.
    """
    row_cycles, free = ceil_div(4 * config.dim, config.bus_bytes), 1 << 62
    for (needs, begins), alike in groupby(sorted(runs, key=_order, reverse=True),
                                          lambda run: run[0].time):
        group = list(alike)
        rows = sum(ceil_div(each.elements.count, config.dim) for run in group for each in run)
        free = min(needs - ahead, free) - rows * row_cycles
        time = min(max(free, needs // LATE), begins)
        yield from (at(run, (time, LOAD, needs)) for run in group)


def _order(run: MoveRun) -> tuple[IssueTime, int, int]:
    first = run[0]
    return first.time, first.elements.array, first.row
