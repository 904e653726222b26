"""Elementwise operations on what a product made run in the product's shape.

The weights of an attention's heads are [inputs, heads, width], their gradient is a product of
[inputs, heads * width]: in the product's shape the step of the optimizer runs with the product, and
the gradient goes through no memory. The others among the operands must be shown in that shape at
no cost: parameters, constants, what is repeated along the first dimensions, and operations on them.
"""

from __future__ import annotations

import math

from celosia.compiler.builder import Builder
from celosia.graph import Graph, Node, Trait, Value, having, replace_nodes

__all__ = ["flat"]

_ELEMENTWISE = having(Trait.ELEMENTWISE)
_PRODUCTS = having(Trait.PRODUCT)
_STORED = having(Trait.STORED)
#: Operations one after another on what is no product, that are done in another shape.
_MOST_STEPS = 8


def _repeated(b: Builder, node: Node, shape: tuple[int, ...]) -> Value | None:
    """Return what is repeated along the first dimensions as that in another shape."""
    x, dims, rank = node.operands[0], node.attrs["dims"], node.result.type.rank
    if x.type.rank == 0:
        return b.broadcast(x, shape, ())
    if dims != tuple(range(rank - len(dims), rank)):
        return None
    for first in range(len(shape)):
        if math.prod(shape[first:]) == x.type.size and shape[first] != 1:
            return b.broadcast(b.reshape(x, *shape[first:]), shape, range(first, len(shape)))
    return None


class _Flat:
    """What products made, as far as the graph has been rewritten."""

    def __init__(self) -> None:
        #: What products made, and what elementwise operations made of that.
        self.made: set[Value] = set()
        #: What one node uses, and nothing else.
        self.single: set[Value] = set()

    def replace(self, now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
        if len(now.types) != 1:
            return None
        if now.op in _PRODUCTS:
            self.made.add(now.result)
        found = self._moved(now) if now.op in _ELEMENTWISE else None
        if found is not None:
            self.made.add(found)
            return (Builder(now.source).reshape(found, *now.result.shape),)
        if len(graph.users.get(was.result, ())) == 1 and was.result not in graph.outputs:
            self.single.add(now.result)
        return None

    def _moved(self, node: Node) -> Value | None:
        """Return an elementwise operation in the shape of a product; None if it stays."""
        for value in node.operands:
            inner = value
            while inner.node.op == "reshape":
                inner = inner.node.operands[0]
            if inner not in self.made:
                continue
            if value.shape[-1:] == inner.shape[-1:]:
                self.made.add(node.result)
                return None
            found = self._node(node, inner.shape, _MOST_STEPS)
            if found is not None:
                return found
        return None

    def _node(self, node: Node, shape: tuple[int, ...], most: int) -> Value | None:
        found: list[Value] = []
        for operand in node.operands:
            one = self._in_shape(operand, shape, most - 1)
            if one is None:
                return None
            found.append(one)
        return node.on(tuple(found)).result

    def _in_shape(self, value: Value, shape: tuple[int, ...], most: int) -> Value | None:
        """Return the elements of a value in another shape, if that moves none and costs nothing."""
        node, b = value.node, Builder(value.node.source)
        if value.shape == shape or value.type.rank == 0:
            return value  # a predicate may be a scalar
        if node.op == "reshape":
            return self._in_shape(node.operands[0], shape, most)
        if node.op in _STORED:
            return b.reshape(value, *shape)
        if node.op == "broadcast":
            return _repeated(b, node, shape)
        if node.op in _ELEMENTWISE and value in self.single and most > 0:
            return self._node(node, shape, most)
        return None


def flat(graph: Graph) -> Graph:
    """Return a canonical graph whose products keep their shape through elementwise operations."""
    return replace_nodes(graph, _Flat().replace)
