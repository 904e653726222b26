"""``celosia compile``: StableHLO into a compiled program."""

import argparse
import sys
from pathlib import Path

from celosia.arch.config import PRESETS
from celosia.cli.files import other_file
from celosia.compiled import Compiled, load
from celosia.compiled.file import MAGIC
from celosia.compiler.api import compile

__all__ = ["add_arguments", "add_source", "compile_file", "compiled_before", "read_source"]

_EPILOG = """\
FILE is what other frameworks write; from a JAX function f of arrays x and y:

  text = jax.jit(f).lower(x, y).as_text()
  pathlib.Path("f.mlir").write_text(text)

examples:
  celosia compile f.mlir                     writes f.celosia, for the preset core
  celosia compile f.mlir --preset edge -o f-edge.celosia
  celosia report f.celosia                   what it will cost
  celosia run f.celosia --random 0           runs it on random inputs

In Python: f = celosia.compiled.load("f.celosia"); results = f(x, y)
"""


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add what all commands that compile have in common."""
    parser.add_argument("--preset", choices=list(PRESETS), metavar="PRESET",
                        help=f"chip to compile for: {', '.join(PRESETS)} (default: core)")
    parser.add_argument("--strict", action="store_true",
                        help="fail if any operation would run on the host and not on the chip")
    parser.add_argument("--fast", action="store_true",
                        help="functions may be shorter and less exact than docs/numerics.md "
                             "bounds them")
    parser.add_argument("--no-cache", action="store_true",
                        help="compile even if the same program was compiled before")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = ("Compile a StableHLO program, as JAX and other frameworks write it,\n"
                          "into a program of the chip.")
    parser.epilog = _EPILOG
    parser.add_argument("source", metavar="FILE",
                        help="StableHLO: text (.mlir), MLIR bytecode or a portable artifact; "
                             "- for standard input")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="compiled program (default: the source's name with .celosia)")
    add_source(parser)
    parser.set_defaults(run=_run)


def compiled_before(args: argparse.Namespace) -> Compiled | None:
    """Return the program that arguments name, if `celosia compile` wrote it.

    Raises
    ------
    ValueError
        If an option asks for another compilation of it.
    """
    if args.source == "-":
        return None
    with Path(args.source).open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return None
    compiled = load(args.source)
    if args.preset not in (None, compiled.config.name):
        raise ValueError(f"--preset must be left out or {compiled.config.name}, for which "
                         f"{args.source} was compiled, not {args.preset}")
    if args.fast:
        raise ValueError(f"--fast must be left out: {args.source} was compiled before")
    return compiled


def read_source(path: str) -> bytes:
    """Return the program in a file, or from standard input."""
    return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()


def compile_file(args: argparse.Namespace, **options: int) -> Compiled:
    """Compile the file that arguments name, with options of `celosia.compiler.build.Options`."""
    path = args.source
    return compile(read_source(path), args.preset or "core", strict=args.strict, fast=args.fast,
                   name=None if path == "-" else Path(path).stem, filename=path,
                   cache=not args.no_cache, options=options)


def _run(args: argparse.Namespace) -> int:
    if args.output is None and args.source == "-":
        raise ValueError("-o must be given where the source is standard input")
    output = args.output or str(Path(args.source).with_suffix(".celosia"))
    other_file(output, args.source, "compiled program")
    compiled = compile_file(args)
    compiled.save(output)
    takes = ", ".join(f"{each.label or each.name} {each.type}" for each in compiled.inputs)
    gives = ", ".join(str(each.type) for each in compiled.outputs)
    if compiled.on_chip is None:
        size = f"{len(compiled.steps)} steps for {compiled.config.name} and the host"
    else:
        size = (f"{len(compiled.program.insns)} instructions for {compiled.config.name}, "
                f"{compiled.program.arena_bytes} bytes of memory")
    print(f"{output}: {size}\n"
          f"takes {takes or 'nothing'}\ngives {gives or 'nothing'}")
    return 0
