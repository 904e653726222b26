"""Entry point of the command ``celosia``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from celosia.driver.errors import needs

__all__ = ["COMMANDS", "command_parser", "main"]

_EPILOG = """\
start here:
  celosia demo                          a network on the simulated chip
  celosia info                          the chips that there are
  celosia run FILE.s --random 0         an assembly program on the golden model
  celosia compile FILE.mlir             a program of JAX or another framework for the chip
  celosia fpga build --board ulx3s      a bitstream for a board

`celosia COMMAND --help` explains a command. Exit codes: 0 well, 1 failed, 2 wrong usage.
"""
#: Commands, and what they do. The module of one is imported when it is asked for.
COMMANDS = {
    "demo": "run or train a network on the simulated chip",
    "bench": "measure cycles, e.g. celosia bench gemm",
    "info": "show the chips: array, memories, formats",
    "compile": "compile StableHLO (.mlir) into a program of the chip",
    "report": "show what a program will do and cost, without running it",
    "profile": "show where the cycles of a program go, and what could be gained",
    "debug": "find what goes wrong in a program: RTL against model, NaN, memory",
    "asm": "assemble text into a program file",
    "disasm": "show a program file as text",
    "run": "run a program file, compiled program or assembly text",
    "data": "put MNIST, from its files, where Keras looks for it",
    "serve": "answer predictions of a model over HTTP (KServe v2)",
    "pod": "train on chips that links connect, and keep boards",
    "smi": "show the chips of all processes: program, memory, use",
    "top": "the same every second",
    "verilog": "write a chip as Verilog",
    "fpga": "make a bitstream for a board",
}
#: Module and function that declare a command's arguments, where these are not those of its name.
_ELSEWHERE = {
    "bench": ("celosia.bench", "add_arguments"),
    "asm": ("celosia.cli.files", "add_asm_arguments"),
    "disasm": ("celosia.cli.files", "add_disasm_arguments"),
    "smi": ("celosia.cli.smi", "add_smi_arguments"),
    "top": ("celosia.cli.smi", "add_top_arguments"),
}


class _Version(argparse.Action):
    """Says which version is installed; who wants no more waits for no look at what is."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version
        print(f"celosia {version('celosia')}")
        parser.exit()


def command_parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """Return what reads the command line.

    Parameters
    ----------
    chosen
        The command whose arguments it reads; the others have names only.
    """
    parser = argparse.ArgumentParser(
        prog="celosia", epilog=_EPILOG,
        description="Celosia, an open TPU: compile, assemble, run and measure programs, write the "
                    "chip.",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action=_Version, nargs=0, default=argparse.SUPPRESS,
                        help="show program's version number and exit")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.",
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
        if name == chosen:
            module, function = _ELSEWHERE.get(name, (f"celosia.cli.{name}", "add_arguments"))
            try:
                add_arguments = getattr(importlib.import_module(module), function)
            except ModuleNotFoundError as error:
                raise needs(name, error, "demo") from error
            add_arguments(sub)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code.

    Parameters
    ----------
    argv
        Arguments without the name of the command; None: those of the process.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        chosen = next((text for text in arguments if not text.startswith("-")), None)
        args = command_parser(chosen).parse_args(arguments)
        return args.run(args) or 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("celosia: stopped", file=sys.stderr)
        return 130
    except (RuntimeError, ValueError, OSError, MemoryError) as error:
        if "--debug" in arguments:
            raise
        print(f"celosia: error: {_text(error)}", file=sys.stderr)
        return 1


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    return str(error) or "out of memory"
