"""Brings a bitstream to a board."""

from collections.abc import Callable
from pathlib import Path

from celosia.arch.board import Board
from celosia.cli.fpga.tools import find, run

__all__ = ["can_program", "program"]


def can_program() -> None:
    """Raise ToolMissing where `program` would: before an hour of place and route."""
    find("openFPGALoader")


def program(board: Board, bitstream: Path, *, flash: bool = False,
            say: Callable[[str], None] = lambda line: None) -> None:
    """Load a bitstream into a board with openFPGALoader.

    Parameters
    ----------
    flash
        Into the flash memory, where it stays; else into the FPGA, until its power goes.

    Raises
    ------
    ToolMissing, ToolFailed
        If openFPGALoader is not there, or finds no board.
    """
    tool = find("openFPGALoader")
    say(f"{'programming':16} {tool} ...")
    run(tool, [*board.loader.split(), *(["-f"] if flash else []), bitstream.name], bitstream.parent,
        "programming.log")
