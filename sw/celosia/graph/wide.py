"""The same graph in float64: what results would be if nothing were rounded on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.graph.build import op, parameter
from celosia.graph.node import Graph, Node, Value
from celosia.graph.types import Array, DType, TensorType

__all__ = ["widened"]

#: Operations that look at the bits of their operands.
_OF_BITS = frozenset({"bitcast", "reduce_precision", "requantise"})


def widened(graph: Graph, values: Sequence[Value] = ()) -> Graph:
    """Return a graph with every float of f64, the results of ``values`` besides its own.

    Rounding that the program asks for, to a narrower type, is left out, but for that of
    ``reduce_precision``. Operations on bits have operands of the types that the program gives them.
    """
    params, found = _body(graph)
    return Graph(graph.name, params, [found[each] for each in (*graph.outputs, *values)])


def _body(graph: Graph) -> tuple[list[Value], dict[Value, Value]]:
    found: dict[Value, Value] = {}
    params = [parameter(TensorType(_wide(value.dtype), value.shape)) for value in graph.params]
    found.update(zip(graph.params, params, strict=True))
    for node in graph.nodes:
        if node.op != "parameter":
            operands = [found[value] for value in node.operands]
            found.update(zip(node.results, _node(node, operands), strict=True))
    return params, found


def _node(node: Node, operands: Sequence[Value]) -> list[Value]:
    if node.op in _OF_BITS:
        narrow = [_as(value, operand.dtype)
                  for value, operand in zip(operands, node.operands, strict=True)]
        results = Node(node.op, narrow, node.attrs, node.regions, node.source).results
        return [_as(value, _wide(value.dtype)) for value in results]
    return list(Node(node.op, operands, _attrs(node.attrs), map(widened, node.regions),
                     node.source).results)


def _as(value: Value, dtype: DType) -> Value:
    return value if value.dtype is dtype else op("convert", value, dtype=dtype)


def _attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(attrs)
    for name, value in attrs.items():
        if isinstance(value, DType):
            found[name] = _wide(value)
        elif isinstance(value, Array) and value.type.dtype.is_float:
            found[name] = Array(value.numpy.astype(DType.F64.numpy))
    return found


def _wide(dtype: DType) -> DType:
    return DType.F64 if dtype.is_float else dtype
