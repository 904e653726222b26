"""Activations of a product: rows that a block needs, double buffered, and streams of matmuls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from celosia.arch.config import TpuConfig
from celosia.arch.isa import MatmulFormat, Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import Dst, Src, VectorOp
from celosia.arch.words import ceil_div
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.emit.boxes import Box
from celosia.compiler.layout import operand_home
from celosia.compiler.lowered import Access
from celosia.compiler.views import merged

__all__ = ["Acts", "Area", "Patch", "Window"]


def _stream(row: int, sizes: Sequence[int], strides: Sequence[int]) -> Stream:
    """Return rows, outermost dimension first, as a stream of as few dimensions as they take."""
    counts, (steps,) = merged(sizes, strides)
    n2, n1, n0 = (1, 1, 1, *counts)[-3:]
    s2, s1, s0 = (0, 0, 0, *steps)[-3:]
    return Stream(row, (n0, n1, n2), (s0, s1, s2))


@dataclass(frozen=True)
class Window:
    """Taps along one dimension: how many, and steps of the results and of the taps."""

    taps: int = 1
    stride: int = 1
    dilation: int = 1

    def extent(self, results: int) -> int:
        """Activations along the dimension that so many results need."""
        return (results - 1) * self.stride + (self.taps - 1) * self.dilation + 1


@dataclass(frozen=True)
class Patch:
    """Results of a block: first index and count along images, their rows and their columns."""

    images: tuple[int, int]
    rows: tuple[int, int]
    columns: tuple[int, int]


@dataclass(frozen=True)
class Area:
    """Where activations of a block lie: first row, rows of a panel, rows of an image and a line."""

    row: int
    panel: int
    image: int
    line: int
    column: int = 1


class Acts:
    """Activations, seen as images of lines of pixels of ``depth`` channels.

    Those of a dot are images of one line (batches), whose pixels are the rows of a batch.

    Parameters
    ----------
    access
        Of a view whose last dimension is the depth.
    shape
        Images, lines and columns of the *results*.
    strides
        Elements from one image, line and column of the activations to the next.
    depth, depth_stride
        Channels, and elements from one to the next; other than 1 where columns lie along lanes.
    windows
        Taps along lines and columns.
    """

    def __init__(self, config: TpuConfig, access: Access, fmt: MatmulFormat,
                 shape: tuple[int, int, int], strides: tuple[int, int, int], depth: int,
                 depth_stride: int, natural: bool, windows: tuple[Window, Window], source: str):
        self.access, self.shape, self.strides = access, shape, strides
        self.depth, self.depth_stride, self.windows = depth, depth_stride, windows
        self.dim, self.source = config.dim, source
        self.panels = ceil_div(depth, config.dim)
        self.transposed = not natural
        self.resident = operand_home(access, config.dim, right=False, source=source)
        self._box = None if self.resident else Box.of(access)
        self._kind = ((Dst.UB_I8, Src.UB_I8) if fmt == MatmulFormat.INT8
                      else (Dst.UB_BF16, Src.UB_BF16))

    def patch(self, first: int, count: int) -> Patch:
        """Return rows of the result, which are a box, as images, lines and columns."""
        images, lines, columns = self.shape
        image, rest = divmod(first, lines * columns)
        line, column = divmod(rest, columns)
        if rest == 0 and count % (lines * columns) == 0:
            return Patch((image, count // (lines * columns)), (0, lines), (0, columns))
        if column == 0 and count % columns == 0 and line + count // columns <= lines:
            return Patch((image, 1), (line, count // columns), (0, columns))
        assert column + count <= columns, (first, count, self.shape)
        return Patch((image, 1), (line, 1), (column, count))

    def _extents(self, patch: Patch) -> tuple[int, int, int]:
        down, across = self.windows
        columns = across.extent(patch.columns[1])
        if self.transposed:
            columns = ceil_div(columns, self.dim) * self.dim
        return patch.images[1], down.extent(patch.rows[1]), columns

    def rows(self, patch: Patch) -> int:
        """Rows of a panel of what a patch needs; none where it is on chip already."""
        if self.resident is not None:
            return 0
        images, lines, columns = self._extents(patch)
        return images * lines * columns

    def area(self, patch: Patch, row: int) -> Area:
        """Return how a patch lies from ``row`` on, or where it is on chip already."""
        down, across = self.windows
        if self.resident is not None:
            first, layout = self.resident
            image, line, column = layout.steps(self.strides)
            first += (patch.images[0] * image + patch.rows[0] * down.stride * line
                      + patch.columns[0] * across.stride * column)
            return Area(first, layout.rows, image, line, column)
        images, lines, columns = self._extents(patch)
        return Area(row, images * lines * columns, lines * columns, columns)

    def _first(self, patch: Patch) -> int:
        down, across = self.windows
        image, line, column = self.strides
        return (patch.images[0] * image + patch.rows[0] * down.stride * line
                + patch.columns[0] * across.stride * column)

    def columns(self, k0: int, k1: int) -> int:
        """Return how much of the depth is in panels [k0, k1)."""
        return min(self.depth, k1 * self.dim) - k0 * self.dim

    def loads(self, patch: Patch, area: Area, k0: int, k1: int, first: int) -> list[CodeOp]:
        """Load panels [k0, k1); ``first`` is the panel that lies at the beginning of the area."""
        if self._box is None:
            return []
        down, across = self.windows
        box = self._box.moved(self._first(patch) + k0 * self.dim).shaped(
            (patch.images[1], down.extent(patch.rows[1]), across.extent(patch.columns[1])),
            self.strides)
        return box.transfers(nodes.load, Mem.UB, area.row + (k0 - first) * area.panel,
                             (area.image, area.line, area.column), self.columns(k0, k1),
                             area.panel, self.dim, self.source)

    def raw_loads(self, patch: Patch, area: Area, raw: int, k0: int, k1: int,
                  first: int) -> list[CodeOp]:
        """Load panels [k0, k1), columns along lanes: D rows for D columns of a panel and image."""
        assert self._box is not None, self.source
        out = []
        for k in range(k0, k1):
            for image in range(patch.images[1]):
                at = raw + (k - first) * area.panel + image * area.image
                element = (self._first(patch) + image * self.strides[0]
                           + k * self.dim * self.depth_stride)
                box = self._box.moved(element).shaped((self.columns(k, k + 1),),
                                                      (self.depth_stride,))
                out += box.transfers(nodes.load, Mem.UB, at, 1, patch.columns[1], self.dim,
                                     self.dim, self.source)
        return out

    def turns(self, area: Area, raw: int, k0: int, k1: int, first: int) -> list[CodeOp]:
        """Transpose panels [k0, k1) that `raw_loads` loaded."""
        return [self._turn(area.row + (k - first) * area.panel, raw + (k - first) * area.panel,
                           area.panel) for k in range(k0, k1)]

    def _turn(self, to: int, row: int, count: int) -> CodeOp:
        dst, src = self._kind
        return nodes.vector(VectorOp.TRANSPOSE, dst, to, count, ((src, row),), source=self.source)

    def turned(self, to: Access, rows: tuple[int, int], row: int, at: int, k: int) -> list[CodeOp]:
        """Store the transpose of panel k of a range of a dot's rows, which are whole tiles.

        Parameters
        ----------
        to
            Where the transpose of all rows goes: (depth, rows).
        rows
            First row and count.
        row, at
            Where the panel lies, and the rows to transpose it to.
        """
        first, count = rows
        pitch = to.view.strides[0]
        return [self._turn(at, row, count),
                Box.of(to).transfer(nodes.store, Mem.UB, at, self.columns(k, k + 1), count, pitch,
                                    1, self.dim, self.source, at=k * self.dim * pitch + first)]

    def zeros(self, raw: int, rows: int) -> list[CodeOp]:
        """Clear the rows of the last panel beyond the depth, of ``rows`` rows from ``raw`` on.

        What is left there could be a NaN, which no zero weight removes.
        """
        deep = self.depth % self.dim
        if not deep:
            return []
        return [nodes.vector(VectorOp.MOV, self._kind[0], raw + deep, self.dim - deep,
                             ((Src.SCALAR, 0),), n1=rows // self.dim, xdst=(1, self.dim, 0),
                             source=self.source)]

    def stream(self, patch: Patch, area: Area, k: int, tap: tuple[int, int],
               image: int | None = None) -> Stream:
        """Return the rows of panel ``k`` (from the area's first) under a tap.

        ``image``: of this one of the patch only.
        """
        down, across = self.windows
        row = (area.row + k * area.panel + tap[0] * down.dilation * area.line
               + tap[1] * across.dilation * area.column + (image or 0) * area.image)
        sizes = patch.images[1] if image is None else 1, patch.rows[1], patch.columns[1]
        return _stream(row, sizes, (area.image, down.stride * area.line,
                                    across.stride * area.column))
