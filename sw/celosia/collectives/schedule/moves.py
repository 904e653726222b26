"""Arrays between external memory and the accumulators: loads and stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.encoding import Insn, insn
from celosia.arch.isa import DmaFormat
from celosia.collectives.schedule.table import Words

__all__ = ["IssueTime", "Payload", "Slice", "copies", "issued"]

#: When an instruction is issued.
IssueTime = tuple[int, ...]


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


def copies(config: TpuConfig, source: Payload, target: Payload, count: int) -> Iterator[Insn]:
    """Give the instructions that copy elements of one format, by way of the accumulators."""
    most = config.acc_rows * config.dim
    for at in range(0, count, most):
        each = Slice(0, at, min(most, count - at), Words(0, 0))
        yield from _moves("load", config, 0, source, each)
        yield from _moves("store", config, 0, target, each)


def issued(name: str, config: TpuConfig, moves: Sequence[tuple[IssueTime, Slice, int]],
            places: Sequence[Payload]) -> Iterator[tuple[IssueTime, Insn]]:
    """Give loads or stores of elements with their times; what is alike of several parts is one."""
    alike: list[tuple[IssueTime, Slice, int]] = []

    def made() -> Iterator[tuple[IssueTime, Insn]]:
        time, first, row = alike[0]
        pitch = alike[1][1].first - first.first if len(alike) > 1 else 0
        for each in _moves(name, config, row, places[first.array], first, len(alike), pitch):
            yield time, each

    for each in moves:
        if alike and not _follows(alike, each, config.dim):
            yield from made()
            alike = []
        alike.append(each)
    if alike:
        yield from made()


def _follows(alike: Sequence[tuple[IssueTime, Slice, int]], each: tuple[IssueTime, Slice, int],
             dim: int) -> bool:
    """Whether rows go on with those of a move, and elements where one step more leads."""
    (time, first, row), (_, last, _) = alike[0], alike[-1]
    pitch = alike[1][1].first - first.first if len(alike) > 1 else each[1].first - first.first
    return (each[0] == time and each[1].array == first.array and each[1].count == first.count
            and first.count % dim == 0 and each[1].first - last.first == pitch > 0
            and each[2] == row + len(alike) * first.count // dim)


def _moves(name: str, config: TpuConfig, row: int, place: Payload, each: Slice, times: int = 1,
           pitch: int = 0) -> Iterator[Insn]:
    """Give the loads or stores of elements, which begin at a row of the accumulators; several times
    with elements so far from each other, rows behind each other.
    """
    step = COUNT_MAX // config.dim * config.dim
    for at in range(0, each.count, step):
        cols = min(step, each.count - at)
        yield insn(name, mem="acc", fmt=place.fmt, row=row + at // config.dim,
                   addr=place.address + (each.first + at) * place.fmt.nbytes,
                   shape=times | cols << 16, pitch=pitch * place.fmt.nbytes,
                   row_step=cols // config.dim if times > 1 else 1, group_step=1)
