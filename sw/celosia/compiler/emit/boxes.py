"""Strided boxes of elements in external memory, and the loads and stores of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

from celosia.arch.config import COUNT_MAX
from celosia.arch.isa import DmaFormat, Mem
from celosia.compiler.codegen.nodes import Base, CodeOp
from celosia.compiler.lowered import Access, External
from celosia.compiler.views import View, merged

__all__ = ["Box"]


class Box(NamedTuple):
    """Elements (i, j, ..) that lie ``i * strides[0] + j * strides[1] + ..`` from the first one.

    Attributes
    ----------
    fmt
        How an element lies in memory; perhaps words, where the tensor's elements are shorter.
    addr
        Byte of the arena of the first element.
    sizes, strides
        In elements, outermost dimension first.
    base
        Bytes that are added at run time, or None.
    reach
        With ``base``: first and last byte of the arena that may be touched.
    """

    fmt: DmaFormat
    addr: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    base: Base | None = None
    reach: tuple[int, int] | None = None

    @classmethod
    def of(cls, access: Access, view: View | None = None) -> Box:
        """Return an access to external memory as a box; ``view``: of these elements instead."""
        tensor, shown = access.tensor, access.view if view is None else view
        home, reach = tensor.home, None
        assert isinstance(home, External), tensor.name
        if access.base is not None:
            reach = home.offset, home.offset + tensor.nbytes - 1
        return cls(tensor.format, home.offset + shown.offset * tensor.format.nbytes, shown.shape,
                   shown.strides, access.base, reach)

    def moved(self, elements: int) -> Box:
        """Return a box of the same form that begins so many elements on."""
        return Box(self.fmt, self.addr + elements * self.fmt.nbytes, self.sizes, self.strides,
                   self.base, self.reach)

    def shaped(self, sizes: Sequence[int], strides: Sequence[int]) -> Box:
        """Return a box of another form that begins with the same element."""
        return Box(self.fmt, self.addr, tuple(sizes), tuple(strides), self.base, self.reach)

    def words(self) -> Box | None:
        """Return the same elements as words that hold several; None where no such words are."""
        ratio = DmaFormat.W32.nbytes // self.fmt.nbytes
        if ratio == 1 or not self.sizes or self.base is not None or (
                self.addr % DmaFormat.W32.nbytes):
            return None
        *outer, last = self.strides
        if last != 1 or self.sizes[-1] % ratio or any(stride % ratio for stride in outer):
            return None
        return Box(DmaFormat.W32, self.addr, (*self.sizes[:-1], self.sizes[-1] // ratio),
                   (*(stride // ratio for stride in outer), 1))

    def transfer(self, make: Callable[..., CodeOp], mem: Mem, row: int, rows: int, cols: int,
                 pitch: int, row_step: int = 1, group_step: int = 0, source: str = "", *,
                 at: int = 0, fmt: DmaFormat | None = None) -> CodeOp:
        """Return one load or store.

        Parameters
        ----------
        make
            `celosia.compiler.codegen.nodes.load` or ``store``.
        row, row_step, group_step
            First on-chip row, and rows from row to row, and from one D elements of a row to the
            next.
        rows, cols, pitch
            How many rows of how many elements, and elements from one row to the next.
        source
            What the operation comes from.
        at
            Elements from the box's first one to the first.
        fmt
            Another format; ``cols`` counts its elements then.
        """
        unit = self.fmt.nbytes
        return make(mem, self.fmt if fmt is None else fmt, row, self.addr + at * unit, rows, cols,
                    pitch * unit, row_step, group_step, source, base=self.base, reach=self.reach)

    def transfers(self, make: Callable[..., CodeOp], mem: Mem, row: int, steps: int | Sequence[int],
                  cols: int, group_step: int, dim: int, source: str) -> list[CodeOp]:
        """Return loads or stores of rows of which the box has the first elements.

        Parameters
        ----------
        make, mem, source
            As of `transfer`.
        row, steps
            First on-chip row, and rows to the next one along each dimension of the box; one number
            where they are as far from one another all along.
        cols
            Consecutive elements of a row.
        group_step
            On-chip rows from one D elements of a row to the next.
        dim
            D.
        """
        if isinstance(steps, int):
            step = steps
            steps = [step * math.prod(self.sizes[i + 1:]) for i in range(len(self.sizes))]
        else:
            step = steps[-1] if steps else 1
        sizes, (strides, steps) = merged(self.sizes, self.strides, steps, most=COUNT_MAX)
        # One instruction walks the longest dimension that it can, the others are written out.
        usable = [i for i, size in enumerate(sizes) if size <= COUNT_MAX and strides[i] >= 0
                  and steps[i] <= COUNT_MAX]
        rows, pitch = 1, 0
        if usable:
            walked = max(usable, key=sizes.__getitem__)
            rows, pitch, step = sizes.pop(walked), strides.pop(walked), steps.pop(walked)
        most = COUNT_MAX // dim * dim
        out = []
        for index in product(*map(range, sizes)):
            first, at = 0, row
            for i, stride, each in zip(index, strides, steps, strict=True):
                first, at = first + i * stride, at + i * each
            for column in range(0, cols, most):
                taken = min(most, cols - column)
                out.append(self.transfer(
                    make, mem, at + column // dim * group_step, rows, taken, pitch, step,
                    group_step if taken > dim else 0, source, at=first + column))
        return out
