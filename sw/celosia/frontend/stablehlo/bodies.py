"""Regions of scalars as graphs, and what they make of each element of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.translation import Here
from celosia.graph import (
    Graph,
    Node,
    Source,
    TensorType,
    Trait,
    Value,
    having,
    op,
    ops,
    parameter,
)
from celosia.graph.interpreter import evaluate

__all__ = ["body_of", "spread"]

#: What does of each element of arrays what it does of scalars.
_ELEMENTWISE = having(Trait.ELEMENTWISE) | {"bitcast"}
#: What has graphs of scalars inside.
_CONTROL = ("while", "case")


def body_of(here: Here, region: Any) -> Graph:
    """Return a region of scalars as a graph.

    Raises
    ------
    Unsupported
        If it has other operations than elementwise ones on its arguments, loops and branches.
    """
    body = here.importer.region("body", region, here)
    if body.captured:
        raise Unsupported("body must be of operations on its arguments alone")
    graph = body.close(())
    _check(graph)
    return graph


def _check(graph: Graph) -> None:
    for node in graph.nodes:
        if node.operands and not (node.op in (*_ELEMENTWISE, *_CONTROL)
                                  and all(type.rank == 0 for type in node.types)):
            raise Unsupported(f"body must be of elementwise operations, not {node.op}")
        for region in node.regions:
            _check(region)


def spread(here: Here, body: Graph, operands: Sequence[Value]) -> tuple[Value, ...]:
    """Return what a graph of scalars (`body_of`) makes of each element of arrays."""
    return _Spread(operands[0].shape, here.source, here.emit)(body, operands)


class _Spread:
    """What graphs of scalars make of each element of arrays of one shape."""

    def __init__(self, shape: tuple[int, ...], source: Source, emit: Callable[..., Value]):
        self.shape, self.source, self.emit = shape, source, emit

    def inside(self) -> _Spread:
        """Return the same for graphs of arrays inside of an operation."""
        def emit(name: str, *operands: Value, **attrs: Any) -> Value:
            return op(name, *operands, source=self.source, **attrs)

        return _Spread(self.shape, self.source, emit)

    def full(self, number: NDArray[Any]) -> Value:
        scalar = self.emit("constant", value=number)
        return self.emit("broadcast", scalar, shape=self.shape) if self.shape else scalar

    def __call__(self, body: Graph, operands: Sequence[Value]) -> tuple[Value, ...]:
        values = dict(zip(body.params, operands, strict=True))
        for node in body.nodes:
            if node.op == "parameter":
                continue
            if not node.operands:
                [array] = evaluate(node, [])
                values[node.result] = self.full(array)
                continue
            taken = [values[each] for each in node.operands]
            if node.op == "while":
                found = self.loop(node, taken)
            elif node.op == "case":
                found = self.branches(node, taken)
            else:
                found = (self.emit(node.op, *taken, **node.attrs),)
            values.update(zip(node.results, found, strict=True))
        return tuple(values[found] for found in body.outputs)

    def branches(self, node: Node, operands: Sequence[Value]) -> Sequence[Value]:
        """Return the results of the branch of each element, of all that there are."""
        index, *given = operands
        *others, last = (self(region, given) for region in node.regions)
        for number, found in reversed([*enumerate(others)]):
            at = self.full(np.asarray(number, index.dtype.numpy))
            here = self.emit("compare", index, at, direction="eq")
            last = [self.emit("select", here, *pair) for pair in zip(found, last, strict=True)]
        return last

    def loop(self, node: Node, operands: Sequence[Value]) -> Sequence[Value]:
        """Turn as long as any element does; those that do not stay as they are."""
        cond, body = node.regions
        inner = self.inside()
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
        none = op("constant", value=False, source=self.source)
        return op("reduce", going, none, dims=tuple(range(len(self.shape))), reducer="or",
                  source=self.source)
