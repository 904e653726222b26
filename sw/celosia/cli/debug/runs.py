"""What commands that debug run: any program that there is a file of, with arguments."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.cli.compile import add_source, compile_file, compiled_before, read_source
from celosia.cli.files import read_program
from celosia.cli.inputs import pairs, random_array, read_array
from celosia.compiled import Compiled
from celosia.driver import Device
from celosia.graph import Graph
from celosia.program import DTYPES, Program

__all__ = ["SOURCES", "Wanted", "add_arguments", "add_program", "read", "read_graph", "run",
           "values"]

#: Texts of StableHLO, which are compiled.
SOURCES = (".mlir", ".mlirbc", ".stablehlo")


def add_program(parser: argparse.ArgumentParser) -> None:
    """Add the file of a program of any kind, and how it is compiled."""
    parser.add_argument("source", metavar="FILE",
                        help="StableHLO (.mlir), compiled program, program file or assembly text")
    add_source(parser)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the arguments of a program are."""
    parser.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy",
                        help="an argument, by its name or its number; may be repeated")
    parser.add_argument("--random", type=int, default=0, metavar="SEED",
                        help="of random numbers for the other arguments (default: 0)")


def read(args: argparse.Namespace) -> tuple[Compiled | Program, TpuConfig]:
    """Return the program that arguments name, and the chip that it is for."""
    compiled = (compile_file(args) if Path(args.source).suffix in SOURCES or args.source == "-"
                else compiled_before(args))
    if compiled is not None:
        return compiled, compiled.config
    program = read_program(args.source, preset(args.preset) if args.preset else None)
    return program, _chip(program, args)


def _chip(program: Program, args: argparse.Namespace) -> TpuConfig:
    if args.preset:
        return preset(args.preset)
    for each in PRESETS.values():
        if each.fingerprint == program.fingerprint:
            return each
    raise ValueError(f"--preset must be given: the program is for a chip with fingerprint "
                     f"{program.fingerprint:#010x}, which no preset has")


@dataclass(frozen=True)
class Wanted:
    """An argument: what it is called, and what it is."""

    names: tuple[str, ...]
    dtype: np.dtype
    shape: tuple[int, ...]


def values(wanted: Sequence[Wanted], args: argparse.Namespace) -> list[NDArray[Any]]:
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


def read_graph(args: argparse.Namespace) -> tuple[Graph, list[NDArray[Any]]]:
    """Return the graph of the StableHLO that arguments name, and its arguments."""
    from celosia.compiler.api import graph_of
    graph = graph_of(read_source(args.source), None if args.source == "-" else args.source)
    return graph, values([
        Wanted((value.node.attrs["name"], str(i)), value.type.dtype.numpy, value.shape)
        for i, value in enumerate(graph.params)], args)


def run(args: argparse.Namespace, program: Compiled | Program, device: Device
        ) -> Mapping[str, int]:
    """Run a program once on its arguments; return the counters."""
    if isinstance(program, Compiled):
        return _compiled(args, program, device)
    found = values([Wanted((each.name,), DTYPES[each.dtype], each.shape)
                    for each in program.inputs], args)
    names = [each.name for each in program.inputs]
    return device.run(program, dict(zip(names, found, strict=True)), outputs=(),
                      timeout=None).counters


def _compiled(args: argparse.Namespace, program: Compiled, device: Device) -> Mapping[str, int]:
    found = values([Wanted((each.label, each.name, str(i)), each.type.dtype.numpy,
                             each.type.shape) for i, each in enumerate(program.inputs)], args)
    with program.load(device) as executable:
        executable.run(*found, timeout=None)
        return executable.counters
