"""Constant folding and common subexpressions (CSE): simplify, first part.

* Operations on constants are run by the interpreter, up to `MOST_ELEMENTS` of a result.
* Constants of equal elements are scalars that a `broadcast` repeats.
* Of operations that compute the same, one stays. Loops, branches and barriers stay all: a barrier
  is there to keep a computation from being merged with another.

Dead code is no business of a pass: a graph's nodes are what its outputs need.
"""

from __future__ import annotations

import numpy as np

from celosia.compiler.builder import Builder
from celosia.graph import Graph, Node, Trait, Value, having, replace_nodes
from celosia.graph.interpreter.kernels import HostArray
from celosia.graph.interpreter.run import evaluate
from celosia.graph.operations.callback import CALLS
from celosia.graph.operations.collective import COLLECTIVES
from celosia.graph.types import Array

__all__ = ["MOST_ELEMENTS", "fold_constants", "merge"]

#: A constant costs memory and a transfer, an iota or a broadcast nothing.
MOST_ELEMENTS = 4096
_KEPT = having(Trait.CONTROL) | CALLS | {"parameter", "barrier"}
#: Made on the fly wherever they are needed; folded into what uses them only.
_FREE = frozenset({"iota", "broadcast"})


def fold_constants(node: Node) -> tuple[Value, ...] | None:
    """Return the results of a node if they are constants."""
    b = Builder(node.source)
    if (node.op in _KEPT | COLLECTIVES or node.types[0].dtype.pair_of
            or max(type.size for type in node.types) > MOST_ELEMENTS):
        return None
    if node.op == "constant":
        array = node.attrs["value"]
        return (_constant(b, array),) if array.type.rank and array.is_splat else None
    if all(type.size == 0 for type in node.types):
        return tuple(b.constant(np.zeros(type.shape, type.dtype.numpy)) for type in node.types)
    if node.op in _FREE:
        return None
    arrays = [_known(value) for value in node.operands]
    known = [array for array in arrays if array is not None]
    if len(known) < len(arrays):
        return None
    return tuple(_constant(b, Array(array)) for array in evaluate(node, known))


def _known(value: Value) -> HostArray | None:
    node = value.node
    if node.op == "constant":
        return node.attrs["value"].numpy
    if node.op not in _FREE or value.type.size > MOST_ELEMENTS:
        return None
    inner = [_known(operand) for operand in node.operands]
    known = [array for array in inner if array is not None]
    return evaluate(node, known)[0] if len(known) == len(inner) else None


def _constant(b: Builder, array: Array) -> Value:
    if array.type.rank and array.is_splat:
        return b.full(array.numpy.reshape(-1)[0], array.type)
    return b.constant(array.numpy)


def merge(graph: Graph) -> Graph:
    """Return the graph with one of all nodes that are the same on the same operands."""
    first: dict[object, Node] = {}

    def replace(now: Node, old: Node, within: Graph) -> tuple[Value, ...] | None:
        if now.op in _KEPT:
            return None
        # A node is in one graph only: not those of two regions.
        found = first.setdefault((within, now.op, now.operands, tuple(now.attrs.values())), now)
        return None if found is now else found.results

    return replace_nodes(graph, replace)
