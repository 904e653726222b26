"""Copies between strided views: what `move`, `transposed` and `fill` have in common."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.words import ceil_div
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.nodes import Base, Op
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Access, External, Region

__all__ = ["Copy", "Dim", "End", "Piece", "copy_of", "end_of", "even",
           "grids", "grouped", "memory_of", "need", "offset", "room"]


@dataclass(frozen=True)
class Dim:
    """Elements along one dimension of a copy, and elements from one to the next on each side."""

    size: int
    src: int
    dst: int


@dataclass(frozen=True)
class End:
    """Where one side of a copy begins: a byte of the arena, and what is added at run time."""

    addr: int
    base: Base | None
    reach: tuple[int, int] | None


@dataclass(frozen=True)
class Copy:
    """A copy of elements in external memory.

    Attributes
    ----------
    fmt
        Format of an element; perhaps words where the tensors' elements are shorter.
    dims
        By falling step in the target; sizes are above 1, steps in the target above 0.
    """

    fmt: DmaFormat
    src: End
    dst: End
    dims: tuple[Dim, ...]
    source: str

    def load(self, mem: Mem, row: int, at: int, rows: int, cols: int, pitch: int,
             row_step: int = 1, group_step: int = 0, fmt: DmaFormat | None = None) -> Op:
        """Load from ``at`` elements on in the source; ``pitch`` is in elements."""
        unit = self.fmt.nbytes
        return nodes.load(mem, self.fmt if fmt is None else fmt, row, self.src.addr + at * unit,
                          rows, cols, pitch * unit, row_step, group_step, self.source,
                          base=self.src.base, reach=self.src.reach)

    def store(self, mem: Mem, row: int, at: int, rows: int, cols: int, pitch: int,
              row_step: int = 1, group_step: int = 0, fmt: DmaFormat | None = None) -> Op:
        """Store from ``at`` elements on in the target; ``pitch`` is in elements."""
        unit = self.fmt.nbytes
        return nodes.store(mem, self.fmt if fmt is None else fmt, row, self.dst.addr + at * unit,
                           rows, cols, pitch * unit, row_step, group_step, self.source,
                           base=self.dst.base, reach=self.dst.reach)


def end_of(access: Access, element: int = 0) -> End:
    """Return where an access begins, ``element`` elements past the offset of its view."""
    home = access.tensor.home
    assert isinstance(home, External), access.tensor.name
    reach = None
    if access.base is not None:
        reach = (home.offset, home.offset + access.tensor.nbytes - 1)
    return End(access.address(element), access.base, reach)


def _merged(dims: list[Dim]) -> list[Dim]:
    """Join dimensions that are one run of elements on both sides."""
    out: list[Dim] = []
    for dim in dims:
        if out and (outer := out[-1]).src == dim.size * dim.src and (
                outer.dst == dim.size * dim.dst):
            out[-1] = Dim(outer.size * dim.size, dim.src, dim.dst)
        else:
            out.append(dim)
    return out


def _as_words(copy: Copy) -> Copy:
    """Return the same copy of words, if everything is aligned for it."""
    word = DmaFormat.W32.nbytes
    ratio = word // copy.fmt.nbytes
    if ratio == 1 or not copy.dims or copy.src.base or copy.dst.base:
        return copy
    *others, last = copy.dims
    if last.dst != 1 or last.src != 1 or last.size % ratio or copy.src.addr % word or (
            copy.dst.addr % word) or any(dim.src % ratio or dim.dst % ratio for dim in others):
        return copy
    dims = [Dim(dim.size, dim.src // ratio, dim.dst // ratio) for dim in others]
    if last.size > ratio:
        dims.append(Dim(last.size // ratio, 1, 1))
    return replace(copy, fmt=DmaFormat.W32, dims=tuple(dims))


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
    dims = _merged(sorted(dims, key=lambda dim: -dim.dst))
    end = end_of(dst, at_dst)
    begin = end if src is None else end_of(src, at_src)
    if src is not None and begin == end and all(dim.src == dim.dst for dim in dims):
        return None
    return _as_words(Copy(dst.tensor.format, begin, end, tuple(dims), source))


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


Piece = tuple[tuple[int, ...], tuple[int, ...]]


def grids(sizes: Sequence[int], steps: Sequence[int]) -> Iterator[list[Piece]]:
    """Cut a box into pieces of ``steps``, and what is left over at the edges.

    Yields lists of (first index, sizes); in each list all have the same sizes. The innermost
    dimension of a list is the one that has most often an even number of pieces.
    """
    cuts = []
    for size, step in zip(sizes, steps, strict=True):
        whole = size // step
        parts = [(range(0, whole * step, step), step)] if whole else []
        if size % step:
            parts.append((range(whole * step, size, step), size % step))
        cuts.append(parts)
    for parts in product(*cuts):
        counts = tuple(count for _, count in parts)
        lengths = [len(firsts) for firsts, _ in parts]
        order = sorted(range(len(parts)), key=lambda dim: (lengths[dim] & -lengths[dim]
                                                           if lengths[dim] > 1 else 0))
        back = sorted(range(len(order)), key=lambda i: order[i])
        yield [(tuple(first[i] for i in back), counts)
               for first in product(*(parts[dim][0] for dim in order))]


def even(size: int, most: int, multiple: int = 1) -> int:
    """Return a step, at most ``most``, that cuts ``size`` into parts of about one size."""
    most = max(most // multiple * multiple, multiple)
    if size <= most:
        return size
    return ceil_div(ceil_div(size, ceil_div(size, most)), multiple) * multiple


def grouped(pieces: list[Piece], most: int) -> Iterator[list[Piece]]:
    """Put pieces of one grid into groups of at most ``most``; they repeat from run to run."""
    runs = 1  # pieces along the innermost dimension
    if len(pieces) > 1:
        (first, _), (second, _) = pieces[:2]
        [inner] = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
        runs = len({index[inner] for index, _ in pieces})
    whole = runs * max(most // runs, 1)
    for run in range(0, len(pieces), whole):
        end = min(run + whole, len(pieces))
        step = even(end - run, most)
        for at in range(run, end, step):
            yield pieces[at:min(at + step, end)]


def offset(first: Sequence[int], strides: Sequence[int]) -> int:
    """Return how far an index is from the first one."""
    return sum(i * step for i, step in zip(first, strides, strict=True))
