"""Static timing of a netlist that is not placed: the longest and the deepest path into each unit.

Every hop from a cell to the next counts as one wire of the family's `Delays`, so what comes out is
what the logic asks for where wires are short. It takes seconds, and finds what an hour of routing
finds: which paths are too deep, and between which units.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import Arc, Delays, Family
from celosia.cli.fpga.netlist import Cell, Netlist

__all__ = ["Path", "arc", "longest", "matches"]

#: More than any path takes, in ns: a path with a level more is longer then, whatever it takes.
_DEEP = 1e5


@dataclass(frozen=True)
class Path:
    """A way from a register or memory to the next.

    Attributes
    ----------
    ns
        Estimate: cells, and a wire for each hop.
    levels
        Cells in between, carries not counted.
    carries
        Carry cells in between.
    start, end
        Signal that it begins and ends with, with its unit.
    start_unit, end_unit
        Of `celosia.cli.fpga.netlist.UNITS`.
    through
        Units on the way, in order, those of both ends included.
    """

    ns: float
    levels: int
    carries: int
    start: str
    start_unit: str
    end: str
    end_unit: str
    through: tuple[str, ...]


@dataclass(frozen=True)
class _Into:
    """How a bit is made: through ``cell`` from another bit."""

    bit: int
    cell: Cell
    ns: float
    carry: bool


class _Timing:
    """Arrival times of all bits, where each level takes ``level`` ns more than it does."""

    def __init__(self, netlist: Netlist, delays: Delays, level: float):
        self._delays = delays
        self._level = level
        self.start: dict[int, Cell] = {}
        self.arrival: dict[int, float] = {}
        self.before: dict[int, _Into] = {}
        self._into: dict[int, list[_Into]] = defaultdict(list)
        for cell in netlist.cells.values():
            self._read(cell)
        for bit in list(self._into):
            self._arrive(bit)

    def _read(self, cell: Cell) -> None:
        if cell.kind not in self._delays.logic or cell.kind in self._delays.clocked:
            for bit in cell.given:
                self.start[bit] = cell
                self.arrival[bit] = self._delays.clocked.get(cell.kind, 0.0)
            return
        for start, taken in cell.ins.items():
            for end, given in cell.outs.items():
                found = arc(self._delays.logic[cell.kind], start, end)
                if found is None:
                    continue
                ns = found.ns + (0 if found.chained else self._delays.wire + self._level)
                for bit in given:
                    self._into[bit] += [_Into(source, cell, ns, found.chained)
                                        for source in taken]

    def _arrive(self, last: int) -> None:
        stack = [last]
        waiting: set[int] = set()
        while stack:
            bit = stack[-1]
            if bit in self.arrival:
                stack.pop()
                continue
            missing = [into.bit for into in self._into.get(bit, ())
                       if into.bit not in self.arrival]
            if missing:
                if bit in waiting:
                    raise FpgaError("the netlist must have no loop of logic, but one goes through "
                                    f"{self._into[bit][0].cell.label}")
                waiting.add(bit)
                stack += missing
                continue
            best = max(self._into.get(bit, ()), default=None,
                       key=lambda into: self.arrival[into.bit] + into.ns)
            self.arrival[bit] = self.arrival[best.bit] + best.ns if best else 0.0
            if best:
                self.before[bit] = best
            stack.pop()

    def path(self, bit: int, end: Cell, ns: float) -> Path:
        """Return the longest path to a port of ``end`` that ``bit`` goes to."""
        cells, carries = [], 0
        at = bit
        while at in self.before:
            cells.append(self.before[at].cell)
            carries += self.before[at].carry
            at = self.before[at].bit
        start = self.start.get(at)
        through = [start.unit if start else "board"]
        for unit in (*(cell.unit for cell in reversed(cells)), end.unit):
            if unit != through[-1]:
                through.append(unit)
        levels = len(cells) - carries
        return Path(round(ns - levels * self._level, 2), levels, carries,
                    start.label if start else "a pin", through[0], end.label, end.unit,
                    tuple(through))


@functools.cache
def matches(pattern: str, port: str) -> bool:
    """Whether a port is meant: those of some cells have their bits in their names, ADA0, ADA1.."""
    return re.fullmatch(pattern, port) is not None


def arc(arcs: Iterable[Arc], start: str, end: str) -> Arc | None:
    """Return the way from one port to another."""
    return next((each for each in arcs if matches(each.start, start) and matches(each.end, end)),
                None)


def longest(netlist: Netlist, family: Family, *, deepest: bool = False
            ) -> dict[tuple[str, str], Path]:
    """Return the longest path from each unit into each unit, the longest first.

    Parameters
    ----------
    netlist, family
        What is timed.
    deepest
        That with the most levels is the longest, and of these the slowest; else the slowest.

    Raises
    ------
    FpgaError
        If delays of the family are not known, or logic goes round in a loop.
    """
    delays = family.measured_delays()
    timing = _Timing(netlist, delays, _DEEP if deepest else 0.0)
    worst: dict[tuple[str, str], tuple[float, int, Cell]] = {}
    for cell in netlist.cells.values():
        for port, bits in cell.ins.items():
            before = next((ns for pattern, ns in delays.setup.get(cell.kind, {}).items()
                           if matches(pattern, port)), None)
            if before is None:
                continue
            for bit in bits:
                ns = timing.arrival.get(bit, 0.0) + delays.wire + before
                at = bit
                while at in timing.before:
                    at = timing.before[at].bit
                start = timing.start.get(at)
                key = start.unit if start else "board", cell.unit
                if key not in worst or ns > worst[key][0]:
                    worst[key] = ns, bit, cell
    return {key: timing.path(bit, cell, ns) for key, (ns, bit, cell) in sorted(
        worst.items(), key=lambda item: -item[1][0])}
