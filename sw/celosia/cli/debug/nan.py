"""``celosia debug nan``: where numbers stop to be finite, and what the chip's formats cost."""

from __future__ import annotations

import argparse

from celosia.arch.config import PRESETS
from celosia.cli.debug import runs

__all__ = ["add_options", "main"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("source", metavar="FILE", help="StableHLO (.mlir)")
    runs.add_arguments(parser)
    parser.add_argument("--preset", metavar="PRESET", default="core",
                        help=f"chip whose formats count: {', '.join(PRESETS)} (default: core)")


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    from celosia.cli.debug import losses
    from celosia.compiler.api import chosen, compile
    from celosia.graph.finite import first_non_finite
    config = chosen(args.preset)
    graph, values = runs.read_graph(args)
    found = first_non_finite(graph, values)
    print(found or "every operation makes finite numbers of finite numbers")
    lost = losses.of_run(compile(graph, config, name="main"), values)
    print("\n".join(losses.text(lost, config.name)))
    return int(found is not None or any(each.overflowed for each in lost.values()))
