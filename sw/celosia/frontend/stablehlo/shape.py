"""Operations of StableHLO that make or move elements."""

from __future__ import annotations

import numpy as np

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.attributes import array_of, tensor_type
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import Value

__all__ = []


@translates("stablehlo.constant")
def _constant(here: Here) -> Value:
    return here.constant(array_of(here["value"]))


@translates("stablehlo.iota")
def _iota(here: Here) -> Value:
    return here.emit("iota", dtype=here.type.dtype, shape=here.type.shape,
                     dim=here.int("iota_dimension"))


@translates("stablehlo.broadcast_in_dim")
def _broadcast(here: Here) -> Value:
    [x] = here.operands
    dims = here.ints("broadcast_dimensions")
    if x.type == here.type and dims == tuple(range(x.type.rank)):
        return x
    return here.emit("broadcast", x, shape=here.type.shape, dims=dims)


@translates("stablehlo.reshape")
def _reshape(here: Here) -> Value:
    [x] = here.operands
    return x if x.type == here.type else here.emit("reshape", x, shape=here.type.shape)


@translates("stablehlo.transpose")
def _transpose(here: Here) -> Value:
    [x] = here.operands
    permutation = here.ints("permutation")
    if permutation == tuple(range(x.type.rank)):
        return x
    return here.emit("transpose", x, permutation=permutation)


@translates("stablehlo.reverse")
def _reverse(here: Here) -> Value:
    return here.emit("reverse", *here.operands, dims=here.ints("dimensions"))


@translates("stablehlo.slice")
def _slice(here: Here) -> Value:
    return here.emit("slice", *here.operands, start=here.ints("start_indices"),
                     limit=here.ints("limit_indices"), stride=here.ints("strides"))


@translates("stablehlo.pad")
def _pad(here: Here) -> Value:
    low, high, interior = (here.ints(name) for name in
                           ("edge_padding_low", "edge_padding_high", "interior_padding"))
    if not any(low + high + interior):
        return here.operands[0]
    return here.emit("pad", *here.operands, low=low, high=high, interior=interior)


@translates("stablehlo.set_dimension_size")
def _set_size(here: Here) -> Value:
    # TensorFlow's bridge leaves it of top_k, where it has computed how many elements that gives.
    x, size = here.operands
    extent = x.type.shape[here.int("dimension")]
    if size.node not in here.importer.constants:
        raise Unsupported("size must be constant: shapes are fixed")
    [value] = here.importer.constants.values(size.node)
    if int(value) != extent:
        raise Unsupported(f"size must be that of the dimension, {extent}, not {int(value)}")
    return x


@translates("stablehlo.get_dimension_size")
def _get_size(here: Here) -> Value:
    shape = tensor_type(here.op.operands[0].type).shape
    return here.constant(np.array(shape[here.int("dimension")], np.int32))


@translates("stablehlo.concatenate")
def _concatenate(here: Here) -> Value:
    if len(here.operands) == 1:
        return here.operands[0]
    return here.emit("concatenate", *here.operands, dim=here.int("dimension"))
