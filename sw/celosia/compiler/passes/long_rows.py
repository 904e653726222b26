"""Reductions of rows that are too long for the chip become reductions of parts of them.

A row is joined as a whole in the accumulators. One that would take too much of them is seen as a
matrix, whose columns are joined first; what is left over is joined beside it.
"""

from __future__ import annotations

import math

from celosia.arch.config import TpuConfig
from celosia.compiler.builder import Builder
from celosia.compiler.passes.reductions import reduced
from celosia.graph import Graph, Node, Value, replace_nodes

__all__ = ["long_rows"]

#: Part of the accumulators that a row may take: others hold what is made of it, and temporaries.
_SHARE = 8
#: Rows of D lanes that a part has.
_PANELS = 16


def long_rows(graph: Graph, config: TpuConfig) -> Graph:
    """Return the graph with no reduction over more lanes than the accumulators can hold.

    Parameters
    ----------
    graph
        Canonical.
    config
        The chip.
    """
    most = config.acc_rows // _SHARE * config.dim
    part = min(_PANELS * config.dim, most)

    def split(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
        if now.op != "reduce":
            return None
        x, dims = now.operands[0], now.attrs["dims"]
        first = len(x.shape)  # of the dimensions at the end that are all joined
        while first - 1 in dims:
            first -= 1
        length = math.prod(x.shape[first:])
        last = next((size for size in reversed(x.shape) if size != 1), 1)
        if last <= most or length <= most:
            return None
        b = Builder(now.source)
        flat = b.reshape(x, *x.shape[:first], length)
        whole = length // part * part
        reducer = now.attrs["reducer"]
        kept = [dim for dim in dims if dim < first]
        body = b.reshape(b.part(flat, first, 0, whole), *x.shape[:first], whole // part, part)
        found = reduced(b, body, reducer, (*kept, first, first + 1))
        if whole != length:
            rest = b.part(flat, first, whole, length)
            found = b(reducer, found, reduced(b, rest, reducer, (*kept, first)))
        return (found,)

    return replace_nodes(graph, split)
