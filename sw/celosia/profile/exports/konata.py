"""A record as a log of Konata: an instruction a row, its stages, and whom it waited for.

Stages: I issued and checked, W in the window, X at its unit, C its results under way. The format is
Kanata 0004, https://github.com/shioyadan/Konata.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from celosia.arch.registers import UNIT_NAMES
from celosia.model.timing import REASONS, Reason
from celosia.profile.record import Record

__all__ = ["konata"]


def konata(record: Record) -> str:
    """Return a record as text."""
    events: defaultdict[int, list[str]] = defaultdict(list)
    for i in range(len(record)):
        _instruction(record, i, events)
    return "\n".join(_lines(events)) + "\n"


def _instruction(record: Record, i: int, events: dict[int, list[str]]) -> None:
    pc, unit = int(record.pc[i]), UNIT_NAMES[record.unit[i]]
    issued, checked, start = (int(column[i]) for column in (
        record.issued, record.checked, record.start))
    free, end = start + int(record.occupied[i]), int(record.end[i])
    operation, source = record.source(pc)
    events[issued] += [f"I\t{i}\t{pc}\t0", f"L\t{i}\t0\t{pc}: {record.text(pc)}",
                       f"L\t{i}\t1\t{unit}, {source.said(operation)}", f"S\t{i}\t0\tI"]
    events[checked] += [f"E\t{i}\t0\tI", f"S\t{i}\t0\tW"]
    blamed = int(record.blamed[i])
    if start > checked:
        why = REASONS[Reason(int(record.reason[i]))][0]
        events[checked].append(f"S\t{i}\t1\t{why}")
        events[start].append(f"E\t{i}\t1\t{why}")
        if blamed >= 0:
            events[start].append(f"W\t{i}\t{blamed}\t0")
    events[start] += [f"E\t{i}\t0\tW", f"S\t{i}\t0\tX"]
    events[max(free, start)] += [f"E\t{i}\t0\tX", f"S\t{i}\t0\tC"]
    events[max(end, free)] += [f"E\t{i}\t0\tC", f"R\t{i}\t{i}\t0"]


def _lines(events: dict[int, list[str]]) -> Iterator[str]:
    yield "Kanata\t0004"
    before = None
    for cycle in sorted(events):
        yield f"C=\t{cycle}" if before is None else f"C\t{cycle - before}"
        before = cycle
        yield from events[cycle]
