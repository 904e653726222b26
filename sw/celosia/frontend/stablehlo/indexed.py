"""Indexed operations of StableHLO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.regions import body_of, reducer_of, sort_of, spread
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import DType, TensorType, Value

__all__ = []


@translates("stablehlo.dynamic_slice")
def _dynamic_slice(here: Here) -> Value:
    return here.emit("dynamic_slice", *here.operands, sizes=here.ints("slice_sizes"))


@translates("stablehlo.dynamic_update_slice")
def _dynamic_update_slice(here: Here) -> Value:
    return here.emit("dynamic_update_slice", *here.operands)


@translates("stablehlo.gather")
def _gather(here: Here) -> Value:
    from jaxlib.mlir.dialects import stablehlo
    dims = stablehlo.GatherDimensionNumbers(here["dimension_numbers"])
    return here.emit(
        "gather", *here.operands, offset_dims=dims.offset_dims,
        collapsed=dims.collapsed_slice_dims, x_batch=dims.operand_batching_dims,
        indices_batch=dims.start_indices_batching_dims, start_map=dims.start_index_map,
        index_dim=dims.index_vector_dim, sizes=here.ints("slice_sizes"))


@translates("stablehlo.scatter")
def _scatter(here: Here) -> Value:
    from jaxlib.mlir.dialects import stablehlo
    if len(here.operands) != 3:
        raise Unsupported(f"operands to scatter to must be one, not {len(here.operands) // 2}")
    dims = stablehlo.ScatterDimensionNumbers(here["scatter_dimension_numbers"])
    x, indices, updates = here.operands
    unique = (here.has("unique_indices") and here["unique_indices"].value) or (
        _is_distinct(here, indices, dims))

    def scatter(reducer: str, x: Value, updates: Value) -> Value:
        return here.emit(
            "scatter", x, indices, updates, window_dims=dims.update_window_dims,
            inserted=dims.inserted_window_dims, x_batch=dims.input_batching_dims,
            indices_batch=dims.scatter_indices_batching_dims,
            start_map=dims.scattered_dims_to_operand_dims, index_dim=dims.index_vector_dim,
            reducer=reducer, unique=unique)

    [body] = here.op.regions
    try:
        reducer = reducer_of(body, update=True)
    except Unsupported:
        if not unique:
            raise
        # One update at most for each element: what the body makes of all, taken where one is.
        there = scatter("set", here.splat(0, TensorType(DType.BOOL, x.shape)),
                        here.splat(1, TensorType(DType.BOOL, updates.shape)))
        updates = scatter("set", here.splat(0, x.type), updates)
        [made] = spread(here, body_of(here, body), (x, updates))
        return here.emit("select", there, made, x)
    if reducer == "subtract":
        return scatter("add", x, here.emit("negate", updates))
    return scatter(reducer, x, updates)


def _is_distinct(here: Here, indices: Value, dims: Any) -> bool:
    """Whether indices are known, and no two of them are the same."""
    constants = here.importer.constants
    if indices.node not in constants or dims.input_batching_dims or not (
            set(dims.scattered_dims_to_operand_dims) <= set(dims.inserted_window_dims)):
        return False
    known = constants.values(indices.node)[indices.index]
    at = dims.index_vector_dim
    vectors = np.moveaxis(known, at, -1) if at < known.ndim else known[..., np.newaxis]
    vectors = vectors.reshape(-1, vectors.shape[-1])
    return len(np.unique(vectors, axis=0)) == len(vectors)


@translates("stablehlo.sort")
def _sort(here: Here) -> Sequence[Value]:
    keys, descending = sort_of(here.op.regions[0])
    return here.node("sort", *here.operands, dim=here.int("dimension") % here.type.rank,
                     keys=keys, descending=descending)


@translates("chlo.top_k")
def _top_k(here: Here) -> Sequence[Value]:
    return here.node("top_k", *here.operands, k=here.int("k"))
