"""Weights of a product: tiles of D rows, their loads, and where they lie."""

from __future__ import annotations

import math
from dataclasses import dataclass

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.words import ceil_div
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.emit.boxes import Box
from celosia.compiler.layout import operand_home
from celosia.compiler.lowered import Access

__all__ = ["WeightBlock", "Weights"]


@dataclass(frozen=True)
class WeightBlock:
    """Some of the weights: first and last + 1 of panels of columns and of depth, and of batches."""

    panels: tuple[int, int]
    depth: tuple[int, int]
    batches: tuple[int, int]


class Weights:
    """Weights of taps or batches, each of ``depth`` rows and ``columns`` columns.

    A part lies panel after panel of columns, each with the rows of one batch or tap after another.
    Stored transposed, with the depth along lanes, it lies batch after batch, each panel after panel
    of the depth, with a row for each column.

    Parameters
    ----------
    outer
        Count and stride of what is outside of depth and columns: batches, or lines and columns of
        taps.
    depth, columns
        Count and stride.
    natural
        Whether columns lie along lanes.
    batched
        Whether a part is of some batches; else of everything in ``outer``.
    """

    def __init__(self, config: TpuConfig, access: Access, outer: tuple[tuple[int, int], ...],
                 depth: tuple[int, int], columns: tuple[int, int], natural: bool, batched: bool,
                 source: str):
        self.access, self.outer, self.batched = access, outer, batched
        self.depth, self.columns, self.natural = depth, columns, natural
        self.dim, self.source = config.dim, source
        self.panels = ceil_div(columns[0], config.dim)
        #: Taps or batches in all.
        self._count = math.prod(count for count, _ in outer)
        self.resident = operand_home(access, config.dim, right=True, source=source)
        self._box = None if self.resident else Box.of(access)

    def _size(self, part: WeightBlock) -> tuple[int, int, int]:
        """Batches or taps, elements of depth, columns."""
        k0, k1 = part.depth
        n0, n1 = part.panels
        return (part.batches[1] - part.batches[0] if self.batched else self._count,
                min(self.depth[0], k1 * self.dim) - k0 * self.dim,
                min(self.columns[0], n1 * self.dim) - n0 * self.dim)

    def rows(self, part: WeightBlock) -> int:
        """Rows of the unified buffer that a part takes."""
        if self.resident is not None:
            return 0
        outer, depth, columns = self._size(part)
        if self.natural:
            return outer * depth * (part.panels[1] - part.panels[0])
        return outer * (part.depth[1] - part.depth[0]) * columns

    def loads(self, part: WeightBlock, row: int, k0: int, k1: int) -> list[list[CodeOp]]:
        """Load panels [k0, k1) of the depth of a part that lies from ``row`` on.

        Returns
        -------
        list of list of Op
            A list for each panel of columns, or one for all.
        """
        if self._box is None:
            return []
        dim = self.dim
        outer, depth, columns = self._size(part)
        size = [(outer, self.outer[0][1])] if self.batched else self.outer
        n0 = part.panels[0]
        rows = min(self.depth[0], k1 * dim) - k0 * dim
        first = (k0 * dim * self.depth[1] + n0 * dim * self.columns[1]
                 + (part.batches[0] * self.outer[0][1] if self.batched else 0))
        step = depth if self.natural else (part.depth[1] - part.depth[0]) * columns
        last = (rows, self.depth[1]) if self.natural else (columns, self.columns[1])
        sizes, strides = zip(*size, last, strict=True)
        steps = [1]
        for count, _ in reversed(size):
            steps.insert(0, step)
            step *= count
        box = self._box.moved(first).shaped(sizes, strides)
        if not self.natural:
            return [box.transfers(nodes.load, Mem.UB, row + (k0 - part.depth[0]) * columns, steps,
                                  rows, columns, dim, self.source)]
        return [box.moved(n * dim * self.columns[1]).transfers(
                    nodes.load, Mem.UB, row + (k0 - part.depth[0]) * dim + n * outer * depth,
                    steps, min(dim, columns - n * dim), 0, dim, self.source)
                for n in range(part.panels[1] - n0)]

    def tile(self, part: WeightBlock, row: int, outer: int, n: int, k: int) -> tuple[int, int]:
        """First row and number of rows of the tile of a batch or tap, of panels n and k."""
        dim = self.dim
        if self.resident is not None:
            first, layout = self.resident
            outer += part.batches[0] if self.batched else 0
            steps = layout.steps(stride for _, stride in self.outer)
            for (size, _), step in zip(reversed(self.outer), reversed(steps), strict=True):
                first += outer % size * step
                outer //= size
            return first + n * layout.rows + k * dim, min(dim, self.depth[0] - k * dim)
        count, depth, columns = self._size(part)
        k, n = k - part.depth[0], n - part.panels[0]
        if self.natural:
            return (row + n * count * depth + outer * depth + k * dim, min(dim, depth - k * dim))
        block = (part.depth[1] - part.depth[0]) * columns
        return row + outer * block + k * columns + n * dim, min(dim, columns - n * dim)
