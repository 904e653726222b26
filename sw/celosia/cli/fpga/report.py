"""What is said of a build: as data, as text, and as a line of docs/performance.md's table."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from celosia.cli.fpga.build import BuildResult, Routed
from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import RESOURCES, available
from celosia.cli.fpga.netlist import UNITS
from celosia.cli.fpga.timing import CriticalPath

__all__ = ["as_data", "as_text", "columns", "load", "table"]

#: Of the reports; a reader of another number must not guess.
FORMAT = 1


def _seed(built: BuildResult, routed: Routed) -> dict[str, Any]:
    return {"seed": routed.seed, "fmax_mhz": built.fmax_mhz(routed), "met": routed.timing.met,
            "clocks": {name: {**dataclasses.asdict(clock), "met": clock.met}
                       for name, clock in routed.timing.clocks.items()},
            "seconds": round(routed.seconds, 1)}


def _percent(used: int, have: int) -> float:
    return round(100 * used / have, 1) if have else 0.0


def as_data(built: BuildResult, command: str) -> dict[str, Any]:
    """Return the report of a build, for JSON.

    Parameters
    ----------
    command
        That makes it again.
    """
    made, best = built.sources, built.best
    have, used = available(made.board.capacity), built.used()
    fmax = built.fmax_mhz(best) if best else None
    return {
        "format": FORMAT, "version": metadata.version("celosia"), "command": command,
        "board": made.board.name, "title": made.board.title, "device": made.board.device,
        "untried": made.board.untried,
        "preset": made.config.name,
        "fingerprint": f"{made.config.fingerprint:#010x}",
        "array": made.config.dim, "freq_mhz": made.freq_hz / 1e6, "baud": made.baud,
        "memory_bytes": made.memory_bytes,
        "lacks": built.lacks, "seed": best.seed if best else None, "fmax_mhz": fmax,
        "met": best.timing.met if best else None,
        "gmacs": round(made.config.pes * fmax / 1e3, 2) if fmax is not None else None,
        "bitstream": str(built.bitstream) if built.bitstream else None,
        "folder": str(built.folder),
        "resources": {name: {"used": used[name], "available": have[name],
                             "percent": _percent(used[name], have[name])} for name in RESOURCES},
        "units": built.netlist.by_unit(), "cells": built.netlist.kinds(),
        "critical_path": {**dataclasses.asdict(best.timing.path),
                          "through": list(best.timing.path.through)}
        if best and best.timing.path else None,
        "seeds": [_seed(built, routed) for routed in built.routed],
        "tools": built.tools,
        "seconds": {name: round(seconds, 1) for name, seconds in built.seconds.items()},
    }


def load(path: Path) -> dict[str, Any]:
    """Read a report.

    Raises
    ------
    FpgaError
        If it is none, or of another format.
    """
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FpgaError(f"{path} must be a report of celosia fpga build: {error}") from error
    if not isinstance(report, dict) or report.get("format") != FORMAT:
        found = report.get("format") if isinstance(report, dict) else type(report).__name__
        raise FpgaError(f"{path} must be a report of celosia fpga build of format {FORMAT}, "
                        f"not {found!r}")
    return report


def _path_text(path: CriticalPath) -> list[str]:
    total = path.logic_ns + path.routing_ns
    return [(f"critical path {total:.2f} ns: {path.logic_ns:.2f} logic of {path.levels} cells, "
            f"{path.routing_ns:.2f} routing, clock {path.clock}"),
            f"  from        {path.start} ({UNITS.get(path.start_unit, path.start_unit)})",
            f"  to          {path.end} ({UNITS.get(path.end_unit, path.end_unit)})",
            f"  through     {' > '.join(path.through)}"]


def columns(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return lines with the cells of rows below each other."""
    every = list(rows)
    widths = [max(len(row[index]) for row in every) for index in range(len(every[0]))]
    return ["  ".join(cell.ljust(width) if index == 0 else cell.rjust(width)
                      for index, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip()
            for row in every]


def as_text(built: BuildResult) -> str:
    """Return the report of a build, for a person."""
    made, best = built.sources, built.best
    lines = [(f"{made.config.name} on {made.board.title} ({made.board.device}), "
             f"{made.freq_hz / 1e6:g} MHz, link {made.baud:,} baud, "
             f"fingerprint {made.config.fingerprint:#010x}"), ""]
    have, used = available(made.board.capacity), built.used()
    lines += columns([
        ("", "used", "of", ""),
        *((what, f"{used[name]:,}", f"{have[name]:,}", f"{_percent(used[name], have[name]):.1f}%")
          for name, what in RESOURCES.items())])
    lines.append("")
    lines += columns([
        ("by unit, after synthesis", *RESOURCES.values()),
        *((UNITS[unit], *(f"{row[name]:,}" for name in RESOURCES))
          for unit, row in built.netlist.by_unit().items())])
    for routed in built.routed:
        clocks = ", ".join(
            f"{name} {clock.fmax_mhz:.2f} MHz of {clock.wanted_mhz:.2f}"
            f"{'' if clock.met else ' (NOT MET)'}"
            for name, clock in routed.timing.clocks.items())
        lines += ["", f"seed {routed.seed}: {clocks}"] if routed is built.routed[0] else [
            f"seed {routed.seed}: {clocks}"]
    if best:
        if len(built.routed) > 1:
            worst = min(built.routed, key=built.fmax_mhz)
            lines.append(f"best: seed {best.seed}, {built.fmax_mhz(best):.2f} MHz; worst: seed "
                         f"{worst.seed}, {built.fmax_mhz(worst):.2f} MHz")
        if best.timing.path:
            lines += ["", *_path_text(best.timing.path)]
    lines += ["", "seconds: " + ", ".join(f"{name} {seconds:.0f}"
                                          for name, seconds in built.seconds.items()),
              "tools: " + ", ".join(built.tools.values())]
    if best and not best.timing.met:
        slow = best.timing.clocks[best.timing.slowest]
        lines += ["", (f"TIMING NOT MET: clock {best.timing.slowest} runs at {slow.fmax_mhz:.2f} "
                      f"MHz, not {slow.wanted_mhz:.2f}. The bitstream may compute wrong results; "
                      f"build with --freq {int(slow.fmax_mhz)}, or try --seeds.")]
    if built.lacks:
        lines += ["", (f"DOES NOT FIT: {made.config.name} on {made.board.name} needs "
                      f"{', '.join(built.lacks)}")]
    if built.bitstream:
        lines += ["", f"bitstream: {built.bitstream}"]
    return "\n".join(lines)


def _fmax(report: Mapping[str, Any]) -> str:
    speeds = [seed["fmax_mhz"] for seed in report["seeds"]]
    if not speeds:
        return "(not routed)"
    low, high = min(speeds), max(speeds)
    return f"{low:.1f}" if len(speeds) == 1 else f"{low:.1f}..{high:.1f}"


def table(reports: Iterable[Mapping[str, Any]]) -> str:
    """Return the table of boards of docs/performance.md; Fmax is of the slowest and the fastest
    seed; GMAC/s are those of an array that makes a row a cycle, at the slowest.
    """
    lines = [("| board | chip | clock, MHz | Fmax, MHz (seeds) | LUTs | flip-flops | DSP blocks | "
             "block RAMs | GMAC/s | command |"),
             "|---|---|---:|---:|---:|---:|---:|---:|---:|---|"]
    for report in reports:
        speeds = [seed["fmax_mhz"] for seed in report["seeds"]]
        gmacs = f"{report['array'] ** 2 * min(speeds) / 1e3:.2f}" if speeds else ""
        cells = [f"{report['resources'][name]['used']:,} "
                 f"({report['resources'][name]['percent']:.0f}%)" for name in RESOURCES]
        seeds = f" ({len(speeds)})" if speeds else ""
        lines.append(f"| {report['title']} | `{report['preset']}` | {report['freq_mhz']:.4g} | "
                     f"{_fmax(report)}{seeds} | {' | '.join(cells)} | {gmacs} | "
                     f"`{report['command']}` |")
    return "\n".join(lines) + "\n"
