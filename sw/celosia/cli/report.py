"""``celosia report``: what a program will do and cost, without running it."""

import argparse
import json

from celosia.cli.compile import add_source, compile_file, compiled_before

__all__ = ["add_arguments"]

_EPILOG = """\
examples:
  celosia report f.mlir                    compile for the preset core, and report
  celosia report f.mlir --preset edge
  celosia report f.celosia --json          of a program that celosia compile wrote, as JSON

The columns are: the cycles expected, and their share of the whole; the cycles that the
work takes at best, and what bounds that (array, vector unit or memory); the share of the
array's products that are needed; the bytes that are moved.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = ("Show each piece of work of a program: where it runs and why, the\n"
                          "cycles expected, bytes moved and the use of the array; then where\n"
                          "every tensor lies.")
    parser.epilog = _EPILOG
    parser.add_argument("source", metavar="FILE",
                        help="StableHLO (.mlir), or what celosia compile wrote (.celosia); "
                             "- for StableHLO from standard input")
    add_source(parser)
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    compiled = compiled_before(args) or compile_file(args)
    if args.json:
        print(json.dumps(compiled.report(json=True), indent=2))
    else:
        print(compiled.report(), end="")
    return 0
