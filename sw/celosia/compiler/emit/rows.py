"""Emission of `lowered.GatherRows` and `lowered.ScatterRows`: rows of a table that indices name.

A table goes through the accumulators, some panels of D columns at a time, and in parts of rows
where it is too high. An index that is not in a part then names the row after it: zeros for a
gather, whose parts are joined by an or; for a scatter a row that is never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from celosia.arch.commands import Load
from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.vector import TABLE_LIMIT, Dst, Src, VectorOp
from celosia.arch.words import WORD_MASK, ceil_div
from celosia.compiler import cycles
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.emit.boxes import Box
from celosia.compiler.emit.fold import Turn, fold_loops
from celosia.compiler.emit.pieces import even
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Access, GatherRows, Region, ScatterRows

__all__ = ["emit_gather", "emit_scatter"]

#: Rows that one instruction gathers, where there is room: enough that its start does not count.
_ROWS = 256
#: On-chip rows of several panels of a table that are enough, too.
_TABLE_ROWS = 256


def _matrix(access: Access, source: str) -> Box:
    """Return a matrix as a box of its rows and columns."""
    (rows, columns), (pitch, step) = access.view.shape, access.view.strides
    if columns > 1 and step != 1 or rows > 1 and pitch < 0:
        raise CompileError(f"{source or 'rows'}: rows of {access.tensor.name} must be in order "
                           f"and elements of a row one after another, not {access.view}")
    return Box.of(access).shaped((rows, columns), (pitch if rows > 1 else 0, 1))


def _as_words(a: Box, b: Box) -> tuple[Box, Box]:
    """Return two matrices of words, if the rows of both are."""
    words = a.words(), b.words()
    return (words[0], words[1]) if words[0] and words[1] else (a, b)


def _transfer(make: Callable[..., CodeOp], box: Box, row: int, first: int, rows: int, column: int,
              columns: int, source: str) -> CodeOp:
    """Load or store rows of a matrix from ``first`` and columns from ``column`` on."""
    pitch = box.strides[0]
    return box.transfer(make, Mem.ACC, row, rows, columns, pitch, 1, rows, source,
                        at=first * pitch + column)


class _Place(NamedTuple):
    """What one turn works on.

    Attributes
    ----------
    at, to
        Rows on chip: of the part of the table, and of the rows that go out of it or into it.
    part, column, columns
        First row of the part, its first column, and columns.
    first
        First of the rows that go out or in.
    new, last
        Whether something must be loaded before: the part; and whether what is made is stored.
    joined
        Whether other parts have given rows before, which those of this one are joined with.
    """

    at: int
    to: int
    part: int
    column: int
    columns: int
    first: int
    new: bool
    last: bool
    joined: bool = False


class _Plan:
    """Sizes of parts, and the accumulator rows of everything.

    Parameters
    ----------
    table, other
        The table, and the rows that go out of it or into it.
    spare
        Places of ``other`` that are needed beside the two that alternate, in a table of parts.
    """

    def __init__(self, config: TpuConfig, table: Box, other: Box, indices: Access,
                 region: Region, source: str, spare: int):
        self.table, self.other, self.source = table, other, source
        self.config, self.dim = config, config.dim
        self.rows, columns = table.sizes
        self.count = other.sizes[0]
        self.free = region.acc
        shape, strides = indices.view.shape, indices.view.strides
        if len(shape) != 1 or (shape[0] > 1 and strides[0] != 1):
            raise CompileError(f"{source or 'a gather'} must have indices that lie one after "
                               f"another, not {indices.view}")
        self.indices = Box.of(indices)
        self.panels = ceil_div(columns, self.dim)
        self._choose(spare)

    def _choose(self, spare: int) -> None:
        """Choose rows of a turn, panels of a turn, and rows of a part of the table."""
        most, dim, rows = len(self.free), self.dim, self.rows
        index_rows = ceil_div(self.count, dim)
        #: Whether indices are loaded turn by turn.
        self.fetched = index_rows > most // 8
        self.kept = 0 if self.fetched else index_rows
        enough = min(index_rows, max(_ROWS // dim // 2, 1))
        #: Places of rows that go in or out.
        self.turns = 2
        for places, wide in self._whole_tables():
            tables = places * wide * rows
            # A group of D rows has a row of indices.
            group = self.turns * wide * dim + 2 * self.fetched
            groups = (most - tables - self.kept) // max(group, 1)
            if groups >= enough:
                self.wide, self.places, self.part = wide, places, rows
                self.turn = min(even(self.count, min(groups * dim, 2 * _ROWS), dim), self.count)
                break
        else:
            self._parts(spare)
        self._place(spare)

    def _whole_tables(self) -> Iterator[tuple[int, int]]:
        """Places of the table and panels of a turn, best first, where all its rows are there."""
        rows = self.rows
        if rows > TABLE_LIMIT:
            return
        most = min(_TABLE_ROWS, len(self.free) // 8)
        for places in (2, 1):
            for wide in range(min(self.panels, 8), 0, -1):
                if wide == 1 or wide * rows <= most:
                    yield places, wide

    def _parts(self, spare: int) -> None:
        """Choose rows of a part and of a turn, for the least time.

        Raises
        ------
        CompileError
            If not even a few rows fit.
        """
        most, dim, rows = len(self.free), self.dim, self.rows
        if spare:
            self.turns = 1  # rows go out after the last part only
        self.wide, self.places = 1, 2
        gather = cycles.vector(self.config, VectorOp.GATHER, Src.ACC, Src.ACC)
        best = None
        groups = ceil_div(self.count, dim)
        while groups:
            turn = min(groups * dim, self.count)
            taken = groups * (dim * (self.turns + spare) + 1 + 2 * self.fetched)
            part = (most - self.kept - taken) // 2 - 1
            if part >= 1:
                part = even(rows, min(part, TABLE_LIMIT - 1))
                # Of the unit that has most to do.
                loads = cycles.transfer(self.config, Load, part + (0 if spare else turn), dim, 4)
                each = (max(loads.occupied, turn * (1 + spare))
                        + cycles.behind(loads) + cycles.behind(gather))
                cost = ceil_div(self.count, turn) * ceil_div(rows, part) * each
                if best is None or cost < best:
                    best, self.part, self.turn = cost, part, turn
            groups //= 2
        if best is None:
            raise CompileError(f"{self.source or 'a gather'} must have more than {most} rows of "
                               "accumulators for a table and what goes in or out of it")

    def _place(self, spare: int) -> None:
        """Give rows to everything."""
        dim, at = self.dim, self.free.start
        self.parted = self.part < self.rows
        self.height = self.part + self.parted
        tables = self.wide * self.height
        self.tables = [at + i * tables for i in range(self.places)]
        at += self.places * tables
        groups = ceil_div(self.turn, dim)
        each = groups * dim * self.wide
        self.others = [at, at + each * (self.turns > 1)]
        at += self.turns * each
        self.spare = at
        at += each * spare * self.parted
        self.adjusted = at
        at += groups * self.parted
        self.index = [at, at + groups * self.fetched]
        at += self.kept + 2 * groups * self.fetched
        assert at <= self.free.stop, (self.source, at, self.free)

    def load_indices(self, row: int, first: int, count: int) -> list[CodeOp]:
        """Load indices into rows of D."""
        step = COUNT_MAX // self.dim * self.dim
        return [self.indices.transfer(nodes.load, Mem.ACC, row + at // self.dim, 1,
                                      min(step, count - at), 0, 1, 1, self.source, at=first + at)
                for at in range(0, count, step)]

    def before(self) -> list[CodeOp]:
        """Return what is done once: indices, and rows of zeros after the parts of a table."""
        out: list[CodeOp] = []
        if not self.fetched:
            out += self.load_indices(self.index[0], 0, self.count)
        if self.parted:
            out += [nodes.vector(VectorOp.MOV, Dst.ACC, at + self.part, 1, ((Src.SCALAR, 0),),
                                 source=self.source) for at in self.tables]
        return out

    def table_row(self, number: int) -> int:
        """Return the row of the ``number``-th part of the table that is on chip."""
        return self.tables[number % self.places]

    def sizes(self, place: _Place) -> tuple[int, int]:
        """Return the rows of the table's part, and those that go out of it or into it."""
        return min(self.part, self.rows - place.part), min(self.turn, self.count - place.first)

    def turn_at(self, number: int, place: _Place) -> Turn:
        """Return a turn."""
        rows, count = self.sizes(place)
        return Turn((rows, count, place.columns, place.new, place.last, place.joined),
                    (place.at, place.to, place.part, place.column, place.first,
                     self.index[number % 2]))

    def chosen(self, block: int, first: int, count: int, start: int) -> tuple[int, list[CodeOp]]:
        """Return the row of the indices of rows ``first`` .. within the part from ``start`` on."""
        row = self.index[block % 2] + (0 if self.fetched else first // self.dim)
        if not self.parted:
            return row, []
        rows = ceil_div(count, self.dim)
        at = self.adjusted
        # Below the part it becomes negative, and without its sign far above.
        return at, [
            nodes.vector(VectorOp.ISUB, Dst.ACC, at, rows, ((Src.ACC, row), (Src.SCALAR, start)),
                         source=self.source),
            nodes.vector(VectorOp.AND, Dst.ACC, at, rows,
                         ((Src.ACC, at), (Src.SCALAR, WORD_MASK >> 1)), source=self.source),
            nodes.vector(VectorOp.IMIN, Dst.ACC, at, rows,
                         ((Src.ACC, at), (Src.SCALAR, self.part)), source=self.source)]

    def groups(self, op: VectorOp, dst: int, src: int, index: int, count: int) -> list[CodeOp]:
        """Gather or scatter ``count`` rows; the last ones where they are no group of D."""
        whole, rest = count // self.dim, count % self.dim
        out = []
        for at, rows, n1 in ((0, self.dim, whole), (whole * self.dim, rest, 1)):
            if rows and n1:
                moves = op == VectorOp.GATHER
                out.append(nodes.vector(
                    op, Dst.ACC, dst + at * moves, rows,
                    ((Src.ACC, src + at * (not moves)), (Src.ACC, index + at // self.dim)),
                    param=self.height, source=self.source, n1=n1))
        return out


def emit_gather(config: TpuConfig, gather: GatherRows, region: Region) -> Emitted:
    """Return the operations that take rows out of a table.

    A bf16 goes as it is where rows are words; else a subnormal number becomes zero, and a NaN any
    NaN.

    Raises
    ------
    CompileError
        If the region is too small, or indices or elements of rows do not lie one after another.
    """
    source = gather.source
    table, out = _matrix(gather.table, source), _matrix(gather.dst, source)
    if 0 in out.sizes:
        return Emitted()
    table, out = _as_words(table, out)
    (height, width), count = table.sizes, out.sizes[0]
    plan = _Plan(config, table, out, gather.indices, region, source, spare=1)
    dim, number, places = config.dim, 0, []
    parts = range(0, height, plan.part)
    # The table stays where all of it is there; else its parts come again for each turn.
    turns = range(0, count, plan.turn)
    for outer in turns if plan.parted else (None,):
        for column in range(0, width, plan.wide * dim):
            columns = min(plan.wide * dim, width - column)
            for part, first in ([(part, outer) for part in parts] if outer is not None else
                                [(0, first) for first in turns]):
                new = plan.parted or first == 0
                at = plan.table_row(number if new else number - 1)
                number += new
                places.append(_Place(at, plan.others[len(places) // len(parts) % 2], part, column,
                                     columns, first, new, part == parts[-1], part > 0))
    return Emitted(plan.before(), fold_loops(
        [plan.turn_at(i, place) for i, place in enumerate(places)],
        lambda i: _gathered(plan, i, places[i]),
        [len(parts) if plan.parted else len(turns), ceil_div(width, plan.wide * dim)], 2))


def _gathered(plan: _Plan, number: int, place: _Place) -> Block:
    """Return the block of one turn."""
    at, to, part, column, columns, first, *_ = place
    rows, count = plan.sizes(place)
    loads, stores = [], []
    if place.new:
        loads.append(_transfer(nodes.load, plan.table, at, part, rows, column, columns,
                               plan.source))
    if plan.fetched:
        loads += plan.load_indices(plan.index[number % 2], first, count)
    index, work = plan.chosen(number, first, count, part)
    for p in range(ceil_div(columns, plan.dim)):
        src, dst = at + p * rows, to + p * count
        work += plan.groups(VectorOp.GATHER, plan.spare if place.joined else dst, src, index, count)
        if place.joined:
            work.append(nodes.vector(VectorOp.OR, Dst.ACC, dst, count,
                                     ((Src.ACC, dst), (Src.ACC, plan.spare)), source=plan.source))
    if place.last:
        stores.append(_transfer(nodes.store, plan.other, to, first, count, column, columns,
                                plan.source))
    return Block([loads, work, stores])


def emit_scatter(config: TpuConfig, scatter: ScatterRows, region: Region) -> Emitted:
    """Return the operations that put rows into a table, in place.

    The whole table goes through the chip. A bf16 goes as it is where rows are words; else a
    subnormal number becomes zero, and a NaN any NaN.

    Raises
    ------
    CompileError
        As `emit_gather`.
    """
    source = scatter.source
    table, given = _matrix(scatter.table, source), _matrix(scatter.updates, source)
    if 0 in given.sizes:
        return Emitted()
    table, given = _as_words(table, given)
    (height, width), count = table.sizes, given.sizes[0]
    plan = _Plan(config, table, given, scatter.indices, region, source, spare=0)
    dim, number, places = config.dim, 0, []
    for column in range(0, width, plan.wide * dim):
        columns = min(plan.wide * dim, width - column)
        for part in range(0, height, plan.part):
            at = plan.table_row(number)
            number += 1
            for first in range(0, count, plan.turn):
                places.append(_Place(at, plan.others[len(places) % 2], part, column, columns, first,
                                     first == 0, first + plan.turn >= count))
    return Emitted(plan.before(), fold_loops(
        [plan.turn_at(i, place) for i, place in enumerate(places)],
        lambda i: _scattered(plan, i, places[i]),
        [ceil_div(count, plan.turn), ceil_div(height, plan.part)], 2))


def _scattered(plan: _Plan, number: int, place: _Place) -> Block:
    """Return the block of one turn."""
    at, to, part, column, columns, first, *_ = place
    rows, count = plan.sizes(place)
    moved = at, part, rows, column, columns, plan.source
    loads = [_transfer(nodes.load, plan.table, *moved)] if place.new else []
    if plan.fetched:
        loads += plan.load_indices(plan.index[number % 2], first, count)
    loads.append(_transfer(nodes.load, plan.other, to, first, count, column, columns, plan.source))
    index, work = plan.chosen(number, first, count, part)
    for p in range(ceil_div(columns, plan.dim)):
        work += plan.groups(VectorOp.SCATTER, at + p * rows, to + p * count, index, count)
    if place.last:
        work.append(_transfer(nodes.store, plan.table, *moved))
    return Block([loads, work])
