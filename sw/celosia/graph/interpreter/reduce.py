"""Reductions in NumPy."""

from __future__ import annotations

import numpy as np

from celosia.graph.interpreter.elementwise import BINARY
from celosia.graph.interpreter.kernels import HostArray, KernelContext, in_f32, kernel
from celosia.graph.interpreter.shape import pad
from celosia.graph.types import DType

__all__ = []


@kernel("reduce")
def _reduce(run: KernelContext, x: HostArray, initial: HostArray) -> HostArray:
    def reduce(x: HostArray, initial: HostArray) -> HostArray:
        join = BINARY[run["reducer"]]
        assert isinstance(join, np.ufunc)
        if not all(x.shape[dim] for dim in run["dims"]):
            return np.broadcast_to(initial, run.node.types[0].shape)
        for dim in sorted(run["dims"], reverse=True):
            x = join.reduce(x, dim, dtype=x.dtype)
        return join(x, initial)

    return in_f32(reduce, x, initial)


@kernel("arg_reduce")
def _arg_reduce(run: KernelContext, x: HostArray, index: HostArray, initial: HostArray,
                initial_index: HostArray) -> tuple[HostArray, HostArray]:
    dims = run["dims"]
    kept = [dim for dim in range(x.ndim) if dim not in dims]
    shape = tuple(x.shape[dim] for dim in kept)
    count = int(np.prod([x.shape[dim] for dim in dims], dtype=np.int64))
    values = x.transpose(*kept, *dims).reshape(*shape, count)
    places = index.transpose(*kept, *dims).reshape(*shape, count)
    values = np.concatenate([values, np.broadcast_to(initial, (*shape, 1))], -1)
    places = np.concatenate([places, np.broadcast_to(initial_index, (*shape, 1))], -1)
    # bf16 and f16 have every number of their own in float32.
    numbers = values.astype(np.float32) if DType.of(values.dtype).is_half else values
    pick = np.max if run["reducer"] == "argmax" else np.min
    best = pick(numbers, -1, keepdims=True)
    winner = (numbers == best) | (numbers != numbers)
    first = np.where(winner, places, np.iinfo(places.dtype).max)
    at = np.argmin(first, -1)[..., np.newaxis]
    return (np.take_along_axis(values, at, -1)[..., 0], np.take_along_axis(first, at, -1)[..., 0])


@kernel("reduce_window")
def _reduce_window(run: KernelContext, x: HostArray, initial: HostArray) -> HostArray:
    def windows(x: HostArray, initial: HostArray) -> HostArray:
        low, high = zip(*run["padding"], strict=True) if run["padding"] else ((), ())
        x = pad(x, initial, low, high, tuple(dilation - 1 for dilation in run["x_dilation"]))
        join = BINARY[run["reducer"]]
        # The reducers are associative, so one dimension follows another.
        for dim, extent in enumerate(run.node.types[0].shape):
            found = None
            for at in range(run["window"][dim]):
                start = at * run["window_dilation"][dim]
                stride = run["stride"][dim]
                window = [slice(None)] * x.ndim
                window[dim] = slice(start, start + (extent - 1) * stride + 1 if extent else start,
                                    stride)
                part = x[tuple(window)]
                found = part if found is None else join(found, part)
            assert found is not None
            x = found
        return join(x, initial)

    return in_f32(windows, x, initial)


@kernel("select_and_scatter")
def _select_and_scatter(run: KernelContext, x: HostArray, updates: HostArray,
                        initial: HostArray) -> HostArray:
    keep = np.greater_equal if run["select"] == "ge" else np.less_equal
    starts = np.indices(updates.shape)
    column = (-1,) + (1,) * x.ndim
    starts = (starts * np.reshape(run["stride"], column)
              - np.reshape([low for low, _ in run["padding"]], column))
    extents = np.reshape(x.shape, column)
    best = np.zeros(updates.shape, x.dtype)
    where = np.full(starts.shape, -1)
    for place in np.ndindex(*run["window"]):
        at = starts + np.reshape(place, column)
        inside = np.all((at >= 0) & (at < extents), 0)
        candidate = x[tuple(np.clip(at, 0, extents - 1))]
        # Padding is no candidate; the first real element always is.
        taken = inside & ((where[0] < 0) | ~keep(best, candidate)) if x.ndim else inside
        best = np.where(taken, candidate, best)
        where = np.where(taken, at, where)
    inside = where[0] >= 0 if x.ndim else np.ones((), bool)

    def scatter(updates: HostArray, initial: HostArray) -> HostArray:
        join = BINARY[run["scatter"]]
        assert isinstance(join, np.ufunc)
        found = np.full(x.shape, initial, initial.dtype)
        join.at(found, tuple(axis[inside] for axis in where), updates[inside])
        return found

    return in_f32(scatter, updates, initial)
