"""Regions of scalars as graphs, and what they make of each element of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.frames import RegionFrame
from celosia.frontend.stablehlo.translation import Here
from celosia.graph import Graph, Value
from celosia.graph.spread import SPREAD
from celosia.graph.spread import spread as spread_graph

__all__ = ["body_of", "frame_of", "spread"]


def frame_of(here: Here, region: Any) -> RegionFrame:
    """Return a region of scalars, with what it takes from around it.

    Raises
    ------
    Unsupported
        If it has other operations than elementwise ones, loops and branches.
    """
    frame = here.importer.region("body", region, here)
    _check(frame.close(frame.captured))
    return frame


def body_of(here: Here, region: Any) -> Graph:
    """Return a region of scalars as a graph.

    Raises
    ------
    Unsupported
        If it has other operations than elementwise ones on its arguments, loops and branches.
    """
    frame = frame_of(here, region)
    if frame.captured:
        raise Unsupported("body must be of operations on its arguments alone")
    return frame.close(())


def _check(graph: Graph) -> None:
    for node in graph.nodes:
        if node.operands and not (node.op in SPREAD
                                  and all(type.rank == 0 for type in node.types)):
            raise Unsupported(f"body must be of elementwise operations, not {node.op}")
        for region in node.regions:
            _check(region)


def spread(here: Here, body: Graph, operands: Sequence[Value]) -> tuple[Value, ...]:
    """Return what a graph of scalars (`body_of`) makes of each element of arrays."""
    return spread_graph(body, operands, here.source, here.emit)
