"""``celosia debug diverge --against float64``: how far operations of the chip are off."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from celosia.cli.debug import runs
from celosia.graph import Graph, Node

__all__ = ["main"]

#: Operations that are printed, those that are off most by themselves.
_MOST = 12


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    import numpy as np

    from celosia.compiler.api import chosen, compile
    from celosia.driver import open
    from celosia.graph.deviation import deviations
    for option in ("trace", "save"):
        if getattr(args, option):
            raise ValueError(f"--{option} must be used with --against model")
    if args.tolerance is not None and not args.tolerance >= 0:
        raise ValueError(f"--tolerance must be 0 or more, not {args.tolerance:g}")
    if Path(args.source).suffix not in runs.SOURCES and args.source != "-":
        raise ValueError(f"what is compared with float64 must be StableHLO "
                         f"({', '.join(runs.SOURCES)}), not {args.source}")
    config = chosen(args.preset or "core")

    def run(graph: Graph, inputs: Sequence[Any]) -> Sequence[Any]:
        compiled = compile(graph, config, strict=args.strict, fast=args.fast, cache=False)
        with open("model", config=config) as device, compiled.load(device) as executable:
            return [np.asarray(each) for each in executable.run(*inputs, timeout=None)]

    found = deviations(*runs.read_graph(args), run)
    most = sorted(found, key=lambda each: -each.own)[:_MOST]
    print(f"{len(found)} operations of floats on {config.name}; the most off by themselves, as "
          f"parts of their largest element:")
    print("       own       ulps  inherited      total  operation")
    for each in most:
        print(f"{each.own:>10.2g} {each.ulps:>10.3g} {each.inherited:>10.2g} {each.total:>10.2g}  "
              f"{_name(each.node)}")
    worst = max((each for each in found if each.is_result), key=lambda each: each.total,
                default=None)
    if worst is not None:
        print(f"the result that is off most is {_name(worst.node)}: {worst.total:.2g}, of which "
              f"{worst.own:.2g} is its own")
    if endless := sum(each.is_result and not each.is_finite for each in found):
        print(f"{endless} results have elements that are not finite in float64; others count")
    return int(args.tolerance is not None and worst is not None
               and worst.total > args.tolerance)


def _name(node: Node) -> str:
    source = node.source
    return f"{node.op} {source.place or 'nobody noted where'}" + (
        f" ({source.name})" if source.name else "")
