"""``celosia debug run``: a program by single instructions, forth and back."""

from __future__ import annotations

import argparse
import cmd
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from celosia.cli.debug import runs
from celosia.compiled import Compiled

if TYPE_CHECKING:
    from celosia.cli.debug.stepping import SteppedRun

__all__ = ["add_options", "main"]

_LINE = re.compile(r"(?:source=)?(.+):(\d+)")
#: Instructions around the next one that are listed.
_AROUND = 4


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    runs.add_program(parser)
    runs.add_arguments(parser)
    parser.add_argument("--break", action="append", default=[], metavar="WHERE", dest="breaks",
                        help="stop in front of train.py:42 or pc=17; may be repeated")
    parser.add_argument("--watch", action="append", default=[], metavar="WHAT",
                        help="stop behind what writes ub[96..112], acc[3] or a tensor; may be "
                             "repeated")


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    from celosia.cli.debug.stepping import SteppedDevice  # other commands need no model
    program, config = runs.read(args)
    session = _Session(args.breaks, args.watch)
    compiled = program if isinstance(program, Compiled) else None
    try:
        with SteppedDevice(config, session.drive, compiled) as device:
            counters = runs.run(args, program, device)
    except _Quit:
        return 0
    print(f"the program has ended: {counters['instructions']:,} instructions")
    return 0


class _Quit(Exception):  # noqa: N818 - nothing is wrong
    """The user has seen enough."""


class _Session(cmd.Cmd):
    """What is asked of runs, one after another."""

    intro = None
    doc_header = "commands (help COMMAND says more):"
    run: SteppedRun

    def __init__(self, breaks: list[str], watches: list[str]):
        super().__init__()
        self.use_rawinput = sys.stdin.isatty()
        self.prompt = "(celosia) " if self.use_rawinput else ""
        self.wanted = [("break", each) for each in breaks] + [("watch", each) for each in watches]

    def drive(self, run: SteppedRun) -> None:
        """Go through a run."""
        self.run = run
        print(f"{run.program.name or 'the program'}: {len(run.program.insns)} instructions for "
              f"{run.stepper.machine.config.name}; help lists the commands")
        for kind, text in self.wanted:
            self._stop(kind, text)
        if self.wanted:
            self.do_continue("")
        else:
            self._show("")
        self.cmdloop()

    def _stop(self, kind: str, text: str) -> Callable[[], str]:
        if kind == "watch":
            return self.run.at_write(text)
        if text.removeprefix("pc=").isdecimal():
            pc = int(text.removeprefix("pc="))
            if pc >= len(self.run.program.insns):
                raise ValueError(f"pc must be below {len(self.run.program.insns)}, not {pc}")
            return self.run.at_pc(pc)
        if found := _LINE.fullmatch(text):
            lines = {(source.file, source.line) for source in map(
                self.run.source, range(len(self.run.program.insns))) if source.file}
            if not any(line == int(found[2]) and (file == found[1] or file.endswith(
                    f"/{found[1]}")) for file, line in lines):
                known = ", ".join(f"{file}:{line}" for file, line in sorted(lines)[:8])
                raise ValueError(f"a line must be one that instructions come from, as "
                                 f"{known or '(none is known)'}, not {text}")
            return self.run.at_line(found[1], int(found[2]))
        raise ValueError(f"where to stop must be FILE:LINE or pc=N, not {text!r}")

    def _show(self, why: str) -> None:
        stepper = self.run.stepper
        if stepper.ended is not None:
            # What is wrong is said by the device, when the session ends.
            print(f"the run has ended, in front of\n{self.run.at(stepper.pc)}"
                  if stepper.ended.cause else "the run has ended")
        else:
            print(f"{why and f'{why}, '}{stepper.executed:,} instructions executed; next is\n"
                  f"{self.run.at(stepper.pc)}")

    def onecmd(self, line: str) -> bool:
        """Do a command; what cannot be done is said."""
        try:
            return bool(super().onecmd(line))
        except ValueError as error:
            print(f"error: {error}")
            return False

    def emptyline(self) -> bool:
        """Do nothing."""
        return False

    def default(self, line: str) -> None:
        """Say what commands there are."""
        names = ", ".join(name.removeprefix("do_") for name in self.get_names()
                          if name.startswith("do_") and name != "do_EOF")
        raise ValueError(f"a command must be one of {names}, not {line.split()[0]}")

    def _count(self, arg: str) -> int:
        if not (arg or "1").isdecimal():
            raise ValueError(f"how many instructions must be a number, not {arg!r}")
        return int(arg or "1")

    def do_step(self, arg: str) -> None:
        """Step [N]: execute an instruction, or N."""
        for _ in range(self._count(arg)):
            if not self.run.stepper.step():
                break
        self._show("")

    def do_back(self, arg: str) -> None:
        """Back [N]: undo an instruction, or N."""
        self.run.stepper.back(self._count(arg))
        self._show("")

    def do_line(self, arg: str) -> None:
        """line: execute to the first instruction of another line of the source."""
        here = self.run.source(self.run.stepper.pc).place
        self._show(self.run.until(lambda: "line" if self.run.source(
            self.run.stepper.pc).place not in ("", here) else ""))

    def do_continue(self, arg: str) -> None:
        """continue: execute to what stops the run, or to its end."""
        stops = [self._stop(kind, text) for kind, text in self.wanted]
        self._show(self.run.until(*stops))

    def do_break(self, arg: str) -> None:
        """Break FILE:LINE | pc=N: stop there, too."""
        self._stop("break", arg)
        self.wanted.append(("break", arg))

    def do_watch(self, arg: str) -> None:
        """Watch ub[3..5] | acc[7] | TENSOR: stop behind what writes there, too."""
        self._stop("watch", arg)
        self.wanted.append(("watch", arg))

    def do_delete(self, arg: str) -> None:
        """delete: stop nowhere."""
        self.wanted.clear()

    def do_print(self, arg: str) -> None:
        """Print TENSOR | ub[3..5] bf16 | acc[7] f32 | r3: what is there now."""
        if found := re.fullmatch(r"r(\d+)", arg.strip()):
            registers = self.run.stepper.run.registers
            if int(found[1]) >= len(registers):
                raise ValueError(f"a register must be below r{len(registers)}, not {arg}")
            print(registers[int(found[1])])
            return
        value = self.run.value(arg)
        words = value.dtype.kind == "u" and value.dtype.itemsize > 1
        print(np.array2string(value, threshold=256, formatter={
            "int": hex} if words else None))  # pyright: ignore[reportArgumentType]

    def do_tensors(self, arg: str) -> None:
        """tensors: the names of those that print and watch know."""
        print("\n".join(self.run.names))

    def do_list(self, arg: str) -> None:
        """list: the instructions around the next one."""
        pc = self.run.stepper.pc
        for i in range(max(pc - _AROUND, 0), min(pc + _AROUND + 1, len(self.run.program.insns))):
            print(f"{'->' if i == pc else '  '}{self.run.at(i)}")

    def do_quit(self, arg: str) -> bool:
        """quit: end here."""
        raise _Quit

    def do_EOF(self, arg: str) -> bool:  # noqa: N802 - so cmd calls it
        """Control-D: do what is left of the program."""
        return True
