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
_UNFOLDED = _KEPT | COLLECTIVES
#: Made on the fly wherever they are needed; folded into what uses them only.
_FREE = frozenset({"iota", "broadcast"})


def fold_constants(node: Node) -> tuple[Value, ...] | None:
    """Return the results of a node if they are constants."""
    if (node.op in _UNFOLDED or node.types[0].dtype.pair_of
            or max(type.size for type in node.types) > MOST_ELEMENTS):
        return None
    b = Builder(node.source)
    if node.op == "constant":
        array = node.attrs["value"]
        return (_constant(b, array),) if array.type.rank and array.is_splat else None
    if all(type.size == 0 for type in node.types):
        return tuple(b.constant(np.zeros(type.shape, type.dtype.numpy)) for type in node.types)
    if node.op in _FREE:
        return None
    known = _all_known(node)
    return None if known is None else tuple(
        _constant(b, Array(array)) for array in evaluate(node, known))


def _all_known(node: Node) -> list[HostArray] | None:
    """Return the operands of a node if all of them are known."""
    if not all(_is_known(value) for value in node.operands):
        return None
    return [_known(value) for value in node.operands]


def _is_known(value: Value) -> bool:
    node = value.node
    if node.op == "constant":
        return True
    return (node.op in _FREE and value.type.size <= MOST_ELEMENTS
            and all(map(_is_known, node.operands)))


def _known(value: Value) -> HostArray:
    node = value.node
    if node.op == "constant":
        return node.attrs["value"].numpy
    return evaluate(node, [_known(operand) for operand in node.operands])[0]


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
