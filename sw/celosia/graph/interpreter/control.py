"""Control flow, run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from celosia.graph.build import parameter
from celosia.graph.interpreter.kernels import HostArray, KernelContext, kernel
from celosia.graph.node import Graph
from celosia.graph.spread import spread
from celosia.graph.types import DType, TensorType

__all__ = []


@kernel("while")
def _while(run: KernelContext, *values: HostArray) -> Sequence[HostArray]:
    cond, body = run.node.regions
    now: Sequence[HostArray] = values
    while bool(run.graph(cond, now)[0]):
        now = run.graph(body, now)
    return now


@kernel("case")
def _case(run: KernelContext, index: HostArray, *values: HostArray) -> Sequence[HostArray]:
    branches = run.node.regions
    at = int(index)
    return run.graph(branches[at if 0 <= at < len(branches) else -1], values)


@kernel("sort_by")
def _sort_by(run: KernelContext, *xs: HostArray) -> Sequence[HostArray]:
    """A bitonic network with places beyond the end, which stay there."""
    dim = run["dim"]
    rows = [np.moveaxis(x, dim, -1) for x in xs]
    length = rows[0].shape[-1]
    if length < 2:
        return xs
    count = 1 << (length - 1).bit_length()
    order = np.broadcast_to(np.arange(count), (*rows[0].shape[:-1], count)).copy()
    shape = (*rows[0].shape[:-1], count // 2)
    params = [parameter(TensorType(DType.of(x.dtype), shape)) for x in (*xs, *xs)]
    less = Graph("less", params, spread(run.node.regions[0], params))

    def before(first: HostArray, second: HostArray) -> HostArray:
        places = [np.minimum(each, length - 1) for each in (first, second)]
        return run.graph(less, [np.take_along_axis(x, each, -1) for each in places
                                for x in rows])[0]

    size = 2
    while size <= count:
        distance = size // 2
        while distance:
            low = np.arange(count // 2) // distance * distance + np.arange(count // 2)
            first, second = order[..., low], order[..., low + distance]
            swap = before(second, first) | ~before(first, second) & (first > second)
            swap = np.where((first < length) & (second < length), swap, first > second)
            swap ^= (low & size) != 0
            order[..., low] = np.where(swap, second, first)
            order[..., low + distance] = np.where(swap, first, second)
            distance //= 2
        size *= 2
    order = order[..., :length]
    return [np.moveaxis(np.take_along_axis(x, order, -1), -1, dim) for x in rows]


@kernel("barrier")
def _barrier(run: KernelContext, *values: HostArray) -> Sequence[HostArray]:
    return values
