"""``celosia debug diverge``: the RTL beside the golden model, or that beside float64."""

from __future__ import annotations

import argparse
from pathlib import Path

from celosia.arch.config import TpuConfig
from celosia.cli.debug import precision, runs
from celosia.cli.debug.begun import Begun, TwinDevice
from celosia.compiled import Compiled
from celosia.driver import open
from celosia.driver.errors import Divergence
from celosia.program import Program
from celosia.program.asm import disassemble
from celosia.storage.destination import check_file

__all__ = ["add_options", "main"]

#: Cycles of a waveform before the one in which something is seen to be wrong.
_BEFORE = 200


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    runs.add_program(parser)
    runs.add_arguments(parser)
    parser.add_argument("--against", choices=("model", "float64"), default="model",
                        help="model: the RTL beside the golden model (default); float64: the "
                             "golden model beside the operations in float64, StableHLO only")
    parser.add_argument("--tolerance", type=float, metavar="R",
                        help="with --against float64: exit with 1 if an element of a result is off "
                             "by more than this part of the largest")
    parser.add_argument("--trace", metavar="FILE",
                        help=f"write a waveform (.vcd or .fst) that ends where they differ, "
                             f"{_BEFORE} cycles of it")
    parser.add_argument("--save", metavar="FILE",
                        help="write assembly text (.s) that differs by itself: with its data, and "
                             "nothing behind the instruction")


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.against == "float64":
        return precision.main(args)
    if args.tolerance is not None:
        raise ValueError("--tolerance must be used with --against float64")
    for option in ("trace", "save"):
        if getattr(args, option):
            check_file(f"--{option}", getattr(args, option))
    program, config = runs.read(args)
    device = TwinDevice(config)
    try:
        with device:
            counters = runs.run(args, program, device)
    except Divergence as error:
        print(error)
        if args.trace:
            _trace(args, program, config, error)
        if args.save and device.begun is not None:
            _save(args.save, device.begun, config, error)
        return 1
    print(f"RTL and golden model are equal: {counters['instructions']:,} instructions, "
          f"{counters['cycles']:,} cycles of {config.name}")
    return 0


def _trace(args: argparse.Namespace, program: Compiled | Program, config: TpuConfig,
           error: Divergence) -> None:
    """Do it again, with a waveform of what comes before the difference."""
    from celosia_sim.rtl import SimOptions
    first = max(error.now - _BEFORE, 0)
    try:
        with open("twin", config=config, options=SimOptions(
                trace=args.trace, trace_cycles=(first, error.now))) as device:
            runs.run(args, program, device)
    except Divergence as again:
        if (again.pc, again.now) != (error.pc, error.now):
            raise
    print(f"wrote {args.trace}: cycles {first} to {error.now} of the simulation")


def _save(path: str, begun: Begun, config: TpuConfig, error: Divergence) -> None:
    """Write the shortest program that is seen to differ at the same instruction."""
    for made in (begun.cut(error.pc), begun.whole()):
        if made is None or not _differs(made, config, error.pc):
            continue
        Path(path).write_text(disassemble(made))
        print(f"wrote {path}: {len(made.insns)} instructions that differ by themselves")
        return
    print(f"wrote no {path}: with memories on chip that are zero at first, the program does not "
          f"differ by itself")


def _differs(program: Program, config: TpuConfig, pc: int) -> bool:
    with open("twin", config=config) as device:
        try:
            device.run(program, timeout=None)
        except Divergence as found:
            return found.pc == pc
    return False
