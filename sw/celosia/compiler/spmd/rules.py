"""Sharding rules: operations on whole arrays that each device can do on its tiles.

Enough for data-parallel training of dense and convolutional layers: the batch stays cut from the
input to the loss, and gradients of weights are sums over devices. What no rule covers is done on
whole arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from celosia.graph import Node, Trait, having
from celosia.graph.constants import Constants
from celosia.graph.operations.elementwise import neutral
from celosia.graph.sharding import DeviceGroups, Sharding, UnevenSharding

__all__ = ["ShardingPlan", "plan_of"]

Shardings = Sequence[Sharding]


@dataclass(frozen=True)
class ShardingPlan:
    """How an operation is done on tiles.

    Attributes
    ----------
    operands, results
        How they are cut.
    groups
        Devices whose results are parts of a sum, to be joined; one after another.
    reducer
        What joins them.
    changes
        Attributes of the operation that are others for a tile.
    """

    operands: tuple[Sharding, ...]
    results: tuple[Sharding, ...]
    groups: tuple[DeviceGroups, ...] = ()
    reducer: str = "add"
    changes: Mapping[str, Any] = field(default_factory=dict)


def plan_of(node: Node, shardings: Shardings, constants: Constants) -> ShardingPlan | None:
    """Return how a node is done on tiles.

    Parameters
    ----------
    node
        The node, on whole arrays.
    shardings
        How its operands are cut.
    constants
        What is known of their values.

    Returns
    -------
    ShardingPlan
        None where it must be done on whole arrays.
    """
    if all(each.is_replicated for each in shardings):
        return None
    if node.op == "barrier":
        return ShardingPlan(tuple(shardings), tuple(shardings))
    if node.op in _ELEMENTWISE:
        return _elementwise(node, shardings)
    if node.op == "reduce" and not _may_repeat(node, shardings[0], constants):
        return None
    rule = _RULES.get(node.op)
    if rule is None:
        return None
    try:
        found = rule(node, shardings)
        if found is None:
            return None
        for value, cut in zip((*node.operands, node.result), (*found.operands, *found.results),
                              strict=True):
            cut.tile(value.shape)
    except UnevenSharding:
        return None
    return found


def _cuts(sharding: Sharding) -> list[int]:
    return [dim for dim, count in enumerate(sharding.parts) if count > 1]


def _elementwise(node: Node, shardings: Shardings) -> ShardingPlan | None:
    """Cut all operands as those that are cut, if these are so along different dimensions."""
    rank = node.result.type.rank
    cuts = [each for each in shardings if not each.is_replicated]
    if any(len(each.parts) != rank for each in cuts):
        return None
    axes: list[tuple[Sharding, int]] = []
    for dim in range(rank):
        found = [each for each in cuts if each.parts[dim] > 1]
        if len({each.select([dim]) for each in found}) > 1:
            return None
        axes.append((found[0] if found else cuts[0], dim))
    to = Sharding.joint(axes)
    if to is None:
        return None
    return ShardingPlan(tuple(to if each.parts else each for each in shardings), (to,))


def _broadcast(node: Node, shardings: Shardings) -> ShardingPlan | None:
    [x] = shardings
    shape, dims = node.attrs["shape"], node.attrs["dims"]
    return _shaped(x, x.select([dims.index(dim) if dim in dims else None
                                for dim in range(len(shape))]), shape)


def _shaped(x: Sharding, to: Sharding, shape: Sequence[int]) -> ShardingPlan | None:
    """Plan an operation that has the shape of its result as an attribute."""
    return ShardingPlan((x,), (to,), changes={"shape": to.tile(shape)})


def _transpose(node: Node, shardings: Shardings) -> ShardingPlan | None:
    [x] = shardings
    return ShardingPlan((x,), (x.select(node.attrs["permutation"]),))


def _reshape(node: Node, shardings: Shardings) -> ShardingPlan | None:
    """Keep tiles that are whole rows of what follows the same leading dimensions; all tiles where
    dimensions of one element come or go.
    """
    [x], [value], shape = shardings, node.operands, node.attrs["shape"]
    solid, there = ([dim for dim, extent in enumerate(each) if extent != 1]
                    for each in (value.shape, shape))
    if [value.shape[dim] for dim in solid] == [shape[dim] for dim in there]:
        of = dict(zip(there, solid, strict=True))
        return _shaped(x, x.select([of.get(dim) for dim in range(len(shape))]), shape)
    [cut, *more] = _cuts(x)
    if more:
        return None
    before = math.prod(value.shape[:cut])
    for dim, extent in enumerate(shape):
        if math.prod(shape[:dim]) == before and extent % x.parts[cut] == 0:
            return _shaped(x, x.select([cut if i == dim else None for i in range(len(shape))]),
                           shape)
    return None


def _reverse(node: Node, shardings: Shardings) -> ShardingPlan | None:
    [x] = shardings
    return None if set(_cuts(x)) & set(node.attrs["dims"]) else ShardingPlan((x,), (x,))


def _reduce(node: Node, shardings: Shardings) -> ShardingPlan | None:
    x, initial = shardings
    dims = node.attrs["dims"]
    kept = [dim for dim in range(len(x.parts)) if dim not in dims]
    return ShardingPlan((x, initial), (x.select(kept),),
                        tuple(x.groups(dim) for dim in _cuts(x) if dim in dims),
                        node.attrs["reducer"])


def _may_repeat(node: Node, x: Sharding, constants: Constants) -> bool:
    """Return whether it makes no difference that each device begins with the initial value."""
    reducer, initial = node.attrs["reducer"], node.operands[1]
    if reducer in having(Trait.IDEMPOTENT) or not set(_cuts(x)) & set(node.attrs["dims"]):
        return True
    if initial.node not in constants:
        return False
    found = constants.values(initial.node)[initial.index]
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
    return ShardingPlan((a, b), (result,),
                        tuple(found.groups(dim) for dim in _cuts(found) if dim >= kept))


def _dot(node: Node, shardings: Shardings) -> ShardingPlan | None:
    batch, summed = node.attrs["batch"], node.attrs["contract"]
    shared = batch + summed
    a, b = shardings
    free_a, free_b = ([dim for dim in range(len(each.parts))
                       if dim not in [pair[side] for pair in shared]]
                      for side, each in enumerate((a, b)))
    heads = [i for i, _ in batch]
    return _contracted(a, b, shared, len(summed), [*heads, *free_a, *[None] * len(free_b)],
                       [*[None] * (len(heads) + len(free_a)), *free_b])


def _convolution(node: Node, shardings: Shardings) -> ShardingPlan | None:
    layout, (x, w) = node.attrs["layout"], shardings
    if node.attrs["groups"] > 1 or node.attrs["batch_groups"] > 1:
        return None
    if {layout.x[dim] for dim in _cuts(x)} - set("bf") or \
            {layout.w[dim] for dim in _cuts(w)} - set("io"):
        return None
    place_x: list[int | None] = [None] * len(layout.result)
    place_w = list(place_x)
    place_x[layout.result.index("b")] = layout.x.index("b")
    place_w[layout.result.index("f")] = layout.w.index("o")
    return _contracted(x, w, [(layout.x.index("f"), layout.w.index("i"))], 1, place_x, place_w)


def _pad(node: Node, shardings: Shardings) -> ShardingPlan | None:
    x, value = shardings
    sizes = [node.attrs[name] for name in ("low", "high", "interior")]
    if any(size[dim] for size in sizes for dim in _cuts(x)):
        return None
    return ShardingPlan((x, value), (x,))


def _slice(node: Node, shardings: Shardings) -> ShardingPlan | None:
    [x], [value] = shardings, node.operands
    limits = list(node.attrs["limit"])
    tile = x.tile(value.shape)
    for dim in _cuts(x):
        if node.result.shape[dim] != value.shape[dim]:
            return None
        limits[dim] = tile[dim]
    return ShardingPlan((x,), (x,), changes={"limit": tuple(limits)})


def _windows(node: Node, shardings: Shardings) -> ShardingPlan | None:
    """Keep what is cut where windows are of one element."""
    steps = [node.attrs[name] for name in ("window", "stride", "x_dilation", "window_dilation")
             if name in node.attrs]
    for dim in range(len(shardings[0].parts)):
        cut = any(each.parts[dim] > 1 for each in shardings[:-1])
        if cut and (any(step[dim] != 1 for step in steps) or any(node.attrs["padding"][dim])):
            return None
    cuts = next(each for each in shardings if not each.is_replicated)
    return ShardingPlan((*[cuts] * (len(shardings) - 1), shardings[-1]), (cuts,))


def _concatenate(node: Node, shardings: Shardings) -> ShardingPlan | None:
    found = _elementwise(node, shardings)
    return None if found is None or found.results[0].parts[node.attrs["dim"]] > 1 else found


def _bitcast(node: Node, shardings: Shardings) -> ShardingPlan | None:
    """Keep all but the dimension of what makes up an element, which comes or goes."""
    [x] = shardings
    rank = node.operands[0].type.rank
    if node.result.type.rank < rank and x.parts[-1] > 1:
        return None
    return ShardingPlan((x,), (x.select([dim if dim < rank else None
                                         for dim in range(node.result.type.rank)]),))


_ELEMENTWISE = having(Trait.ELEMENTWISE)
#: Of operands that are cut, some at least; `UnevenSharding` is as good as None.
_RULES: Mapping[str, Callable[[Node, Shardings], ShardingPlan | None]] = {
    "broadcast": _broadcast, "transpose": _transpose, "reshape": _reshape, "reverse": _reverse,
    "reduce": _reduce, "dot": _dot, "convolution": _convolution, "pad": _pad, "slice": _slice,
    "bitcast": _bitcast, "concatenate": _concatenate, "reduce_window": _windows,
    "select_and_scatter": _windows}
