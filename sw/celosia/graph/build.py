"""Short names for making nodes, for tests, importers and passes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from celosia.graph.node import Graph, Node, Value
from celosia.graph.sharding import Sharding
from celosia.graph.source import Source
from celosia.graph.types import Array, DType, TensorType

__all__ = ["NodeMaker", "constant", "op", "ops", "parameter", "splat"]


def ops(name: str, /, *operands: Value, regions: Iterable[Graph] = (),
        source: Source = Source.UNKNOWN, **attrs: Any) -> tuple[Value, ...]:
    """Return all results of a new node."""
    return Node(name, operands, attrs, regions, source).results


def op(name: str, /, *operands: Value, source: Source = Source.UNKNOWN, **attrs: Any) -> Value:
    """Return the one result of a new node."""
    return Node(name, operands, attrs, (), source).result


def parameter(type: TensorType, name: str = "", *, donated: bool = False,
              sharding: Sharding | None = None, source: Source = Source.UNKNOWN) -> Value:
    """Return a new parameter."""
    return op("parameter", dtype=type.dtype, shape=type.shape, name=name, donated=donated,
              sharding=sharding, source=source)


def constant(value: Any, dtype: DType | None = None, source: Source = Source.UNKNOWN) -> Value:
    """Return a constant; ``dtype`` converts Python numbers."""
    if dtype is not None:
        value = np.asarray(value).astype(dtype.numpy)
    return op("constant", value=Array(value), source=source)


def splat(value: Any, type: TensorType, source: Source = Source.UNKNOWN) -> Value:
    """Return a tensor of ``type`` whose elements are all ``value``."""
    scalar = constant(value, type.dtype, source)
    return scalar if type.shape == () else op("broadcast", scalar, shape=type.shape, source=source)


class NodeMaker:
    """Makes nodes that all come from one place of somebody's program.

    Parameters
    ----------
    source
        That place.
    """

    def __init__(self, source: Source):
        self.source = source

    def __call__(self, name: str, *operands: Value | float, **attrs: Any) -> Value:
        """Return the result of an operation; numbers stand for tensors of the first operand."""
        like = next((x for x in operands if isinstance(x, Value)), None)
        values = []
        for x in operands:
            if not isinstance(x, Value):
                assert like is not None, f"{name} of numbers alone"
                x = self.full(x, like.type)
            values.append(x)
        return op(name, *values, source=self.source, **attrs)

    def full(self, value: Any, type: TensorType) -> Value:
        """Return a tensor of equal elements."""
        return splat(value, type, self.source)
