"""Operations on whole arrays that each device can do on its tiles, outside of manual computations.

Enough for data-parallel training of dense and convolutional layers: the batch stays cut from the
input to the loss, and gradients of weights are sums over devices. What no rule covers is done on
whole arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.regions import reducer_of
from celosia.frontend.stablehlo.translation import Here
from celosia.graph import Trait, Value, having
from celosia.graph.operations.elementwise import neutral
from celosia.graph.sharding import Sharding, UnevenSharding

__all__ = ["RULES", "ShardingPlan"]

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ShardingPlan:
    """How an operation is done on tiles.

    Attributes
    ----------
    operands
        How they must be cut.
    result
        How the result is.
    groups
        Devices whose results are parts of a sum, to be joined; one after another.
    reducer
        What joins them.
    changes
        Attributes of the operation that are others for a tile.
    """

    operands: tuple[Sharding, ...]
    result: Sharding
    groups: tuple[Groups, ...] = ()
    reducer: str = "add"
    changes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def _cuts(sharding: Sharding) -> list[int]:
    return [dim for dim, count in enumerate(sharding.parts) if count > 1]


def _broadcast(here: Here, shardings: Sequence[Sharding]) -> ShardingPlan | None:
    [x] = shardings
    dims = here.ints("broadcast_dimensions")
    return ShardingPlan((x,), x.select([dims.index(dim) if dim in dims else None
                                for dim in range(here.type.rank)]))


def _transpose(here: Here, shardings: Sequence[Sharding]) -> ShardingPlan | None:
    [x] = shardings
    return ShardingPlan((x,), x.select(here.ints("permutation")))


def _reshape(here: Here, shardings: Sequence[Sharding]) -> ShardingPlan | None:
    """Keep tiles that are whole rows of what follows the same leading dimensions."""
    [x], [value] = shardings, here.operands
    [cut, *more] = _cuts(x)
    if more:
        return None
    before = math.prod(x.whole(value.shape)[:cut])
    for dim, extent in enumerate(here.type.shape):
        if math.prod(here.type.shape[:dim]) == before and extent % x.parts[cut] == 0:
            return ShardingPlan((x,), x.select([cut if i == dim else None
                                        for i in range(here.type.rank)]))
    return None


def _reduce(here: Here, shardings: Sequence[Sharding]) -> ShardingPlan | None:
    if len(shardings) != 2:
        return None
    x, initial = shardings
    dims, reducer = here.ints("dimensions"), reducer_of(here.op.regions[0])
    groups = tuple(x.groups(dim) for dim in _cuts(x) if dim in dims)
    if groups and not _may_repeat(here, reducer, here.operands[1]):
        return None
    kept = [dim for dim in range(len(x.parts)) if dim not in dims]
    return ShardingPlan((x, initial), x.select(kept),
                groups, reducer)


def _may_repeat(here: Here, reducer: str, initial: Value) -> bool:
    """Return whether it makes no difference that each device begins with the initial value."""
    if reducer in having(Trait.IDEMPOTENT):
        return True
    if initial.node not in here.importer.constants:
        return False
    [found] = here.importer.constants.values(initial.node)
    return bool(np.all(found == neutral(reducer, initial.dtype)))


def _contracted(a: Sharding, b: Sharding, shared: Sequence[tuple[int, int]], count: int,
                place_a: Sequence[int | None],
                place_b: Sequence[int | None]) -> ShardingPlan | None:
    """Plan sums of products.

    Parameters
    ----------
    a, b
        The operands.
    shared
        Dimensions (of a, of b) that go together.
    count
        How many of them, the last ones, are summed over.
    place_a, place_b
        For each dimension of the result that of a, or of b, that it is; a's where they share it.
    """
    of_a, of_b = (each.select([pair[side] for pair in shared])
                  for side, each in enumerate((a, b)))
    if of_a != of_b:
        # One that every device has is cut as the other one is.
        if b.is_replicated:
            b = a.select([next((i for i, j in shared if j == dim), None)
                          for dim in range(len(b.parts))])
        elif a.is_replicated:
            a = b.select([next((j for i, j in shared if i == dim), None)
                          for dim in range(len(a.parts))])
        else:
            return None
    axes = [(a, i) if i is not None else (b, j)
            for i, j in zip(place_a, place_b, strict=True) if (i, j) != (None, None)]
    axes += [(a, i) for i, _ in shared[len(shared) - count:]]
    found = Sharding.joint([(each, dim) for each, dim in axes if dim is not None])
    if found is None:
        return None
    kept = len(found.parts) - count
    dims = iter(range(kept))
    result = found.select([None if pair == (None, None) else next(dims)
                           for pair in zip(place_a, place_b, strict=True)])
    return ShardingPlan((a, b), result,
                        tuple(found.groups(dim) for dim in _cuts(found) if dim >= kept))


def _dot(here: Here, shardings: Sequence[Sharding]) -> ShardingPlan | None:
    from jaxlib.mlir.dialects import stablehlo
    dims = stablehlo.DotDimensionNumbers(here["dot_dimension_numbers"])
    batch = list(zip(dims.lhs_batching_dimensions, dims.rhs_batching_dimensions, strict=True))
    summed = list(zip(dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions,
                      strict=True))
    shared = batch + summed
    a, b = shardings
    free_a, free_b = ([dim for dim in range(len(each.parts))
                       if dim not in [pair[side] for pair in shared]]
                      for side, each in enumerate((a, b)))
    heads = [i for i, _ in batch]
    return _contracted(a, b, shared, len(summed), [*heads, *free_a, *[None] * len(free_b)],
                       [*[None] * (len(heads) + len(free_a)), *free_b])


def _convolution(here: Here, shardings: Sequence[Sharding]) -> ShardingPlan | None:
    from jaxlib.mlir.dialects import stablehlo
    dims = stablehlo.ConvDimensionNumbers(here["dimension_numbers"])
    x, w = shardings
    if here.int("feature_group_count") > 1 or here.int("batch_group_count") > 1:
        return None
    if set(_cuts(x)) & set(dims.input_spatial_dimensions) or \
            set(_cuts(w)) & set(dims.kernel_spatial_dimensions):
        return None
    place_x: list[int | None] = [None] * here.type.rank
    place_w = list(place_x)
    place_x[dims.output_batch_dimension] = dims.input_batch_dimension
    place_w[dims.output_feature_dimension] = dims.kernel_output_feature_dimension
    return _contracted(x, w, [(dims.input_feature_dimension, dims.kernel_input_feature_dimension)],
                       1, place_x, place_w)


def _pad(here: Here, shardings: Sequence[Sharding]) -> ShardingPlan | None:
    x, value = shardings
    sizes = [here.ints(f"edge_padding_{side}") for side in ("low", "high")]
    if any(size[dim] for size in (*sizes, here.ints("interior_padding")) for dim in _cuts(x)):
        return None
    return ShardingPlan((x, value), x)


def _slice(here: Here, shardings: Sequence[Sharding]) -> ShardingPlan | None:
    [x], [value] = shardings, here.operands
    limits = list(here.ints("limit_indices"))
    for dim in _cuts(x):
        if here.type.shape[dim] != x.whole(value.shape)[dim]:
            return None
        limits[dim] = value.shape[dim]
    return ShardingPlan((x,), x, changes={"limit_indices": tuple(limits)})


def _windows(here: Here, shardings: Sequence[Sharding]) -> ShardingPlan | None:
    """Keep what is cut where windows are of one element."""
    if len(shardings) != 2 + (here.op.name == "stablehlo.select_and_scatter"):
        return None
    x, *_ = shardings
    rank = len(x.parts)
    ones = (1,) * rank
    steps = [here.ints(name, ones) for name in (
        "window_dimensions", "window_strides", "base_dilations", "window_dilations")]
    padding = here.pairs("padding", rank)
    for dim in range(rank):
        cut = any(each.parts[dim] > 1 for each in shardings[:-1])
        if cut and (any(step[dim] != 1 for step in steps) or any(padding[dim])):
            return None
    cuts = next(each for each in shardings if not each.is_replicated)
    return ShardingPlan((*[cuts] * (len(shardings) - 1), shardings[-1]), cuts)


Rule = Callable[[Here, Sequence[Sharding]], ShardingPlan | None]
_RULES: dict[str, Rule] = {
    "stablehlo.broadcast_in_dim": _broadcast, "stablehlo.transpose": _transpose,
    "stablehlo.reshape": _reshape, "stablehlo.reduce": _reduce, "stablehlo.dot_general": _dot,
    "stablehlo.convolution": _convolution, "stablehlo.pad": _pad, "stablehlo.slice": _slice,
    "stablehlo.reduce_window": _windows,
    "stablehlo.select_and_scatter": _windows}


def _checked(rule: Rule) -> Rule:
    def plan(here: Here, shardings: Sequence[Sharding]) -> ShardingPlan | None:
        if all(each.is_replicated for each in shardings):
            return None
        try:
            found = rule(here, shardings)
            if found is None:
                return None
            found.result.tile(here.type.shape)
            for value, was, to in zip(here.operands, shardings, found.operands, strict=True):
                to.tile(was.whole(value.shape))
        except (Unsupported, UnevenSharding):
            return None
        return found

    return plan


#: Operation to the function that plans it; None where it must be done on whole arrays.
RULES: dict[str, Rule] = {name: _checked(rule) for name, rule in _RULES.items()}
