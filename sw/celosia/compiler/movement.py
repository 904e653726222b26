"""Data movement: operations that only move elements, as work on accesses.

Reshapes, transposes, broadcasts, slices and reversals are views; what cannot remain a view is
copied. Offsets of dynamic slices are computed by nodes of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from celosia.arch.commands import Store
from celosia.arch.config import TpuConfig
from celosia.compiler.builder import Builder
from celosia.compiler.cycles import transfer
from celosia.compiler.lowered import Access, Fill, Move, Work
from celosia.graph import DType, Source, Value

__all__ = ["byte_offset", "concatenate", "copy", "pad"]


def _part(access: Access, start: Sequence[int], limit: Sequence[int],
          stride: Sequence[int] | None = None) -> Access:
    """Return some elements of an access."""
    return Access(access.tensor, access.view.slice(start, limit, stride), access.base)


def copy(src: Access, dst: Access, source: str = "") -> list[Work]:
    """Return the work that makes ``dst`` equal to ``src``, of the same shape."""
    return [Move(src, dst, source)] if dst.view.size else []


def concatenate(operands: Sequence[Access], dim: int, dst: Access,
                source: str = "") -> list[Work]:
    """Return the work that puts operands one after another along ``dim`` of ``dst``."""
    work: list[Work] = []
    at = 0
    for operand in operands:
        start, limit = [0] * len(dst.view.shape), list(dst.view.shape)
        start[dim], limit[dim] = at, at + operand.view.shape[dim]
        at = limit[dim]
        work += copy(operand, _part(dst, start, limit), source)
    assert at == dst.view.shape[dim], (source, at, dst.view.shape)
    return work


def _cycles(config: TpuConfig, access: Access) -> int:
    """Return the cycles of filling a view, about: stores of its largest dimension."""
    shape, strides = access.view.shape, access.view.strides
    run, dims = 1, list(zip(shape, strides, strict=True))
    while dims and (dims[-1][0] == 1 or dims[-1][1] == run):
        run *= dims.pop()[0]
    sizes = [size for size, _ in dims]
    if not run or 0 in sizes:
        return 0
    rows = max(sizes, default=1)
    store = transfer(config, Store, rows, run, access.tensor.element_bytes)
    return math.prod(sizes) // rows * max(store.occupied, store.check)


def pad(config: TpuConfig, x: Access, value_word: int, low: Sequence[int], high: Sequence[int],
        interior: Sequence[int], dst: Access, source: str = "") -> list[Work]:
    """Return the work of a pad whose edges are not negative.

    Parameters
    ----------
    value_word
        What an accumulator holds that is stored as the value.
    """
    shape = dst.view.shape
    spans = [max((size - 1) * (gap + 1) + 1, 0) if size else 0
             for size, gap in zip(x.view.shape, interior, strict=True)]
    assert tuple(a + n + b for a, n, b in zip(low, spans, high, strict=True)) == shape, (
        source, low, spans, high, shape)
    if dst.view.size == 0:
        return []
    fills = [dst]
    if x.view.size and not any(interior):
        border = [_part(dst, [*low[:i], start, *(0 for _ in shape[i + 1:])],
                        [*(a + n for a, n in zip(low[:i], spans[:i], strict=True)), limit,
                         *shape[i + 1:]])
                  for i in range(len(shape))
                  for start, limit in ((0, low[i]), (low[i] + spans[i], shape[i]))
                  if start < limit]
        if sum(_cycles(config, each) for each in border) < _cycles(config, dst):
            fills = border
    work: list[Work] = [Fill(access, value_word, source) for access in fills if access.view.size]
    inside = _part(dst, low, [a + n for a, n in zip(low, spans, strict=True)],
                   [gap + 1 for gap in interior])
    return work + copy(x, inside, source)


def byte_offset(starts: Sequence[Value], sizes: Sequence[int], shape: Sequence[int],
                element_bytes: int, source: Source = Source.UNKNOWN) -> Value:
    """Return the byte at which a dynamic slice begins in a row-major tensor, as an i32 scalar.

    Parameters
    ----------
    starts
        Scalars of any integer type, one for each dimension; each is clamped so that the slice is
        within the tensor.
    sizes, shape
        Of the slice and of the tensor.
    """
    b = Builder(source)
    parts: list[Value] = []
    stride = element_bytes
    for start, size, extent in reversed(list(zip(starts, sizes, shape, strict=True))):
        most = extent - size
        if most > 0:
            if start.dtype is DType.U32:
                word = b.bitcast(start, DType.I32)
                # From 2**31 on it is negative, as an i32, and is as much as can be.
                index = b("select", b.compare("lt", word, 0), b.full(most, word.type),
                          b("minimum", word, most))
            else:
                index = b("maximum", b("minimum", b.convert(start, DType.I32), most), 0)
            parts.append(index if stride == 1 else b("multiply", index, stride))
        stride *= extent
    if not parts:
        return b.constant(0, DType.I32)
    return b.join("add", parts[::-1])
