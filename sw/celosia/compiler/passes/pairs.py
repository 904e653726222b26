"""Complex numbers and integers of 64 bits that a program takes and gives, as the pairs that lie in
memory.
"""

from __future__ import annotations

from celosia.graph import Graph, Node, Value

__all__ = ["in_pairs"]


def in_pairs(graph: Graph) -> Graph:
    """Return a canonical graph that takes and gives f32[..., 2] where it did complex numbers, and
    u32[..., 2] where integers of 64 bits.
    """
    if not any(value.dtype.pair_of for value in (*graph.params, *graph.outputs)):
        return graph
    values: dict[Value, Value] = {}
    for node in graph.nodes:
        operands = [values[value] for value in node.operands]
        if node.op == "parameter" and node.result.dtype.pair_of:
            attrs = {**node.attrs, "dtype": node.result.dtype.pair_of,
                     "shape": (*node.result.shape, 2)}
            values[node.result] = Node(node.op, (), attrs, (), node.source).result
        elif node.op == "bitcast" and (node.result.dtype.pair_of
                                       or node.operands[0].dtype.pair_of):
            [values[node.result]] = operands
        elif operands == list(node.operands):
            values.update(zip(node.results, node.results, strict=True))
        else:
            made = node.on(tuple(operands), node.regions)
            values.update(zip(node.results, made.results, strict=True))
    return graph.with_([values[value] for value in graph.params],
                       [values[value] for value in graph.outputs])
