"""Simplify: constants folded, equal computations merged, moves and algebra that are exact.

Everything here keeps results bit for bit. The pass goes over the graph until nothing changes.
"""

from __future__ import annotations

from celosia.compiler.passes.algebra import algebra, before_broadcast
from celosia.compiler.passes.folding import fold_constants, merge
from celosia.compiler.passes.movement import move
from celosia.graph import Graph, Node, Value, rewrite

__all__ = ["simplify"]

#: Each round makes the graph smaller or simpler; a graph that needs more is left as it is.
_MOST_ROUNDS = 50


def _replace(node: Node) -> tuple[Value, ...] | None:
    found = fold_constants(node)
    if found is None:
        for rule in (move, algebra, before_broadcast):
            one = rule(node)
            if one is not None:
                return (one,)
    return found


def simplify(graph: Graph) -> Graph:
    """Return a graph that computes the same bits with less."""
    kept: set[Node] = set()  # what no rule replaces: the rules look at nothing but the node

    def replace(node: Node) -> tuple[Value, ...] | None:
        if node in kept:
            return None
        found = _replace(node)
        if found is None:
            kept.add(node)
        return found

    for _ in range(_MOST_ROUNDS):
        before = graph
        graph = merge(rewrite(graph, replace))
        if graph is before:
            break
    return graph
