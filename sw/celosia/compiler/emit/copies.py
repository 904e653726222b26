"""Copies between strided boxes: what `move`, `transposed` and `fill` have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from celosia.arch.isa import DmaFormat, Mem
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.emit.boxes import Box
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Access, Region
from celosia.compiler.views import merged

__all__ = ["Copy", "Dim", "copy_of", "memory_of", "need", "room"]


class Dim(NamedTuple):
    """Elements along one dimension of a copy, and elements from one to the next on each side."""

    size: int
    src: int
    dst: int


@dataclass(frozen=True)
class Copy:
    """A copy of elements in external memory: from a box to one of the same sizes and format."""

    src: Box
    dst: Box
    source: str

    @classmethod
    def of(cls, src: Box, dst: Box, dims: Sequence[Dim], source: str) -> Copy:
        """Return a copy that begins as these boxes do."""
        sizes, steps, targets = zip(*dims, strict=True) if dims else ((), (), ())
        return cls(src.shaped(sizes, steps), dst.shaped(sizes, targets), source)

    @property
    def fmt(self) -> DmaFormat:
        """Format of an element."""
        return self.dst.fmt

    @property
    def dims(self) -> tuple[Dim, ...]:
        """Its dimensions; of one that `copy_of` made by falling step in the target.

        Sizes are above 1 then, steps in the target above 0.
        """
        return tuple(map(Dim, self.dst.sizes, self.src.strides, self.dst.strides))

    def load(self, mem: Mem, row: int, at: int, rows: int, cols: int, pitch: int,
             row_step: int = 1, group_step: int = 0) -> CodeOp:
        """Load from ``at`` elements on in the source; ``pitch`` is in elements."""
        return self.src.transfer(nodes.load, mem, row, rows, cols, pitch, row_step, group_step,
                                 self.source, at=at)

    def store(self, mem: Mem, row: int, at: int, rows: int, cols: int, pitch: int,
              row_step: int = 1, group_step: int = 0, fmt: DmaFormat | None = None) -> CodeOp:
        """Store from ``at`` elements on in the target; ``pitch`` is in elements."""
        return self.dst.transfer(nodes.store, mem, row, rows, cols, pitch, row_step, group_step,
                                 self.source, at=at, fmt=fmt)


def copy_of(src: Access | None, dst: Access, source: str) -> Copy | None:
    """Bring a copy to its least dimensions; None where there is nothing to do.

    Without ``src`` the source has steps of 0, as that of a fill has.
    """
    shape = dst.view.shape
    assert src is None or src.view.shape == shape, (source, src, shape)
    steps = src.view.strides if src is not None else (0,) * len(shape)
    if math.prod(shape) == 0:
        return None
    at_src = at_dst = 0
    dims = []
    for size, step, to in zip(shape, steps, dst.view.strides, strict=True):
        if size == 1:
            continue
        if to <= 0:  # backwards; or all to one place, where the last one stays
            at_src += (size - 1) * step
            at_dst += (size - 1) * to
        if to:
            dims.append(Dim(size, step if to > 0 else -step, abs(to)))
    end = Box.of(dst).moved(at_dst)
    begin = end if src is None else Box.of(src).moved(at_src)
    copy = _least(Copy.of(begin, end, sorted(dims, key=lambda dim: -dim.dst), source))
    if src is not None and copy.src == copy.dst:
        return None
    a, b = copy.src.words(), copy.dst.words()
    return copy if a is None or b is None else _least(Copy(a, b, source))


def _least(copy: Copy) -> Copy:
    """Join dimensions that are one run of elements on both sides."""
    sizes, (steps, targets) = merged(copy.dst.sizes, copy.src.strides, copy.dst.strides)
    return Copy(copy.src.shaped(sizes, steps), copy.dst.shaped(sizes, targets), copy.source)


def memory_of(fmt: DmaFormat) -> Mem:
    """Return the memory that keeps all bits of an element from a load to a store."""
    return Mem.ACC if fmt == DmaFormat.W32 else Mem.UB


def need(rows: range, wanted: int, mem: Mem, source: str) -> None:
    """Check that there is room for ``wanted`` rows.

    Raises
    ------
    CompileError
        If there is not.
    """
    if len(rows) < wanted:
        name = "accumulators" if mem == Mem.ACC else "the unified buffer"
        raise CompileError(f"{source or 'a move'} must have {wanted} rows of {name} at least, "
                           f"not {len(rows)}")


def room(region: Region, mem: Mem) -> range:
    """Return the rows of a memory that may be used."""
    return region.acc if mem == Mem.ACC else region.ub
