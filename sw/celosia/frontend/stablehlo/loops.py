"""Loops of a known count."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from celosia.graph import DType, Graph, Source, TensorType, Value, constant, op, ops, parameter

__all__ = ["repeat"]


def repeat(source: Source, count: int, step: Callable[..., Sequence[Value]],
           *state: Value) -> tuple[Value, ...]:
    """Return the state after ``count`` steps, each given its number and the state."""
    def scalar(number: int) -> Value:
        return constant(np.int32(number), None, source)

    def graph(name: str, results: Callable[..., Sequence[Value]]) -> Graph:
        params = [parameter(type, source=source) for type in
                  (TensorType(DType.I32), *(value.type for value in state))]
        return Graph(name, params, results(*params))

    def turn(number: Value, *state: Value) -> list[Value]:
        return [op("add", number, scalar(1), source=source), *step(number, *state)]

    def more(number: Value, *state: Value) -> list[Value]:
        return [op("compare", number, scalar(count), direction="lt", source=source)]

    regions = (graph("cond", more), graph("body", turn))
    return ops("while", scalar(0), *state, regions=regions, source=source)[1:]
