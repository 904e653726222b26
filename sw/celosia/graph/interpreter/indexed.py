"""Indexed operations in NumPy."""

from __future__ import annotations

import numpy as np

from celosia.graph.interpreter.elementwise import BINARY
from celosia.graph.interpreter.kernels import HostArray, KernelContext, in_f32, kernel
from celosia.graph.types import DType

__all__ = ["sort_keys"]

#: All bits of a float64 but the sign.
_MAGNITUDE = (1 << 63) - 1


def _clamped(starts: tuple[HostArray, ...], shape: tuple[int, ...],
             sizes: tuple[int, ...]) -> tuple[slice, ...]:
    at = [min(max(int(start), 0), extent - size)
          for start, extent, size in zip(starts, shape, sizes, strict=True)]
    return tuple(slice(start, start + size) for start, size in zip(at, sizes, strict=True))


@kernel("dynamic_slice")
def _dynamic_slice(run: KernelContext, x: HostArray, *starts: HostArray) -> HostArray:
    return x[_clamped(starts, x.shape, run["sizes"])]


@kernel("dynamic_update_slice")
def _dynamic_update_slice(run: KernelContext, x: HostArray, update: HostArray,
                          *starts: HostArray) -> HostArray:
    found = x.copy()
    found[_clamped(starts, x.shape, update.shape)] = update
    return found


def _start_of(run: KernelContext, x: HostArray, indices: HostArray) -> HostArray:
    """Return the start index in each dimension of x: (rank, batch...)."""
    if run["index_dim"] == indices.ndim:
        indices = indices[..., np.newaxis]
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    vectors = np.moveaxis(indices, run["index_dim"], 0).astype(np.int64)
    batch = vectors.shape[1:]
    start = np.zeros((x.ndim, *batch), np.int64)
    for i, dim in enumerate(run["start_map"]):
        start[dim] = vectors[i]
    where = np.indices(batch)
    for mine, theirs in zip(run["x_batch"], run["indices_batch"], strict=True):
        start[mine] = where[theirs - (theirs > run["index_dim"])]
    return start


@kernel("gather")
def _gather(run: KernelContext, x: HostArray, indices: HostArray) -> HostArray:
    sizes = run["sizes"]
    start = _start_of(run, x, indices)
    rank = start.ndim - 1
    column = (-1,) + (1,) * rank
    most = np.reshape(np.array(x.shape, np.int64) - sizes, column)
    start = np.clip(start, 0, most) if x.ndim else start
    kept = [dim for dim in range(x.ndim) if dim not in run["collapsed"] + run["x_batch"]]
    places = []
    for dim in range(x.ndim):
        place = start[dim].reshape(start.shape[1:] + (1,) * len(kept))
        if dim in kept:
            line = [1] * len(kept)
            line[kept.index(dim)] = sizes[dim]
            place = place + np.arange(sizes[dim]).reshape(line)
        places.append(place)
    shape = start.shape[1:] + tuple(sizes[dim] for dim in kept)
    # An empty result may have no place in x to be taken from.
    found = (np.broadcast_to(x[tuple(places)], shape) if 0 not in shape
             else np.zeros(shape, x.dtype))
    return np.moveaxis(found, range(rank, found.ndim), sorted(run["offset_dims"]))


@kernel("scatter")
def _scatter(run: KernelContext, x: HostArray, indices: HostArray, updates: HostArray) -> HostArray:
    start = _start_of(run, x, indices)
    rank = start.ndim - 1
    window = sorted(run["window_dims"])
    updates = np.moveaxis(updates, window, range(rank, updates.ndim))
    kept = [dim for dim in range(x.ndim) if dim not in run["inserted"] + run["x_batch"]]
    inside = np.ones(updates.shape, bool)
    places = []
    for dim in range(x.ndim):
        place = start[dim].reshape(start.shape[1:] + (1,) * len(kept))
        if dim in kept:
            line = [1] * len(kept)
            line[kept.index(dim)] = -1
            place = place + np.arange(updates.shape[rank + kept.index(dim)]).reshape(line)
        places.append(np.broadcast_to(place, updates.shape))
        inside &= (places[-1] >= 0) & (places[-1] < x.shape[dim])

    def as_given(x: HostArray) -> HostArray:
        return np.moveaxis(x, range(rank, x.ndim), window)

    # The order in which updates lie in the tensor as given decides who comes last.
    inside = as_given(inside)
    where = tuple(as_given(place)[inside] for place in places)
    updates = as_given(updates)[inside]

    if run["reducer"] == "set":
        found = x.copy()
        if x.ndim:
            # Only the last of those that go to one place.
            flat = np.asarray(np.ravel_multi_index(where, x.shape))[::-1]
            last = np.unique(flat, return_index=True)[1]
            found.reshape(-1)[flat[last]] = updates[::-1][last]
        elif updates.size:
            found[...] = updates[-1]
        return found

    def scatter(x: HostArray, updates: HostArray) -> HostArray:
        join = BINARY[run["reducer"]]
        assert isinstance(join, np.ufunc)
        found = x.copy()
        if x.ndim:
            join.at(found, where, updates)
            return found
        return join(found, join.reduce(updates)) if updates.size else found

    return in_f32(scatter, x, updates)


def _ordered(x: HostArray) -> HostArray:
    """Return signed integers in the order of integers."""
    return (x ^ np.uint64(1 << 63)).view(np.int64) if x.dtype == np.uint64 else x.astype(np.int64)


def sort_keys(x: HostArray, descending: bool = False) -> HostArray:
    """Return integers that order as the elements do: zeros equal, NaN greatest."""
    dtype = DType.of(x.dtype)
    if dtype.is_float:
        wide = _bits(np.where(x == 0, np.zeros((), x.dtype), x))
        keys = np.where(wide < 0, -(wide & _MAGNITUDE), wide)
        keys = np.where(np.isnan(x), _MAGNITUDE, keys)
    else:
        keys = _ordered(x)
    return ~keys if descending else keys


@kernel("sort")
def _sort(run: KernelContext, *xs: HostArray) -> tuple[HostArray, ...]:
    dim = run["dim"]
    # lexsort takes the first key last; it is stable.
    keys = [sort_keys(x, run["descending"]) for x in xs[:run["keys"]]][::-1]
    order = np.lexsort(keys, dim)
    return tuple(np.take_along_axis(x, order, dim) for x in xs)


def _total_keys(x: HostArray) -> HostArray:
    """Return integers in the total order of the elements' bits: -0 below 0, -NaN below -inf."""
    if not DType.of(x.dtype).is_float:
        return _ordered(x)
    bits = _bits(x)
    return np.where(bits < 0, bits ^ _MAGNITUDE, bits)


def _bits(x: HostArray) -> HostArray:
    """Return the bits of float64 that the elements have."""
    return x.astype(np.float64).view(np.int64)


@kernel("top_k")
def _top_k(run: KernelContext, x: HostArray) -> tuple[HostArray, HostArray]:
    order = np.argsort(~_total_keys(x), -1, kind="stable")[..., :run["k"]]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)
