"""Dot products and convolutions in NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from celosia.graph.interpreter.kernels import HostArray, KernelContext, kernel
from celosia.graph.interpreter.shape import pad
from celosia.graph.operations.contract import ConvolutionLayout
from celosia.graph.types import DType

__all__ = []


def _operand(run: KernelContext, x: HostArray) -> HostArray:
    """Return an operand as it enters the products: float32, float64, or an integer wide enough."""
    if not DType.of(x.dtype).is_float:
        # Products of 8 bits sum exactly in float64, which is much quicker.
        return x.astype(np.float64 if x.dtype.itemsize == 1 else np.int64)
    if x.dtype == np.float64:
        return x
    if (run.precision or run["precision"]) == "default" and x.dtype != np.float16:
        x = x.astype(ml_dtypes.bfloat16)
    return x.astype(np.float32)


def _result(run: KernelContext, sums: HostArray) -> HostArray:
    dtype = run.dtype
    if dtype.is_float:
        return sums.astype(dtype.numpy)
    return sums.astype(np.int64).astype(dtype.numpy)


@kernel("dot")
def _dot(run: KernelContext, a: HostArray, b: HostArray) -> HostArray:
    batch, contract = run["batch"], run["contract"]
    rows, columns = ([dim for dim in range(x.ndim) if dim not in
                      [pair[side] for pair in batch + contract]] for side, x in enumerate((a, b)))
    outer = [a.shape[i] for i, _ in batch]
    inner = int(np.prod([a.shape[i] for i, _ in contract], dtype=np.int64))
    m = [a.shape[dim] for dim in rows]
    n = [b.shape[dim] for dim in columns]
    left = _operand(run, a).transpose([i for i, _ in batch] + rows + [i for i, _ in contract])
    right = _operand(run, b).transpose([j for _, j in batch + contract] + columns)
    sums = np.matmul(left.reshape(*outer, int(np.prod(m, dtype=np.int64)), inner),
                     right.reshape(*outer, inner, int(np.prod(n, dtype=np.int64))))
    return _result(run, sums.reshape(outer + m + n))


@kernel("convolution")
def _convolution(run: KernelContext, x: HostArray, w: HostArray) -> HostArray:
    layout: ConvolutionLayout = run["layout"]
    spatial = layout.spatial
    # Batch, features, spatial; outputs, inputs, spatial.
    x = _operand(run, x).transpose([layout.x.index(each) for each in "bf" + spatial])
    w = _operand(run, w).transpose([layout.w.index(each) for each in "oi" + spatial])
    groups, batch_groups = run["groups"], run["batch_groups"]
    if batch_groups > 1:
        parts = [_plain(run, part, kernels) for part, kernels in
                 zip(np.split(x, batch_groups), np.split(w, batch_groups), strict=True)]
    else:
        parts = [_plain(run, part, kernels) for part, kernels in
                 zip(np.split(x, groups, 1), np.split(w, groups), strict=True)]
    found = np.concatenate(parts, 1)
    return _result(run, found.transpose(["bf".find(each) if each in "bf" else 2 + int(each)
                                         for each in layout.result]))


def _plain(run: KernelContext, x: HostArray, w: HostArray) -> HostArray:
    low, high = zip(*run["padding"], strict=True) if run["padding"] else ((), ())
    x = pad(x, np.zeros((), x.dtype), (0, 0, *low), (0, 0, *high),
            (0, 0, *(dilation - 1 for dilation in run["x_dilation"])))
    layout: ConvolutionLayout = run["layout"]
    extents = [run.node.types[0].shape[layout.result.index(each)] for each in layout.spatial]
    sums = np.zeros((x.shape[0], w.shape[0], *extents), np.result_type(x, w))
    for place in np.ndindex(*w.shape[2:]):
        window = tuple(slice(at * dilation, at * dilation + (extent - 1) * stride + 1, stride)
                       if extent else slice(0)
                       for at, dilation, extent, stride in
                       zip(place, run["w_dilation"], extents, run["stride"], strict=True))
        part = x[(slice(None), slice(None), *window)]
        tap = w[(slice(None), slice(None), *place)]
        sums += np.moveaxis(np.tensordot(part, tap, (1, 1)), -1, 1)
    return sums
