"""``celosia debug nan``: where numbers stop to be finite."""

from __future__ import annotations

import argparse

from celosia.cli.compile import read_source
from celosia.cli.debug import runs

__all__ = ["add_options", "main"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("source", metavar="FILE", help="StableHLO (.mlir)")
    runs.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    from celosia.compiler.api import graph_of
    from celosia.graph.finite import first_non_finite
    graph = graph_of(read_source(args.source), None if args.source == "-" else args.source)
    values = runs.values([
        runs.Wanted((value.node.attrs["name"], str(i)), value.type.dtype.numpy, value.shape)
        for i, value in enumerate(graph.params)], args)
    found = first_non_finite(graph, values)
    if found is None:
        print("every operation makes finite numbers of finite numbers")
        return 0
    print(found)
    return 1
