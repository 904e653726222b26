"""Indexed operations of StableHLO."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.frontend.stablehlo.regions import sort_of
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import Value

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


@translates("stablehlo.sort")
def _sort(here: Here) -> Sequence[Value]:
    keys, descending = sort_of(here.op.regions[0])
    return here.node("sort", *here.operands, dim=here.int("dimension") % here.type.rank,
                     keys=keys, descending=descending)


@translates("chlo.top_k")
def _top_k(here: Here) -> Sequence[Value]:
    return here.node("top_k", *here.operands, k=here.int("k"))
