"""Where the cycles went: by the user's lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from celosia.arch.registers import UNIT_NAMES
from celosia.model.timing import REASONS, Reason
from celosia.profile.record import Record

__all__ = ["LineCost", "by_line"]

#: Reasons to wait that are another unit's: it is named.
_OTHERS = (Reason.DATA, Reason.ROWS)


@dataclass
class LineCost:
    """What one place of the user's program costs.

    Attributes
    ----------
    place
        File and line; where nothing is known, what the program says instead.
    callers
        Of the place, the nearest first.
    cycles
        By which the ends of its instructions lie behind every end before them: lines add up to
        the run.
    operations
        Instructions of each operation.
    busy
        Cycles in which each unit was at its instructions.
    waits
        Cycles for which units rested before its instructions, by why.
    parts
        Its cycles by operation, with what the framework calls it.
    """

    place: str
    callers: tuple[str, ...] = ()
    cycles: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    busy: Counter[str] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)


def by_line(record: Record) -> list[LineCost]:
    """Return the lines of a run, the most expensive first."""
    lines: dict[str, LineCost] = {}
    of_pc: dict[int, LineCost] = {}

    def line(pc: int) -> LineCost:
        if pc not in of_pc:
            operation, source = record.source(pc)
            place = (f"{source.file}:{source.line}" if source.line
                     else source.said(operation) or "(no source)")
            found = of_pc[pc] = lines.setdefault(place, LineCost(place, source.callers))
            found.operations[operation] += 1
        return of_pc[pc]

    for pc, cycles in record.prediction.by_instruction.items():
        found = line(pc)
        found.cycles += cycles
        operation, source = record.source(pc)
        found.parts[f"{operation} ({source.name})" if source.name else operation] += cycles
    rests, why = record.rests, waited(record)
    for i, pc in enumerate(record.pc.tolist()):
        found = line(pc)
        found.busy[UNIT_NAMES[record.unit[i]]] += int(record.occupied[i])
        if rests[i]:
            found.waits[why(i)] += int(rests[i])
    return sorted(lines.values(), key=lambda each: -each.cycles)


def waited(record: Record) -> Callable[[int], str]:
    """Return what says in a few words why an instruction did not start before."""
    def why(index: int) -> str:
        unit, blamed = UNIT_NAMES[record.unit[index]], int(record.blamed[index])
        reason = Reason(int(record.reason[index]))
        if reason in _OTHERS and blamed >= 0:
            other = UNIT_NAMES[record.unit[blamed]]
            return f"{unit} waits for {'' if reason is Reason.DATA else 'room after '}{other}"
        return f"{unit} waits: {REASONS[reason][0]}"
    return why

