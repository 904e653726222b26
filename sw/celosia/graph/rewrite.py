"""Rebuilding a graph with some nodes replaced."""

from __future__ import annotations

from collections.abc import Callable

from celosia.graph.node import Graph, Node, Value

__all__ = ["rewrite"]

#: Given a node whose operands are rewritten already, returns what stands for its results, or None
#: to keep it.
Replace = Callable[[Node], tuple[Value, ...] | None]


def rewrite(graph: Graph, replace: Replace) -> Graph:
    """Return the graph with each node, from parameters to outputs, replaced as told.

    Regions are rewritten before the node that runs them. Parameters stay. The graph itself is
    returned if nothing changed.
    """
    values: dict[Value, Value] = {}
    for node in graph.nodes:
        if node.op == "parameter":
            found = node.results
        else:
            regions = tuple(rewrite(region, replace) for region in node.regions)
            operands = tuple(values[value] for value in node.operands)
            same = operands == node.operands and all(
                new is old for new, old in zip(regions, node.regions, strict=True))
            if not same:
                node_now = Node(node.op, operands, node.attrs, regions, node.source)
            else:
                node_now = node
            found = replace(node_now)
            if found is None:
                found = node_now.results
        values.update(zip(node.results, found, strict=True))
    outputs = tuple(values[value] for value in graph.outputs)
    return graph if outputs == graph.outputs else Graph(graph.name, graph.params, outputs)
