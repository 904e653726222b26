"""Reductions of StableHLO."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.bodies import body_of, spread
from celosia.frontend.stablehlo.folds import fold, fold_windows
from celosia.frontend.stablehlo.regions import arg_reducer_of, reducer_of, select_of
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import DType, Value

__all__ = []


@translates("stablehlo.reduce")
def _reduce(here: Here) -> Value | Sequence[Value]:
    region, dims = here.op.regions[0], here.ints("dimensions")
    count = len(here.operands) // 2
    try:
        reducer = {1: reducer_of, 2: arg_reducer_of}[count](region) if count < 3 else None
    except Unsupported:
        reducer = None
    if reducer is None or count == 1 and not here.joins(here.operands[0], reducer):
        return fold(here, here.operands)
    if count == 1:
        return here.emit("reduce", *here.operands, dims=dims, reducer=reducer)
    x, index, initial, initial_index = here.operands
    if x.dtype is not DType.BOOL:
        return here.node("arg_reduce", *here.operands, dims=dims, reducer=reducer)
    x, initial = (here.emit("convert", each, dtype=DType.I32) for each in (x, initial))
    best, place = here.node("arg_reduce", x, index, initial, initial_index, dims=dims,
                            reducer=reducer)
    return here.emit("convert", best, dtype=DType.BOOL), place


@translates("stablehlo.map")
def _map(here: Here) -> Sequence[Value]:
    return spread(here, body_of(here, here.op.regions[0]), here.operands)


@translates("stablehlo.reduce_window")
def _reduce_window(here: Here) -> Value | Sequence[Value]:
    try:
        reducer = reducer_of(here.op.regions[0]) if len(here.operands) == 2 else None
    except Unsupported:
        reducer = None
    if reducer is None or not here.joins(here.operands[0], reducer, here.operands[1]):
        return fold_windows(here, here.operands)
    rank = here.operands[0].type.rank
    ones = (1,) * rank
    return here.emit(
        "reduce_window", *here.operands, reducer=reducer,
        window=here.ints("window_dimensions"), stride=here.ints("window_strides", ones),
        padding=here.pairs("padding", rank), x_dilation=here.ints("base_dilations", ones),
        window_dilation=here.ints("window_dilations", ones))


@translates("stablehlo.select_and_scatter")
def _select_and_scatter(here: Here) -> Value:
    rank = here.operands[0].type.rank
    select, scatter = here.op.regions
    return here.emit(
        "select_and_scatter", *here.operands, select=select_of(select),
        scatter=reducer_of(scatter), window=here.ints("window_dimensions", (1,) * rank),
        stride=here.ints("window_strides", (1,) * rank), padding=here.pairs("padding", rank))
