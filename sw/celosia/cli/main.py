"""Entry point of the command ``celosia``."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import sys
from collections.abc import Callable, Sequence

from celosia.cli import (
    compile,
    data,
    debug,
    files,
    fpga,
    info,
    pod,
    profile,
    report,
    run,
    serve,
    smi,
    verilog,
)
from celosia.driver.errors import needs

__all__ = ["main"]

_EPILOG = """\
start here:
  celosia demo                          a network on the simulated chip
  celosia info                          the chips that there are
  celosia run FILE.s --random 0         an assembly program on the golden model
  celosia compile FILE.mlir             a program of JAX or another framework for the chip
  celosia fpga build --board ulx3s      a bitstream for a board

`celosia COMMAND --help` explains a command. Exit codes: 0 well, 1 failed, 2 wrong usage.
"""
#: Adds the arguments of a command, and runs it.
_Parts = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]


def _demo() -> _Parts:
    from celosia.cli.demo import add_arguments, main
    return add_arguments, main


def _bench() -> _Parts:
    from celosia.bench import add_arguments, main
    return add_arguments, main


#: Commands that are imported only when they are asked for: they need more than others.
_DELEGATED: dict[str, tuple[Callable[[], _Parts], str]] = {
    "demo": (_demo, "run or train a network on the simulated chip"),
    "bench": (_bench, "measure cycles, e.g. celosia bench gemm"),
}


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="celosia", epilog=_EPILOG,
        description="Celosia, an open TPU: compile, assemble, run and measure programs, write the "
                    "chip.",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version",
                        version=f"celosia {importlib.metadata.version('celosia')}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (parts, text) in _DELEGATED.items():
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".",
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
        if name == chosen:
            add_arguments, run_it = _imported(name, parts)
            add_arguments(sub)
            sub.set_defaults(run=run_it)
    info.add_parser(commands)
    compile.add_parser(commands)
    report.add_parser(commands)
    profile.add_parser(commands)
    debug.add_parser(commands)
    files.add_parsers(commands)
    run.add_parser(commands)
    data.add_parser(commands)
    serve.add_parser(commands)
    pod.add_parser(commands)
    smi.add_parsers(commands)
    verilog.add_parser(commands)
    fpga.add_parser(commands)
    return parser


def _imported(name: str, parts: Callable[[], _Parts]) -> _Parts:
    try:
        return parts()
    except ModuleNotFoundError as error:
        raise needs(name, error, "demo") from error


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
        args = _parser(chosen).parse_args(arguments)
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
