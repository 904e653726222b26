"""``celosia debug fault``: what led to a fault."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from celosia.arch.encoding import Reg
from celosia.cli.debug import runs
from celosia.compiled import Compiled
from celosia.driver import ChipFault

if TYPE_CHECKING:
    from celosia.cli.debug.stepping import SteppedRun

__all__ = ["add_options", "main"]

_MOST = 8


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    runs.add_program(parser)
    runs.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    from celosia.cli.debug.stepping import SteppedDevice  # other commands need no model
    program, config = runs.read(args)
    seen: list[SteppedRun] = []
    with SteppedDevice(config, seen.append, program if isinstance(program, Compiled) else None
                       ) as device:
        try:
            counters = runs.run(args, program, device)
        except ChipFault as error:
            print(error)
            print(_history(seen[-1], error.pc))
            return 1
    print(f"no fault: {counters['instructions']:,} instructions")
    return 0


def _history(run: SteppedRun, pc: int) -> str:
    """Say what ran before an instruction, and what the registers hold that it looks at."""
    stepper, lines = run.stepper, []
    insns = run.program.insns
    numbers = sorted({each.number for each in insns[pc].operands if isinstance(each, Reg)}
                     if pc < len(insns) else ())
    if numbers:
        lines.append("  with " + ", ".join(f"r{number} = {stepper.run.registers[number]:#x}"
                                           for number in numbers))
    lines += [f"  in a loop over {first}..{end - 1}, {count - 1} turns before its end"
              for first, end, count in stepper.run.loops]
    lines.append(f"before it, {stepper.executed:,} instructions in all:")
    lines += [run.at(each) for each in list(stepper.passed)[-_MOST:]]
    return "\n".join(lines)
