"""Graphs of scalars, run for each element of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celosia.graph.build import constant, op, ops, parameter
from celosia.graph.node import Graph, Node, Value
from celosia.graph.source import Source
from celosia.graph.spec import Trait, having
from celosia.graph.types import TensorType

__all__ = ["SPREAD", "spread"]

#: Operations on scalars that there are for each element of arrays.
SPREAD = having(Trait.ELEMENTWISE) | {"bitcast", "while", "case"}


def spread(graph: Graph, operands: Sequence[Value], source: Source = Source.UNKNOWN,
           emit: Callable[..., Value] | None = None) -> tuple[Value, ...]:
    """Return what a graph of scalars makes of each element of arrays.

    Parameters
    ----------
    graph
        Of `SPREAD` and constants.
    operands
        An array for each parameter, all of one shape.
    source
        Where nodes are from.
    emit
        Makes nodes: takes a name, operands and attributes; `celosia.graph.op` if not given.
    """
    shape = operands[0].shape
    return _Spread(shape, source, emit)(graph, operands)


class _Spread:
    """What graphs of scalars make of each element of arrays of one shape."""

    def __init__(self, shape: tuple[int, ...], source: Source,
                 emit: Callable[..., Value] | None = None):
        self.shape, self.source, self.emit = shape, source, emit or self.op

    def op(self, name: str, *operands: Value, **attrs: Any) -> Value:
        return op(name, *operands, source=self.source, **attrs)

    def full(self, scalar: Value) -> Value:
        return self.emit("broadcast", scalar, shape=self.shape) if self.shape else scalar

    def __call__(self, graph: Graph, operands: Sequence[Value]) -> tuple[Value, ...]:
        values = dict(zip(graph.params, operands, strict=True))
        for node in graph.nodes:
            if node.op == "parameter":
                continue
            if not node.operands:
                values[node.result] = self.full(self.emit(node.op, **node.attrs))
                continue
            taken = [values[each] for each in node.operands]
            if node.op == "while":
                found = self.loop(node, taken)
            elif node.op == "case":
                found = self.branches(node, taken)
            else:
                assert node.op in SPREAD, node.op
                found = (self.emit(node.op, *taken, **node.attrs),)
            values.update(zip(node.results, found, strict=True))
        return tuple(values[found] for found in graph.outputs)

    def branches(self, node: Node, operands: Sequence[Value]) -> Sequence[Value]:
        """Return the results of the branch of each element, of all that there are."""
        index, *given = operands
        *others, last = (self(region, given) for region in node.regions)
        for number, found in reversed([*enumerate(others)]):
            at = self.full(self.emit("constant", value=np.asarray(number, index.dtype.numpy)))
            here = self.emit("compare", index, at, direction="eq")
            last = [self.emit("select", here, *pair) for pair in zip(found, last, strict=True)]
        return last

    def loop(self, node: Node, operands: Sequence[Value]) -> Sequence[Value]:
        """Turn as long as any element does; those that do not stay as they are."""
        cond, body = node.regions
        inner = _Spread(self.shape, self.source)
        graphs = []
        for name in ("cond", "body"):
            params = [parameter(TensorType(each.dtype, self.shape), source=self.source)
                      for each in cond.params]
            [going] = inner(cond, params)
            if name == "cond":
                outputs = [self.any(going)]
            else:
                outputs = [inner.emit("select", going, *pair)
                           for pair in zip(inner(body, params), params, strict=True)]
            graphs.append(Graph(name, params, outputs))
        return ops("while", *operands, regions=graphs, source=self.source)

    def any(self, going: Value) -> Value:
        if not self.shape:
            return going
        none = constant(False, source=self.source)
        return op("reduce", going, none, dims=tuple(range(len(self.shape))), reducer="or",
                  source=self.source)
