"""Code motion of conversions to bf16: before views, where elements are made and it costs nothing.

The heads of an attention are transposed before they are rounded for the array; a product that
rounds what it stores writes half the bytes, and the copy for the transpose moves half as many.

What lies in memory as f32 is rounded by the loads of products. So what pads it, which moves it
anyway, pads it as it is: to round it before would be a copy more, for which the pad waits.
"""

from __future__ import annotations

from celosia.graph import DType, Graph, Node, Trait, Value, having, replace_nodes

__all__ = ["rounding"]

_VIEWS = having(Trait.BIJECTIVE)
_STORED = having(Trait.STORED)


def _better(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    return _later(now, was, graph) if now.op == "pad" else _earlier(now)


def _later(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    """Return the rounded pad of a stored value for the pad of that value rounded."""
    (rounded, fill), node = now.operands, now.operands[0].node
    if (node.op != "convert" or rounded.dtype is not DType.BF16
            or node.operands[0].dtype is not DType.F32 or node.operands[0].node.op not in _STORED
            or any(user is not was for user in graph.users[was.operands[0]])
            or was.operands[0] in graph.outputs):
        return None
    filled = Node("convert", (fill,), {"dtype": DType.F32}, (), now.source).result
    padded = Node("pad", (node.operands[0], filled), now.attrs, (), now.source).result
    return Node("convert", (padded,), node.attrs, (), node.source).results


def _earlier(now: Node) -> tuple[Value, ...] | None:
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
    """Return the graph with its conversions to bf16 before views, and after pads of memory."""
    return replace_nodes(graph, _better)
