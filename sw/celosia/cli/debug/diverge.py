"""``celosia debug diverge``: the RTL beside the golden model."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from celosia.arch.config import TpuConfig
from celosia.cli.debug import runs
from celosia.compiled import Compiled
from celosia.driver import open
from celosia.driver.errors import Divergence
from celosia.program import Program
from celosia.storage.destination import check_file

__all__ = ["add_options", "main"]

#: Cycles of a waveform before the one in which something is seen to be wrong.
_BEFORE = 200


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    runs.add_program(parser)
    runs.add_arguments(parser)
    parser.add_argument("--trace", metavar="FILE",
                        help=f"write a waveform (.vcd or .fst) that ends where they differ, "
                             f"{_BEFORE} cycles of it")


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.trace:
        check_file("--trace", args.trace)
    program, config = runs.read(args)
    try:
        counters = _run(args, program, config, {})
    except Divergence as error:
        print(error)
        if args.trace:
            _trace(args, program, config, error)
        return 1
    print(f"RTL and golden model are equal: {counters['instructions']:,} instructions, "
          f"{counters['cycles']:,} cycles of {config.name}")
    return 0


def _run(args: argparse.Namespace, program: Compiled | Program, config: TpuConfig,
         options: Mapping[str, Any]) -> Mapping[str, int]:
    """Run on both; return the counters."""
    with open("twin", config=config, **options) as device:
        return runs.run(args, program, device)


def _trace(args: argparse.Namespace, program: Compiled | Program, config: TpuConfig,
           error: Divergence) -> None:
    """Do it again, with a waveform of what comes before the difference."""
    from celosia_sim.rtl import SimOptions
    first = max(error.now - _BEFORE, 0)
    try:
        _run(args, program, config, {"options": SimOptions(
            trace=args.trace, trace_cycles=(first, error.now))})
    except Divergence as again:
        if (again.pc, again.now) != (error.pc, error.now):
            raise
    print(f"wrote {args.trace}: cycles {first} to {error.now} of the simulation")
