"""``celosia debug``: what goes wrong in a program, and where."""

from __future__ import annotations

import argparse

from celosia.cli.debug import diverge, fault, nan, oom, run

__all__ = ["add_arguments"]

_EPILOG = """\
examples:
  celosia debug diverge f.mlir --preset nano     the RTL beside the golden model
  celosia debug diverge f.s --trace wrong.fst    with a waveform that ends where they differ
  celosia debug diverge f.mlir --against float64 what operations are off, own and inherited
  celosia debug nan f.mlir --input x=x.npy       the operation that NaN or infinity comes from
  celosia debug oom f.mlir --memory 32M          what fills a board's memory, and what would fit
  celosia debug fault f.s                        what came before a fault
  celosia debug run f.mlir --break train.py:42   by single instructions, with the golden model

Exit code 1 where something was found. Any program can run so: CELOSIA_BACKEND=twin is the RTL
beside the golden model.
"""
_KINDS = {
    "diverge": (diverge, "find where RTL and golden model differ, or that and float64"),
    "nan": (nan, "find what makes NaN or infinity first, and count what formats lose"),
    "oom": (oom, "say what fills external memory, and what the program would fit with"),
    "fault": (fault, "say what led to a fault of the chip"),
    "run": (run, "go through a program instruction by instruction, forth and back"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = "Find what goes wrong in a program, and where."
    parser.epilog = _EPILOG
    kinds = parser.add_subparsers(metavar="WHAT", required=True)
    for name, (module, text) in _KINDS.items():
        kind = kinds.add_parser(name, help=text, description=f"{text.capitalize()}.")
        module.add_options(kind)
        kind.set_defaults(run=module.main)
