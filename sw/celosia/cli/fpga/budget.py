"""What each unit of a chip takes and how deep its logic is, beside what it may."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celosia.arch.board import Budget
from celosia.cli.fpga.families import Family
from celosia.cli.fpga.netlist import UNITS, Netlist
from celosia.cli.fpga.paths import Path, longest
from celosia.cli.fpga.report import columns

__all__ = ["UnitUse", "as_data", "as_text", "unit_uses"]


@dataclass(frozen=True)
class UnitUse:
    """A unit.

    Attributes
    ----------
    unit
        Of `celosia.cli.fpga.netlist.UNITS`.
    takes
        By resource.
    slowest, deepest
        The path that takes longest of those that end in it, and that with the most levels; None
        where none does.
    budget
        None where there is none.
    """

    unit: str
    takes: Mapping[str, int]
    slowest: Path | None
    deepest: Path | None
    budget: Budget | None

    @property
    def levels(self) -> int:
        """Cells on its deepest path."""
        return self.deepest.levels if self.deepest else 0

    @property
    def over(self) -> list[str]:
        """What is more than the budget, in words."""
        if self.budget is None:
            return []
        used = {"luts": self.takes["luts"], "flip_flops": self.takes["flip_flops"],
                "levels": self.levels}
        names = {"luts": "LUTs", "flip_flops": "flip-flops", "levels": "levels"}
        return [f"{UNITS[self.unit]}: {count:,} {names[what]}, budget "
                f"{getattr(self.budget, what):,}"
                + (f" (from {self.deepest.start} to {self.deepest.end}, through "
                   f"{' > '.join(self.deepest.through)})"
                   if what == "levels" and self.deepest else "")
                for what, count in used.items() if count > getattr(self.budget, what)]


def unit_uses(netlist: Netlist, family: Family, budgets: Mapping[str, Budget]) -> list[UnitUse]:
    """Return a row for each unit.

    Raises
    ------
    FpgaError
        If delays of the family are not known.
    """
    slowest, deepest = (_into(longest(netlist, family, deepest=levels)) for levels in (False, True))
    return [UnitUse(unit, takes, slowest.get(unit), deepest.get(unit), budgets.get(unit))
            for unit, takes in netlist.by_unit().items()]


def _into(paths: Mapping[tuple[str, str], Path]) -> dict[str, Path]:
    """Return the first path into each unit."""
    found: dict[str, Path] = {}
    for (_, end), path in paths.items():
        found.setdefault(end, path)
    return found


def as_data(found: list[UnitUse]) -> dict[str, Any]:
    """Return units for JSON, by unit."""
    return {row.unit: {**row.takes, "levels": row.levels,
                       **{name: dataclasses.asdict(path) if path else None for name, path in (
                           ("slowest", row.slowest), ("deepest", row.deepest))},
                       "budget": dataclasses.asdict(row.budget) if row.budget else None,
                       "over": row.over} for row in found}


def as_text(found: list[UnitUse]) -> str:
    """Return units for a person."""
    def of(row: UnitUse, what: str) -> str:
        return f"{getattr(row.budget, what):,}" if row.budget else "-"

    lines = columns([
        ("", "LUTs", "of", "flip-flops", "of", "DSP blocks", "block RAMs", "levels", "of", "ns",
         "slowest path"),
        *((UNITS[row.unit], f"{row.takes['luts']:,}", of(row, "luts"),
           f"{row.takes['flip_flops']:,}", of(row, "flip_flops"), f"{row.takes['multipliers']:,}",
           f"{row.takes['block_rams']:,}", str(row.levels), of(row, "levels"),
           f"{row.slowest.ns:.1f}" if row.slowest else "-",
           f"{row.slowest.start} -> {row.slowest.end}" if row.slowest else "") for row in found)])
    over = [line for row in found for line in row.over]
    return "\n".join([*lines, *(["", "OVER BUDGET", *over] if over else [])])
