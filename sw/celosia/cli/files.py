"""Program files, binary or text, and the commands ``asm`` and ``disasm``."""

import argparse
import sys
from pathlib import Path

from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.compiled import read
from celosia.compiled.file import MAGIC as COMPILED
from celosia.program import Program
from celosia.program.asm import assemble, disassemble
from celosia.program.file import MAGIC
from celosia.storage.destination import check_file

__all__ = ["add_asm_arguments", "add_disasm_arguments", "other_file", "read_program"]

_ASM = """\
example (a file add.s):
          .chip core
          .buffer x, float32[64, 16], input
          .buffer y, float32[64, 16], output
          load    acc[0], @x, fmt=w32, rows=64, cols=16, pitch=64
          vector  fadd, acc[0], acc[0], scalar[1.5], n0=64
          store   acc[0], @y, fmt=w32, rows=64, cols=16, pitch=64
          halt

  celosia asm add.s -o add.bin
  celosia run add.bin --random 0 --dump y
"""
_DISASM = """\
examples:
  celosia disasm add.bin              to the terminal
  celosia disasm add.bin -o add.s     to a file that celosia asm reads
"""


def read_program(path: str, config: TpuConfig | None = None) -> Program:
    """Read a program, binary, compiled or text; "-" is standard input.

    Raises
    ------
    ValueError
        If it is none of them.
    """
    raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    if raw.startswith(COMPILED):
        try:
            return read(raw).program
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    if raw.startswith(MAGIC):
        try:
            return Program.from_bytes(raw)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: a program must begin with {MAGIC!r} or be UTF-8 text, "
                         f"but byte {error.start} is {raw[error.start]:#04x}") from None
    return assemble(text, config, filename=path, line_sources=True)


def add_asm_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``asm``."""
    parser.description = "Assemble text into a program file; docs/isa.md explains the instructions."
    parser.epilog = _ASM
    parser.add_argument("source", metavar="FILE", help="assembly text; - for standard input")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="program file (default: the source's name with .bin)")
    parser.add_argument("--preset", choices=list(PRESETS), metavar="PRESET",
                        help="chip, where the text has no .chip")
    parser.set_defaults(run=_assemble)


def add_disasm_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``disasm``."""
    parser.description = "Show a program file as text that celosia asm reads."
    parser.epilog = _DISASM
    parser.add_argument("program", metavar="FILE", help="program file")
    parser.add_argument("-o", "--output", metavar="FILE", help="text (default: standard output)")
    parser.add_argument("--no-data", action="store_true", help="leave out what constants hold")
    parser.set_defaults(run=_disassemble)


def other_file(output: str, source: str, what: str) -> None:
    """Raise ValueError where writing ``output`` is impossible, or would destroy what is read."""
    if source != "-":
        Path(source).stat()
    check_file("-o", output)
    if source != "-" and Path(output).exists() and Path(output).samefile(source):
        raise ValueError(f"the {what} must have another name than its source, not {output}")


def _assemble(args: argparse.Namespace) -> int:
    if args.output is None and args.source == "-":
        raise ValueError("-o must be given where the source is standard input")
    output = args.output or str(Path(args.source).with_suffix(".bin"))
    other_file(output, args.source, "program file")
    program = read_program(args.source, preset(args.preset) if args.preset else None)
    program.save(output)
    print(f"{output}: {len(program.insns)} instructions, {program.arena_bytes} bytes of memory")
    return 0


def _disassemble(args: argparse.Namespace) -> int:
    if args.output:
        other_file(args.output, args.program, "text")
    text = disassemble(read_program(args.program), data=not args.no_data)
    if args.output:
        Path(args.output).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0
