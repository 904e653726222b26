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
    path
        The longest that ends in it; None where none does.
    budget
        None where there is none.
    """

    unit: str
    takes: Mapping[str, int]
    path: Path | None
    budget: Budget | None

    @property
    def levels(self) -> int:
        """Cells on its longest path."""
        return self.path.levels if self.path else 0

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
                + (f" (from {self.path.start} to {self.path.end}, through "
                   f"{' > '.join(self.path.through)})" if what == "levels" and self.path else "")
                for what, count in used.items() if count > getattr(self.budget, what)]


def unit_uses(netlist: Netlist, family: Family, budgets: Mapping[str, Budget]) -> list[UnitUse]:
    """Return a row for each unit.

    Raises
    ------
    FpgaError
        If delays of the family are not known.
    """
    paths = longest(netlist, family)
    found = []
    for unit, takes in netlist.by_unit().items():
        ending = [path for (_, end), path in paths.items() if end == unit]
        # The deepest, and of these the slowest: a budget counts levels.
        path = max(ending, key=lambda path: (path.levels, path.ns), default=None)
        found.append(UnitUse(unit, takes, path, budgets.get(unit)))
    return found


def as_data(found: list[UnitUse]) -> dict[str, Any]:
    """Return units for JSON, by unit."""
    return {row.unit: {**row.takes, "levels": row.levels,
                       "path": dataclasses.asdict(row.path) if row.path else None,
                       "budget": dataclasses.asdict(row.budget) if row.budget else None,
                       "over": row.over} for row in found}


def as_text(found: list[UnitUse]) -> str:
    """Return units for a person."""
    def of(row: UnitUse, what: str) -> str:
        return f"{getattr(row.budget, what):,}" if row.budget else "-"

    lines = columns([
        ("", "LUTs", "of", "flip-flops", "of", "DSP blocks", "block RAMs", "levels", "of", "ns",
         "longest path"),
        *((UNITS[row.unit], f"{row.takes['luts']:,}", of(row, "luts"),
           f"{row.takes['flip_flops']:,}", of(row, "flip_flops"), f"{row.takes['multipliers']:,}",
           f"{row.takes['block_rams']:,}", str(row.levels), of(row, "levels"),
           f"{row.path.ns:.1f}" if row.path else "-",
           f"{row.path.start} -> {row.path.end}" if row.path else "") for row in found)])
    over = [line for row in found for line in row.over]
    return "\n".join([*lines, *(["", "OVER BUDGET", *over] if over else [])])
