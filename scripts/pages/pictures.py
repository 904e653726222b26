"""Draws the block diagram and a timeline of the chip: docs/chip.svg and docs/timeline.svg.

The timeline is the cycle model's, which is within a percent of the RTL (`celosia bench compiled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from celosia import ops
from celosia.arch.commands import Command
from celosia.arch.config import preset
from celosia.model import control
from celosia.model.timing.estimator import Estimator
from celosia.model.timing.predict import predict
from celosia.profile.page.floorplan import COLOURS, MUTED, chip, element, svg, text
from pages.page import write_page

__all__ = ["main", "spans", "timeline"]


def spans() -> tuple[list[tuple[str, int, int]], int]:
    """Return unit, first and last cycle of each tensor instruction of a product, and all cycles."""
    found: list[tuple[str, int, int]] = []

    class Recorder(Estimator):
        def tensor(self, command: Command) -> None:
            super().tensor(command)
            entry = self._window[-1]
            found.append((command.unit.name.lower(), entry.end - entry.latency, entry.end))

    config = preset("core")
    with mock.patch.object(control, "Estimator", Recorder):  # the walk makes its clock of it
        cycles = predict(ops.matmul(config, 64, 64, 64, "int8", output="int8"), config).cycles
    return found, cycles


def timeline() -> str:
    """Return when each unit works on which instruction of a product."""
    found, cycles = spans()
    left, width, line = 70, 700, 40
    parts = [text(left, 24, f"64 x 64 * 64 x 64 in int8, scaled to int8, core: {cycles:,} cycles",
                  font_weight="bold")]
    for row, (unit, colour) in enumerate(COLOURS.items()):
        y = 44 + row * line
        parts.append(text(10, y + 20, unit, colour, font_weight="bold"))
        for name, start, end in found:
            if name == unit:
                parts.append(element(
                    "rect", x=round(left + width * start / cycles, 1), y=y,
                    width=round(width * (end - start) / cycles, 1), height=line - 10, fill=colour,
                    fill_opacity=0.3, stroke=colour, stroke_width=0.7))
    bottom = 44 + len(COLOURS) * line
    for cycle in range(0, cycles + 1, 200):
        x = round(left + width * cycle / cycles, 1)
        parts += [element("path", d=f"M{x} 40V{bottom}", stroke=MUTED, stroke_opacity=0.3),
                  text(x, bottom + 16, f"{cycle:,}", MUTED, text_anchor="middle")]
    return svg(800, bottom + 30, parts)


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write both; arguments and result as of `pages.page.write_page`."""
    return (write_page("chip.svg", lambda page: chip(), argv, root)
            | write_page("timeline.svg", lambda page: timeline(), argv, root))
