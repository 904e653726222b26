"""Where a graph leaves the finite numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.graph.interpreter import interpret
from celosia.graph.interpreter.kernels import HostArray
from celosia.graph.node import Graph, Node
from celosia.graph.types import DType, TensorType

__all__ = ["NonFinite", "first_non_finite"]


@dataclass(frozen=True)
class NonFinite:
    """The first operation that makes NaN or infinity of finite operands.

    Attributes
    ----------
    node
        The operation.
    count, of
        Elements of its result that are not finite, of how many.
    at, value
        The first of them.
    operands
        Type, least and greatest element of each operand; of complex ones their absolute values.
    """

    node: Node
    count: int
    of: int
    at: tuple[int, ...]
    value: complex
    operands: tuple[tuple[TensorType, float, float], ...]

    def __str__(self) -> str:
        name = f" ({self.node.source.name})" if self.node.source.name else ""
        place = self.node.source.place or "a place that nobody noted"
        what = (f"{self.node.op}{name} at {place}: {self.count} of {self.of} elements are not "
                f"finite, the first {_number(self.value)} at {list(self.at)}")
        lines = [what,
                 *(f"  called from {caller}" for caller in self.node.source.callers),
                 *(f"  operand {i}: {type}, from {low:g} to {high:g}"
                   for i, (type, low, high) in enumerate(self.operands))]
        return "\n".join(lines)


class _FoundError(Exception):
    """Ends the run at what was looked for."""

    def __init__(self, found: NonFinite):
        self.found = found


def first_non_finite(graph: Graph, inputs: Sequence[Any]) -> NonFinite | None:
    """Return where NaN or infinity comes from: the first operation whose operands are finite.

    Operations in the bodies of loops are looked at in every turn. Constants are what was asked for.

    Parameters
    ----------
    graph, inputs
        As of `celosia.graph.interpret`, whose errors are raised.
    """
    def look(node: Node, operands: Sequence[HostArray], results: Sequence[HostArray]) -> None:
        if not operands:
            return
        for result in results:
            wrong = ~_finite(result)
            if wrong.any() and all(_finite(each).all() for each in operands):
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                raise _FoundError(NonFinite(
                    node, int(wrong.sum()), wrong.size, at, complex(result[at]),
                    tuple((TensorType(DType.of(each.dtype), each.shape), *_range(each))
                          for each in operands)))

    try:
        interpret(graph, inputs, trace=look)
    except _FoundError as end:
        return end.found
    return None


def _number(value: complex) -> str:
    return f"{value:g}" if value.imag else f"{value.real:g}"


def _finite(array: HostArray) -> HostArray:
    dtype = DType.of(array.dtype)
    if dtype.is_float or dtype is DType.C64:
        return np.isfinite(array)
    return np.ones(array.shape, bool)


def _range(array: HostArray) -> tuple[float, float]:
    if not array.size:
        return 0.0, 0.0
    wide = np.abs(array) if DType.of(array.dtype) is DType.C64 else array.astype(np.float64)
    return float(wide.min()), float(wide.max())
