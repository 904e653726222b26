"""Loop-invariant code motion (LICM) of roundings to bf16: once before the loop, not every turn.

The weights of a scan are such values: rounded once they take half the bytes, and may stay on chip
from turn to turn.
"""

from __future__ import annotations

from celosia.graph import DType, Graph, Node, Trait, Value, having, parameter, replace_nodes

__all__ = ["invariants"]

_VIEWS = having(Trait.BIJECTIVE)


def _behind(value: Value) -> tuple[Value, list[Node]]:
    views: list[Node] = []
    while value.node.op in _VIEWS:
        views.append(value.node)
        value = value.node.operands[0]
    return value, views[::-1]


def _without(graph: Graph, values: dict[Value, Value]) -> Graph:
    """Return a graph with some values replaced by others."""
    def replace(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
        return (values[was.results[0]],) if was.results[0] in values else None

    return replace_nodes(graph, replace)


def _hoisted(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    if now.op != "while":
        return None
    cond, body = now.regions
    kept = {param: i for i, param in enumerate(body.params) if body.outputs[i] == param}
    outside: list[Value] = []
    inside: dict[Value, Value] = {}
    for node in body.nodes:
        if node.op != "convert" or node.result.dtype is not DType.BF16:
            continue
        base, views = _behind(node.operands[0])
        if base not in kept:
            continue
        value = now.operands[kept[base]]
        for view in views:
            value = Node(view.op, (value,), view.attrs, (), view.source).result
        outside.append(Node("convert", (value,), node.attrs, (), node.source).result)
        inside[node.result] = parameter(node.result.type, source=node.source)
    if not outside:
        return None
    changed = _without(body, inside)
    added = tuple(inside.values())
    others = tuple(parameter(value.type, source=value.node.source) for value in added)
    regions = (Graph(cond.name, (*cond.params, *others), cond.outputs),
               Graph(body.name, (*changed.params, *added), (*changed.outputs, *added)))
    made = Node("while", (*now.operands, *outside), now.attrs, regions, now.source)
    return made.results[:len(now.results)]


def invariants(graph: Graph) -> Graph:
    """Return the graph with conversions to bf16 of what its loops keep before these loops."""
    return replace_nodes(graph, _hoisted)
