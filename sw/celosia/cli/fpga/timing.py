"""Reads what nextpnr reports of a routed design: clocks, the critical path, what was placed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import Family
from celosia.cli.fpga.netlist import Cell, Netlist

__all__ = ["Clock", "CriticalPath", "TimingReport", "read"]

#: What nextpnr adds to the name of a clock's net: where it is buffered, the pad it comes from.
_BUFFERED = re.compile(r"^\$glbnet\$|\$TRELLIS_IO_IN$|_IBUF_I_O$|\$IBUF_O$")
#: Kinds of hop that are wires; the others are in a cell.
_WIRES = "routing"


@dataclass(frozen=True)
class Clock:
    """A clock: the fastest that it may be, and what was wanted, in MHz."""

    fmax_mhz: float
    wanted_mhz: float

    @property
    def met(self) -> bool:
        """Whether it is fast enough."""
        return self.fmax_mhz >= self.wanted_mhz


@dataclass(frozen=True)
class CriticalPath:
    """The slowest way from a register to a register.

    Attributes
    ----------
    start, end
        Unit and signal at the two ends.
    start_unit, end_unit
        Of `celosia.cli.fpga.netlist.UNITS`.
    logic_ns, routing_ns
        Spent in cells and on wires between them.
    levels
        Cells in between.
    through
        Units on the way, in order.
    """

    clock: str
    start: str
    start_unit: str
    end: str
    end_unit: str
    logic_ns: float
    routing_ns: float
    levels: int
    through: tuple[str, ...]


@dataclass(frozen=True)
class TimingReport:
    """What nextpnr reports.

    Attributes
    ----------
    clocks
        By name.
    path
        The critical path of the slowest clock; None where there is none.
    placed
        What the design takes on the device, by resource; only what nextpnr counts.
    """

    clocks: Mapping[str, Clock]
    path: CriticalPath | None
    placed: Mapping[str, int]

    @property
    def met(self) -> bool:
        """Whether every clock is fast enough."""
        return all(clock.met for clock in self.clocks.values())

    @property
    def slowest(self) -> str:
        """The clock that is the furthest from what was wanted."""
        return min(self.clocks, key=lambda name: (self.clocks[name].fmax_mhz
                                                  / self.clocks[name].wanted_mhz))


def _clock_name(name: str) -> str:
    """Name a clock as the design does."""
    while (shorter := _BUFFERED.sub("", name)) != name:
        name = shorter
    return name


def _cell(name: str, netlist: Netlist) -> Cell | None:
    """Find a cell by the name that nextpnr has for it, or for what it was packed into."""
    while name not in netlist.cells:
        name, dollar, _ = name.rpartition("$")
        if not dollar:
            return None
    return netlist.cells[name]


def _end(name: str, netlist: Netlist) -> tuple[str, str]:
    """Return what an end of a path is to a person, and its unit."""
    cell = _cell(name, netlist)
    if cell is None:
        return name, "board"
    return cell.label, cell.unit


def _path(found: Mapping[str, Any], netlist: Netlist) -> CriticalPath:
    hops = found["path"]
    start, start_unit = _end(hops[0]["from"]["cell"], netlist)
    end, end_unit = _end(hops[-1]["to"]["cell"], netlist)
    through = [start_unit]
    for hop in hops:
        cell = _cell(hop["to"]["cell"], netlist)
        if cell is not None and cell.unit != through[-1]:
            through.append(cell.unit)
    wires = sum(hop["delay"] for hop in hops if hop["type"] == _WIRES)
    return CriticalPath(
        _clock_name(found["from"].split(" ", 1)[-1]), start, start_unit, end, end_unit,
        round(sum(hop["delay"] for hop in hops) - wires, 2), round(wires, 2),
        sum(hop["type"] == "logic" for hop in hops), tuple(through))


def read(path: Path, netlist: Netlist, family: Family) -> TimingReport:
    """Read the report of nextpnr (``--report``).

    Raises
    ------
    FpgaError
        If it has no clock.
    """
    report = json.loads(path.read_text(encoding="utf-8"))
    clocks = {_clock_name(name): Clock(round(clock["achieved"], 2),
                                                round(clock["constraint"], 2))
              for name, clock in report["fmax"].items()}
    if not clocks:
        raise FpgaError(f"{path} must have a clock: no register of the design reaches another")
    placed = {}
    for resource, bels in family.placed.items():
        counts = [bels[bel] * used["used"] for bel, used in report["utilization"].items()
                  if bel in bels]
        if counts:
            placed[resource] = -int(-sum(counts) // 1)
    timing = TimingReport(clocks, None, placed)
    inside = [found for found in report["critical_paths"]
              if found["path"] and "<async>" not in (found["from"], found["to"])]
    paths = [_path(found, netlist) for found in inside]
    same = [found for found in paths if found.clock == timing.slowest]
    slow = max(same or paths, key=lambda found: found.logic_ns + found.routing_ns, default=None)
    return TimingReport(clocks, slow, placed)
