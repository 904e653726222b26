"""``celosia debug``: what goes wrong in a program, and where."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.arch.registers import MOST_MEMORY
from celosia.arch.words import ceil_div
from celosia.cli.compile import add_source, compile_file, compiled_before, read_source
from celosia.cli.files import read_program
from celosia.cli.inputs import pairs, random_array, read_array
from celosia.compiled import Compiled
from celosia.compiler.api import compile
from celosia.compiler.demand import Demand
from celosia.driver import Device, open
from celosia.driver.errors import Divergence
from celosia.program import DTYPES, Program
from celosia.storage.destination import check_file

__all__ = ["add_parser"]

_EPILOG = """\
examples:
  celosia debug diverge f.mlir --preset nano     the RTL beside the golden model
  celosia debug diverge f.s --trace wrong.fst    with a waveform that ends where they differ
  celosia debug nan f.mlir --input x=x.npy       the operation that NaN or infinity comes from
  celosia debug oom f.mlir --memory 32M          what fills a board's memory, and what would fit

Exit code 1 where something was found. Any program can run so: CELOSIA_BACKEND=twin is the RTL
beside the golden model.
"""
#: Texts of StableHLO, which are compiled.
_SOURCES = (".mlir", ".mlirbc", ".stablehlo")
#: Cycles of a waveform before the one in which something is seen to be wrong.
_BEFORE = 200
#: Bars of a picture of memory, and how long one is.
_MOST_BARS, _BAR = 12, 24


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "debug", help="find what goes wrong in a program: RTL against model, NaN, memory",
        epilog=_EPILOG, description="Find what goes wrong in a program, and where.",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(metavar="WHAT", required=True)
    for name, run, text in (
            ("diverge", _diverge, "the first instruction of which RTL and golden model differ"),
            ("nan", _nan, "the first operation that makes NaN or infinity of finite numbers"),
            ("oom", _oom, "what fills external memory, and what the program would fit with")):
        kind = kinds.add_parser(name, help=text, description=f"Find {text}.")
        kind.add_argument("source", metavar="FILE",
                          help="StableHLO (.mlir)" + (", compiled program, program file or "
                                                      "assembly text" if name == "diverge" else ""))
        if name == "oom":
            add_source(kind)
            kind.add_argument("--memory", metavar="BYTES", default=str(MOST_MEMORY),
                              help=f"bytes of external memory that there are, as 67108864 or 64M "
                                   f"(default: {MOST_MEMORY})")
            kind.set_defaults(run=run)
            continue
        kind.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy",
                          help="an argument, by its name or its number; may be repeated")
        kind.add_argument("--random", type=int, default=0, metavar="SEED",
                          help="of random numbers for the other arguments (default: 0)")
        if name == "diverge":
            add_source(kind)
            kind.add_argument("--trace", metavar="FILE",
                              help=f"write a waveform (.vcd or .fst) that ends where they "
                                   f"differ, {_BEFORE} cycles of it")
        kind.set_defaults(run=run)


@dataclass(frozen=True)
class _Wanted:
    """An argument: what it is called, and what it is."""

    names: tuple[str, ...]
    dtype: np.dtype
    shape: tuple[int, ...]


def _values(wanted: Sequence[_Wanted], args: argparse.Namespace) -> list[NDArray[Any]]:
    """Return arguments, from files or random."""
    given = pairs("--input", args.input)
    known = {name: each for each in wanted for name in each.names if name}
    if unknown := [name for name in given if name not in known]:
        raise ValueError(f"--input must name one of {', '.join(known) or '(there are none)'}, not "
                         f"{unknown[0]}")
    rng, found = np.random.default_rng(args.random), []
    for each in wanted:
        name = next((name for name in each.names if name in given), None)
        found.append(random_array(each.shape, each.dtype, rng) if name is None else
                     read_array(name, given[name], each.dtype))
    return found


def _diverge(args: argparse.Namespace) -> int:
    if args.trace:
        check_file("--trace", args.trace)
    compiled = (compile_file(args) if Path(args.source).suffix in _SOURCES or args.source == "-"
                else compiled_before(args))
    if compiled is not None:
        config: TpuConfig = compiled.config
        program: Compiled | Program = compiled
    else:
        program = read_program(args.source, preset(args.preset) if args.preset else None)
        config = _chip(program, args)
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


def _chip(program: Program, args: argparse.Namespace) -> TpuConfig:
    if args.preset:
        return preset(args.preset)
    for each in PRESETS.values():
        if each.fingerprint == program.fingerprint:
            return each
    raise ValueError(f"--preset must be given: the program is for a chip with fingerprint "
                     f"{program.fingerprint:#010x}, which no preset has")


def _run(args: argparse.Namespace, program: Compiled | Program, config: TpuConfig,
         options: Mapping[str, Any]) -> Mapping[str, int]:
    """Run on both; return the counters."""
    with open("twin", config=config, **options) as device:
        if isinstance(program, Compiled):
            return _compiled(args, program, device)
        values = _values([_Wanted((each.name,), DTYPES[each.dtype], each.shape)
                          for each in program.inputs], args)
        names = [each.name for each in program.inputs]
        return device.run(program, dict(zip(names, values, strict=True)), outputs=(),
                          timeout=None).counters


def _compiled(args: argparse.Namespace, program: Compiled, device: Device) -> Mapping[str, int]:
    values = _values([_Wanted((each.label, each.name, str(i)), each.type.dtype.numpy,
                               each.type.shape) for i, each in enumerate(program.inputs)], args)
    with program.load(device) as executable:
        executable.run(*values, timeout=None)
        return executable.counters


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


def _nan(args: argparse.Namespace) -> int:
    from celosia.compiler.api import graph_of
    from celosia.graph.finite import first_non_finite
    graph = graph_of(read_source(args.source), None if args.source == "-" else args.source)
    values = _values([_Wanted((value.node.attrs["name"], str(i)), value.type.dtype.numpy,
                               value.shape) for i, value in enumerate(graph.params)], args)
    found = first_non_finite(graph, values)
    if found is None:
        print("every operation makes finite numbers of finite numbers")
        return 0
    print(found)
    return 1


def _bytes(text: str) -> int:
    """Return a number of bytes, as 4096, 64K, 32M or 1G."""
    unit = "KMG".find(text[-1:].upper()) + 1 if text[-1:].isalpha() else 0
    digits = text[:-1] if unit else text
    if not digits.isdecimal() or not 0 < (found := int(digits) << 10 * unit) <= MOST_MEMORY:
        raise ValueError(f"--memory must be bytes from 1 to {MOST_MEMORY}, as 67108864 or 64M, "
                         f"not {text!r}")
    return found


def _oom(args: argparse.Namespace) -> int:
    from celosia.compiler.errors import MemoryTooSmall
    memory = _bytes(args.memory)
    try:
        compiled = compile_file(args, memory=memory)
    except MemoryTooSmall as error:
        print(error.demand)
        print(_filling(error.demand))
        for way in error.ways:
            compile(way.graph, args.preset or "core", fast=args.fast, cache=not args.no_cache,
                    options={"memory": memory})
            print(f"{way}, compiled")
        if not error.ways:
            print("it fits with nothing that was tried: donated arguments, arguments in bf16, a "
                  "smaller batch, 2 to 8 devices")
        return 1
    print(f"the program needs {compiled.arena_bytes:,} of {memory:,} bytes of external memory")
    return 0


def _filling(demand: Demand) -> str:
    """Return how full memory is while a program runs: a bar for each stretch of its work."""
    size = ceil_div(len(demand.history), _MOST_BARS)
    parts = [max(demand.history[i:i + size], key=lambda each: each[1])
             for i in range(0, len(demand.history), size)]
    most = max(nbytes for _, nbytes in parts)
    lines = ["bytes that are needed at once, from the beginning to the end of a run:"]
    for place, nbytes in parts:
        bar = "#" * round(_BAR * nbytes / most)
        over = "over" if nbytes > demand.limit else ""
        lines.append(f"  {nbytes:>14,}  {bar:<{_BAR}}  {over:4}  {place}".rstrip())
    return "\n".join(lines)
