"""Scatters of StableHLO: by a reducer of the graph, or by any body of elementwise operations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.bodies import body_of, spread
from celosia.frontend.stablehlo.loops import repeat
from celosia.frontend.stablehlo.regions import reducer_of
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import DType, Graph, TensorType, Value

__all__ = ["scatter_by_body"]


@translates("stablehlo.scatter")
def _scatter(here: Here) -> Value | Sequence[Value]:
    try:
        reducer = (reducer_of(here.op.regions[0], update=True) if len(here.operands) == 3
                   else None)
    except Unsupported:
        reducer = None
    if reducer is None or not here.joins(here.operands[0], reducer):
        return scatter_by_body(here, here.operands)
    x, indices, updates = here.operands
    if reducer == "subtract":
        reducer, updates = "add", here.emit("negate", updates)
    return here.emit("scatter", x, indices, updates, reducer=reducer,
                     unique=_is_unique(here, indices), **_numbers(here))


def scatter_by_body(here: Here, operands: Sequence[Value]) -> Sequence[Value]:
    """Return arrays with updates joined to them by the body; one after the other, if some go to
    the same place.

    Parameters
    ----------
    here
        The operation; its own operands are not looked at.
    operands
        Arrays, the indices, and as many updates: complex ones as two.

    Raises
    ------
    Unsupported
        If the body is more than elementwise operations on its arguments.
    """
    count = len(operands) // 2
    arrays, indices, updates = operands[:count], operands[count], operands[count + 1:]
    body, numbers = body_of(here, here.op.regions[0]), _numbers(here)
    if _is_unique(here, indices):
        return _once(here, body, numbers, arrays, indices, updates)
    if numbers["x_batch"]:
        raise Unsupported("updates by such a body must have unique_indices, or no batch dimensions")
    # A row of indices and of updates for each step.
    at, rank = numbers["index_dim"], indices.type.rank
    if at < rank:
        indices = here.emit("transpose", indices, permutation=[
            *(dim for dim in range(rank) if dim != at), at])
    steps = math.prod(extent for dim, extent in enumerate(operands[count].shape) if dim != at)
    indices = here.emit("reshape", indices, shape=(steps, len(numbers["start_map"])))
    window = sorted(numbers["window_dims"])
    rows = []
    for update in updates:
        order = [*(dim for dim in range(update.type.rank) if dim not in window), *window]
        row = here.emit("transpose", update, permutation=order)
        rows.append(here.emit("reshape", row,
                              shape=(steps, *(update.shape[dim] for dim in window))))
    numbers |= {"window_dims": tuple(range(1, len(window) + 1)), "index_dim": 1}

    def step(number: Value, *state: Value) -> list[Value]:
        zero = here.constant(np.array(0, np.int32))

        def row(x: Value) -> Value:
            return here.emit("dynamic_slice", x, number, *[zero] * (x.type.rank - 1),
                             sizes=(1, *x.shape[1:]))

        arrays, (indices, *rows) = state[:count], state[count:]
        found = _once(here, body, numbers, arrays, row(indices), [*map(row, rows)])
        return [*found, indices, *rows]

    return repeat(here.source, steps, step, *arrays, indices, *rows)[:count]


def _once(here: Here, body: Graph, numbers: dict[str, Any], arrays: Sequence[Value],
          indices: Value, updates: Sequence[Value]) -> list[Value]:
    """Return arrays with one update at most for each element: what the body makes of all
    elements, where there is one.
    """
    def put(x: Value, update: Value) -> Value:
        return here.emit("scatter", x, indices, update, reducer="set", unique=True, **numbers)

    def full(number: int, dtype: DType, like: Value) -> Value:
        return here.splat(number, TensorType(dtype, like.shape))

    there = put(full(0, DType.BOOL, arrays[0]), full(1, DType.BOOL, updates[0]))
    spreads = [put(full(0, x.dtype, x), update) for x, update in zip(arrays, updates, strict=True)]
    made = spread(here, body, (*arrays, *spreads))
    return [here.emit("select", there, *pair) for pair in zip(made, arrays, strict=True)]


def _numbers(here: Here) -> dict[str, Any]:
    """Return which dimensions are what, as attributes of the graph's operation."""
    from jaxlib.mlir.dialects import stablehlo
    dims = stablehlo.ScatterDimensionNumbers(here["scatter_dimension_numbers"])
    return {"window_dims": tuple(dims.update_window_dims),
            "inserted": tuple(dims.inserted_window_dims),
            "x_batch": tuple(dims.input_batching_dims),
            "indices_batch": tuple(dims.scatter_indices_batching_dims),
            "start_map": tuple(dims.scattered_dims_to_operand_dims),
            "index_dim": dims.index_vector_dim}


def _is_unique(here: Here, indices: Value) -> bool:
    """Whether no two updates go to one place: it is said, or the indices are known."""
    if here.has("unique_indices") and here["unique_indices"].value:
        return True
    numbers, constants = _numbers(here), here.importer.constants
    if indices.node not in constants or numbers["x_batch"] or not (
            set(numbers["start_map"]) <= set(numbers["inserted"])):
        return False
    known, at = constants.values(indices.node)[indices.index], numbers["index_dim"]
    vectors = np.moveaxis(known, at, -1) if at < known.ndim else known[..., np.newaxis]
    vectors = vectors.reshape(-1, vectors.shape[-1])
    return len(np.unique(vectors, axis=0)) == len(vectors)
