"""``celosia debug oom``: what fills external memory, and what would fit."""

from __future__ import annotations

import argparse

from celosia.arch.registers import MOST_MEMORY
from celosia.arch.words import ceil_div
from celosia.cli.compile import add_source, compile_file
from celosia.compiler.api import compile
from celosia.compiler.demand import Demand

__all__ = ["add_options", "main"]

#: Bars of a picture of memory, and how long one is.
_MOST_BARS, _BAR = 12, 24


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("source", metavar="FILE", help="StableHLO (.mlir)")
    add_source(parser)
    parser.add_argument("--memory", metavar="BYTES", default=str(MOST_MEMORY),
                        help="bytes of external memory that there are, as 67108864 or 64M "
                             "(default: %(default)s)")


def _bytes(text: str) -> int:
    """Return a number of bytes, as 4096, 64K, 32M or 1G."""
    unit = "KMG".find(text[-1:].upper()) + 1 if text[-1:].isalpha() else 0
    digits = text[:-1] if unit else text
    if not digits.isdecimal() or not 0 < (found := int(digits) << 10 * unit) <= MOST_MEMORY:
        raise ValueError(f"--memory must be bytes from 1 to {MOST_MEMORY}, as 67108864 or 64M, "
                         f"not {text!r}")
    return found


def main(args: argparse.Namespace) -> int:
    """Run the command."""
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
