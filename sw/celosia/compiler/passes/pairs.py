"""Complex numbers that a program takes and gives, as the pairs of f32 that lie in memory."""

from __future__ import annotations

from celosia.graph import DType, Graph, Node, Value

__all__ = ["in_pairs"]


def in_pairs(graph: Graph) -> Graph:
    """Return a canonical graph that takes and gives f32[..., 2] where it did complex numbers."""
    if not any(value.dtype.is_complex for value in (*graph.params, *graph.outputs)):
        return graph
    values: dict[Value, Value] = {}
    for node in graph.nodes:
        operands = [values[value] for value in node.operands]
        if node.op == "parameter" and node.result.dtype.is_complex:
            attrs = {**node.attrs, "dtype": DType.F32, "shape": (*node.result.shape, 2)}
            values[node.result] = Node(node.op, (), attrs, (), node.source).result
        elif node.op == "bitcast" and (node.result.dtype.is_complex
                                       or node.operands[0].dtype.is_complex):
            [values[node.result]] = operands
        elif operands == list(node.operands):
            values.update(zip(node.results, node.results, strict=True))
        else:
            made = Node(node.op, operands, node.attrs, node.regions, node.source)
            values.update(zip(node.results, made.results, strict=True))
    return graph.with_([values[value] for value in graph.params],
                       [values[value] for value in graph.outputs])
