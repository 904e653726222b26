"""The transpose of a product is the product of the transposes, in the other order.

Gradients of weights arrive that way. How operands are stored is a flag of the product, so nothing
is left to be moved; but activations that are stored transposed must be turned.
"""

from __future__ import annotations

from celosia.graph import Graph, Node, Value, replace_nodes

__all__ = ["swapped"]

#: What it costs to transpose a result, of what it costs to transpose an operand.
_MOVED = 4


def _other_order(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    if now.op != "transpose" or tuple(now.attrs["permutation"]) != (1, 0):
        return None
    value, old = now.operands[0], was.operands[0]
    while (value.node.op == "reshape" and len(graph.users.get(old, ())) == 1
           and old not in graph.outputs):
        value, old = value.node.operands[0], old.node.operands[0]
    node = value.node
    rows, columns = now.operands[0].shape
    if (node.op != "dot" or value.shape != (1, rows, columns)
            or len(graph.users.get(old, ())) != 1 or old in graph.outputs):
        return None
    (left, right), = node.attrs["contract"]
    lhs, rhs = node.operands
    depth = lhs.shape[left]
    # Elements that the vector unit transposes: those of an activation operand that is stored so,
    # and those of the result, which are loaded and stored besides.
    before = rows * depth * (left == 1) + _MOVED * rows * columns
    if columns * depth * (right == 1) > before:
        return None
    made = Node("dot", (rhs, lhs), {**node.attrs, "contract": [(right, left)]}, (), node.source)
    return (Node("reshape", (made.result,), {"shape": (columns, rows)}, (), now.source).result,)


def swapped(graph: Graph) -> Graph:
    """Return a canonical graph without transposes of products."""
    return replace_nodes(graph, _other_order)
