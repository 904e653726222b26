"""Arrays between external memory and the accumulators: loads and stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.encoding import Insn, insn
from celosia.arch.isa import DmaFormat
from celosia.arch.words import ceil_div
from celosia.collectives.schedule.table import Words

__all__ = ["LOAD", "STEP", "STORE", "IssueTime", "Payload", "RowMove", "MoveRun", "Slice", "at",
           "batched", "consecutive", "copies", "issued"]

#: When an instruction is issued: a cycle, what it is, and when it is wanted.
IssueTime = tuple[int, ...]
#: At one time loads come before steps, and these before stores.
LOAD, STEP, STORE = range(3)


class Payload(NamedTuple):
    """An array in external memory: the address of its first byte, and what its elements are."""

    address: int
    fmt: DmaFormat


class Slice(NamedTuple):
    """Elements of one of a chip's arrays, and the rows that have them: of the schedule, or of the
    chip.
    """

    array: int
    first: int
    count: int
    rows: Words


class RowMove(NamedTuple):
    """Elements between memory and rows of the accumulators, of which it is the first."""

    time: IssueTime
    elements: Slice
    row: int


#: Moves that one instruction does: they are alike, and have one time.
MoveRun = Sequence[RowMove]


def copies(config: TpuConfig, source: Payload, target: Payload, count: int) -> Iterator[Insn]:
    """Give the instructions that copy elements of one format, by way of the accumulators."""
    most = config.acc_rows * config.dim
    for at in range(0, count, most):
        each = Slice(0, at, min(most, count - at), Words(0, 0))
        yield from _moves("load", config, 0, source, each)
        yield from _moves("store", config, 0, target, each)


def issued(name: str, config: TpuConfig, runs: Iterable[MoveRun],
           places: Sequence[Payload]) -> Iterator[tuple[IssueTime, Insn]]:
    """Give loads or stores with their times, an instruction for each run of moves."""
    for run in runs:
        first = run[0]
        pitch, step = _pitch(run[0], run[1]) if len(run) > 1 else (0, 1)
        for each in _moves(name, config, first.row, places[first.elements.array], first.elements,
                           (len(run), pitch, step)):
            yield first.time, each


def consecutive(moves: Iterable[RowMove], dim: int) -> Iterator[MoveRun]:
    """Give moves in their order, those as one that are at one time and whose rows follow each
    other: instructions beside them wait for all rows from the first one to the last.
    """
    return _runs(moves, lambda run, each: each.time == run[0].time and _follows(run, each, dim)
                 and each.row == run[-1].row + ceil_div(each.elements.count, dim))


def batched(moves: Iterable[RowMove], dim: int, most: int,
            pick: Callable[[Iterable[int]], int]) -> Iterator[MoveRun]:
    """Give moves so that few instructions do them, each of at most so many rows; ``pick`` makes the
    times of what is one.
    """
    def time(of: Iterable[RowMove]) -> IssueTime:
        return tuple(map(pick, zip(*(each.time for each in of), strict=True)))

    joined: list[RowMove] = []
    for each in sorted(moves, key=lambda move: (move.elements.array, move.row)):
        before = joined[-1] if joined else None
        if before is not None and _goes_on(before, each, dim) and ceil_div(
                before.elements.count + each.elements.count, dim) <= most:
            joined[-1] = RowMove(time((before, each)), before.elements._replace(
                count=before.elements.count + each.elements.count), before.row)
        else:
            joined.append(each)
    for run in _runs(joined, lambda run, each: _follows(run, each, dim) and ceil_div(
            each.elements.count, dim) * (len(run) + 1) <= most):
        yield at(run, time(run))


def at(run: MoveRun, time: IssueTime) -> MoveRun:
    """Return a run at another time."""
    return [each._replace(time=time) for each in run]


def _goes_on(before: RowMove, each: RowMove, dim: int) -> bool:
    """Whether elements and rows are behind those of a move."""
    (array, first, count, _), (other, begin, _, _) = before.elements, each.elements
    return (array == other and first + count == begin and count % dim == 0
            and before.row + count // dim == each.row)


def _runs(moves: Iterable[RowMove],
          follows: Callable[[MoveRun, RowMove], bool]) -> Iterator[MoveRun]:
    """Give moves that follow each other."""
    run: list[RowMove] = []
    for each in moves:
        if run and not follows(run, each):
            yield run
            run = []
        run.append(each)
    if run:
        yield run


def _follows(run: MoveRun, each: RowMove, dim: int) -> bool:
    """Whether elements and rows go on where one step more leads."""
    first, last = run[0].elements, each.elements
    pitch, rows = found = _pitch(run[-1], each)
    return (last.array == first.array and last.count == first.count
            and pitch >= first.count and rows >= ceil_div(first.count, dim)
            and (len(run) == 1 or found == _pitch(run[0], run[1])))


def _pitch(one: RowMove, other: RowMove) -> tuple[int, int]:
    """Return elements and rows from a move to another."""
    return other.elements.first - one.elements.first, other.row - one.row


def _moves(name: str, config: TpuConfig, row: int, place: Payload, each: Slice,
           often: tuple[int, int, int] = (1, 0, 1)) -> Iterator[Insn]:
    """Give the loads or stores of elements, which begin at a row of the accumulators; so many times
    with elements and rows so far from each other.
    """
    times, pitch, row_step = often
    step = COUNT_MAX // config.dim * config.dim
    for at in range(0, each.count, step):
        cols = min(step, each.count - at)
        yield insn(name, mem="acc", fmt=place.fmt, row=row + at // config.dim,
                   addr=place.address + (each.first + at) * place.fmt.nbytes,
                   shape=times | cols << 16, pitch=pitch * place.fmt.nbytes,
                   row_step=row_step, group_step=1)
