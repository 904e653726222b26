"""Rebuilding a graph with some nodes replaced, or its parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celosia.graph.node import Graph, Node, Value

__all__ = ["inlined", "replace_nodes", "rewrite"]

#: What stands for the results of a node, or None to keep it.
Replacement = tuple[Value, ...] | None


def inlined(graph: Graph, operands: Sequence[Value]) -> list[Value]:
    """Return what a graph makes of other values in place of its parameters."""
    values = dict(zip(graph.params, operands, strict=True))
    for node in graph.nodes:
        if node.op != "parameter":
            made = node.on(tuple(values[value] for value in node.operands), node.regions)
            values.update(zip(node.results, made.results, strict=True))
    return [values[value] for value in graph.outputs]


def rewrite(graph: Graph, replace: Callable[[Node], Replacement]) -> Graph:
    """Return the graph with each node, from parameters to outputs, replaced as told.

    ``replace`` is given a node whose operands are rewritten already. Regions are rewritten before
    the node that runs them. Parameters stay. The graph itself is returned if nothing changed.
    """
    return replace_nodes(graph, lambda now, node, graph: replace(now))


def replace_nodes(graph: Graph, replace: Callable[[Node, Node, Graph], Replacement]) -> Graph:
    """Do as `rewrite`, where ``replace`` is given the node as it was and its graph besides.

    What else needs an operand, say the `users` of that graph.
    """
    changed: dict[Node, tuple[Value, ...]] = {}  # what stands for the results of nodes

    def moved(values: tuple[Value, ...]) -> tuple[Value, ...]:
        if all(value.node not in changed for value in values):
            return values
        new = tuple(changed[each.node][each.index] if each.node in changed else each
                    for each in values)
        return values if new == values else new

    for node in graph.nodes:
        if node.op == "parameter":
            continue
        operands = moved(node.operands)
        regions = node.regions
        if regions:
            regions = tuple(replace_nodes(region, replace) for region in regions)
            if all(new is old for new, old in zip(regions, node.regions, strict=True)):
                regions = node.regions
        now = node
        if operands is not node.operands or regions is not node.regions:
            now = node.on(operands, regions)
        found = replace(now, node, graph)
        if found is not None or now is not node:
            changed[node] = now.results if found is None else found
            assert len(changed[node]) == len(node.types), f"results of {node!r}: {found}"
    outputs = moved(graph.outputs)
    return graph if outputs is graph.outputs else graph.with_(graph.params, outputs)
