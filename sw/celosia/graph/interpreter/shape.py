"""Making and moving elements in NumPy."""

from __future__ import annotations

import numpy as np

from celosia.graph.interpreter.kernels import HostArray, KernelContext, kernel

__all__ = ["pad"]


@kernel("constant")
def _constant(run: KernelContext) -> HostArray:
    return run["value"].numpy


@kernel("iota")
def _iota(run: KernelContext) -> HostArray:
    type = run.node.types[0]
    extent = type.shape[run["dim"]]
    line = np.arange(extent).astype(type.dtype.numpy)
    column = [1] * type.rank
    column[run["dim"]] = extent
    return np.broadcast_to(line.reshape(column), type.shape)


@kernel("broadcast")
def _broadcast(run: KernelContext, x: HostArray) -> HostArray:
    # Dimensions need not come in order.
    order = sorted(range(x.ndim), key=lambda i: run["dims"][i])
    column = [1] * len(run["shape"])
    for i, dim in enumerate(run["dims"]):
        column[dim] = x.shape[i]
    return np.broadcast_to(x.transpose(order).reshape(column), run["shape"])


@kernel("reshape")
def _reshape(run: KernelContext, x: HostArray) -> HostArray:
    return x.reshape(run["shape"])


@kernel("transpose")
def _transpose(run: KernelContext, x: HostArray) -> HostArray:
    return x.transpose(run["permutation"])


@kernel("reverse")
def _reverse(run: KernelContext, x: HostArray) -> HostArray:
    return np.flip(x, run["dims"])


@kernel("slice")
def _slice(run: KernelContext, x: HostArray) -> HostArray:
    return x[tuple(map(slice, run["start"], run["limit"], run["stride"]))]


def pad(x: HostArray, value: HostArray, low: tuple[int, ...], high: tuple[int, ...],
        interior: tuple[int, ...]) -> HostArray:
    """Return x with `value` before, after and between its elements along each dimension."""
    spread = [(extent - 1) * (between + 1) + 1 if extent else 0
              for extent, between in zip(x.shape, interior, strict=True)]
    shape = [max(below, 0) + extent + max(above, 0)
             for below, extent, above in zip(low, spread, high, strict=True)]
    found = np.full(shape, value, x.dtype)
    found[tuple(slice(max(below, 0), max(below, 0) + extent, between + 1)
                for below, extent, between in zip(low, spread, interior, strict=True))] = x
    return found[tuple(slice(max(-below, 0), extent - max(-above, 0))
                       for below, extent, above in zip(low, shape, high, strict=True))]


@kernel("pad")
def _pad(run: KernelContext, x: HostArray, value: HostArray) -> HostArray:
    return pad(x, value, run["low"], run["high"], run["interior"])


@kernel("concatenate")
def _concatenate(run: KernelContext, *xs: HostArray) -> HostArray:
    return np.concatenate(xs, run["dim"])
