"""Makes the table of units in docs/chip.md: what each takes on an ULX3S, and what it may."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from celosia.arch.commands import Command, Load, Matmul, Store, Vector, VectorOperand
from celosia.arch.config import PRESETS, TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import Dst, Post, Src, VectorOp
from celosia.cli.fpga.netlist import UNITS
from celosia.model.timing import Timing, cost
from celosia_hw.boards import BOARDS
from celosia_hw.boards.budgets import BUDGETS
from pages.page import between, write_page

__all__ = ["BOARD", "budgets", "latencies", "main"]

BOARD = "ulx3s"
_MARKS = ("<!-- budgets: written by scripts/docs -->\n", "<!-- end of budgets -->\n")
#: What synthesis found, as the tests of the extra fpga keep it.
_FOUND = Path(__file__).parents[2] / "tests/sw/cli/fpga/budgets.json"
_WHATS = {"luts": "LUTs", "flip_flops": "flip-flops", "levels": "levels"}


def latencies(config: TpuConfig) -> dict[str, int]:
    """Return, of the units that rows pass, the cycles from the first row of an instruction that has
    one until its result is there, by the cycle model and with no memory to wait for.
    """
    memory = Timing(read_latency=0, write_latency=0)
    row = Stream.linear(0, (1, 1, 1))
    transfer = Mem.ACC, DmaFormat.W32, 0, 0, 1, config.dim, 4 * config.dim
    smallest: dict[str, Command] = {
        "mxu": Matmul(MatmulFormat.INT8, False, False, row, row, None),
        "vpu": Vector(VectorOp.MOV, Post.NONE, Dst.ACC, row,
                      (VectorOperand(Src.ACC, 0, row),), 0, (1, 1, 1)),
        "load": Load(*transfer), "store": Store(*transfer)}
    return {unit: cost(command, config, memory).latency for unit, command in smallest.items()}


def budgets() -> Iterator[str]:
    """Return the lines of the table."""
    presets = [preset for board, preset in BUDGETS if board == BOARD]
    kept = json.loads(_FOUND.read_text(encoding="utf-8"))
    found = {preset: kept[f"{BOARD} {preset}"]["units"] for preset in presets}
    cycles = {preset: latencies(BOARDS[BOARD].folded(PRESETS[preset])) for preset in presets}
    yield "| unit |" + "".join(f" `{preset}`: {said} |" for preset in presets
                               for said in (*_WHATS.values(), "latency"))
    yield "|---|" + "---:|" * len(presets) * (len(_WHATS) + 1)
    for unit, said in UNITS.items():
        yield f"| {said} |" + "".join(
            "".join(f" {found[preset][unit][what]:,} of "
                    f"{getattr(BUDGETS[BOARD, preset][unit], what):,} |" for what in _WHATS)
            + f" {cycles[preset].get(unit, '')} |" for preset in presets)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the table, or with ``--check`` only say whether it is stale; return the exit code."""
    return write_page("chip.md", lambda page: between(page, _MARKS, "\n".join(budgets())), argv)
