"""Indexed operations of StableHLO."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.attributes import tensor_type
from celosia.frontend.stablehlo.bodies import frame_of
from celosia.frontend.stablehlo.parts import flat_types
from celosia.frontend.stablehlo.regions import sort_of
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import Graph, Value, parameter

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
    dim, region = here.int("dimension") % here.type.rank, here.op.regions[0]
    try:
        keys, descending = sort_of(region)
    except Unsupported:
        return _sort_by(here, dim, region)
    return here.node("sort", *here.operands, dim=dim, keys=keys, descending=descending)


def _sort_by(here: Here, dim: int, region: Any) -> Sequence[Value]:
    """Sort by any comparator. Numbers that it takes from around it are brought along."""
    frame = frame_of(here, region)
    # It takes the two elements of each operand one after the other, a complex one as two.
    parts, firsts, seconds = iter(frame.params), list[Value](), list[Value]()
    for argument in region.blocks[0].arguments[::2]:
        count = len(flat_types([tensor_type(argument.type)]))
        firsts += islice(parts, count)
        seconds += islice(parts, count)
    around = list(frame.captured)
    body = frame.close(around)
    captured = body.params[len(frame.params):]
    unused = [parameter(value.type, source=here.source) for value in captured]
    less = Graph("less", (*firsts, *captured, *seconds, *unused), body.outputs)
    along = [here.emit("broadcast", value, shape=here.type.shape) for value in around]
    return here.node("sort_by", *here.operands, *along, regions=(less,),
                     dim=dim)[:len(here.types)]


@translates("chlo.top_k")
def _top_k(here: Here) -> Sequence[Value]:
    return here.node("top_k", *here.operands, k=here.int("k"))
