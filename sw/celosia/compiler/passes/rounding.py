"""Code motion of conversions to bf16: before views, where elements are made and it costs nothing.

The heads of an attention are transposed before they are rounded for the array; a product that
rounds what it stores writes half the bytes, and the copy for the transpose moves half as many.
"""

from __future__ import annotations

from celosia.graph import DType, Graph, Node, Trait, Value, having, replace_nodes

__all__ = ["rounding"]

_VIEWS = having(Trait.BIJECTIVE)
_STORED = having(Trait.STORED)


def _earlier(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    if (now.op != "convert" or now.result.dtype is not DType.BF16
            or now.operands[0].node.op not in _VIEWS):
        return None
    views: list[Node] = []
    value = now.operands[0]
    while value.node.op in _VIEWS:
        views.append(value.node)
        value = value.node.operands[0]
    if value.node.op in _STORED:
        return None  # loads round
    value = Node("convert", (value,), now.attrs, (), now.source).result
    for view in reversed(views):
        value = Node(view.op, (value,), view.attrs, (), view.source).result
    return (value,)


def rounding(graph: Graph) -> Graph:
    """Return the graph with its conversions to bf16 before views."""
    return replace_nodes(graph, _earlier)
