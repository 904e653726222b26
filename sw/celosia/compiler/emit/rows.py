"""Emission of `lowered.GatherRows` and `lowered.ScatterRows`: rows of a table that indices name.

A table goes through the accumulators, some panels of D columns at a time, and in parts of rows
where it is too high. An index that is not in a part then names the row after it: zeros for a
gather, whose parts are joined by an or; for a scatter a row that is never stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.vector import TABLE_LIMIT, Dst, Src, VectorOp
from celosia.arch.words import WORD_MASK, ceil_div
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.codegen.nodes import Op
from celosia.compiler.emit.resident import destination, source_kind, whole
from celosia.compiler.emit.strided import End, end_of, even
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Access, GatherRows, OnChip, Region, ScatterRows

__all__ = ["emit_gather", "emit_scatter"]

#: Rows that one instruction gathers, where there is room: enough that its start does not count.
_ROWS = 256
#: On-chip rows of several panels of a table that are enough, too.
_TABLE_ROWS = 256
#: Cycles that a part costs beside its rows, about.
_START = 100


@dataclass(frozen=True)
class _Rows:
    """A matrix: its columns, and where they lie."""

    access: Access
    rows: int
    columns: int
    pitch: int
    fmt: DmaFormat
    source: str

    @classmethod
    def of(cls, access: Access, source: str) -> _Rows:
        rows, columns = access.view.shape
        pitch, step = access.view.strides
        if columns > 1 and step != 1 or rows > 1 and pitch < 0:
            raise CompileError(f"{source or 'rows'}: rows of {access.tensor.name} must be in order "
                               f"and elements of a row one after another, not {access.view}")
        if isinstance(access.tensor.home, OnChip):
            whole(access, source)
        return cls(access, rows, columns, pitch if rows > 1 else 0, access.tensor.format, source)

    @property
    def home(self) -> OnChip | None:
        """Where the matrix lies, if that is on chip."""
        home = self.access.tensor.home
        return home if isinstance(home, OnChip) else None

    @property
    def end(self) -> End:
        return end_of(self.access)

    def words_ratio(self) -> int:
        """How many elements one word has, where all rows are words; else 1."""
        ratio = 4 // self.fmt.nbytes
        if self.home is not None or self.end.base is not None or self.end.addr % 4 or (
                self.columns % ratio or self.pitch % ratio):
            return 1
        return ratio

    def as_words(self, ratio: int) -> _Rows:
        if ratio == 1:
            return self
        return _Rows(self.access, self.rows, self.columns // ratio, self.pitch // ratio,
                     DmaFormat.W32, self.source)

    def transfer(self, op: str, row: int, first: int, rows: int, column: int, columns: int) -> Op:
        """Load or store rows from ``first`` and columns from ``column`` on."""
        end, unit = self.end, self.fmt.nbytes
        make = nodes.load if op == "load" else nodes.store
        return make(Mem.ACC, self.fmt, row, end.addr + (first * self.pitch + column) * unit, rows,
                    columns, self.pitch * unit, 1, rows, self.source, base=end.base,
                    reach=end.reach)


class _Plan:
    """Sizes of parts, and the accumulator rows of everything.

    Parameters
    ----------
    table, other
        The table, and the rows that go out of it or into it.
    spare
        Places of ``other`` that are needed beside the two that alternate, in a table of parts.
    """

    def __init__(self, config: TpuConfig, table: _Rows, other: _Rows, indices: Access,
                 region: Region, source: str, spare: int):
        self.config, self.table, self.other, self.source = config, table, other, source
        self.indices = indices
        self.dim = config.dim
        self.count = other.rows
        self.free = region.acc
        if table.rows > TABLE_LIMIT and table.home is not None:
            raise CompileError(f"{source or 'a table'}: a table on chip must have at most "
                               f"{TABLE_LIMIT} rows, not {table.rows}")
        shape, strides = indices.view.shape, indices.view.strides
        if len(shape) != 1 or (shape[0] > 1 and strides[0] != 1):
            raise CompileError(f"{source or 'a gather'} must have indices that lie one after "
                               f"another, not {indices.view}")
        if isinstance(indices.tensor.home, OnChip) and (
                whole(indices, source).mem != Mem.ACC or len(indices.tensor.shape) != 1):
            raise CompileError(f"{source or 'a gather'} must have indices that are a vector in the "
                               f"accumulators, not {list(indices.tensor.shape)} on chip")
        self.panels = ceil_div(table.columns, self.dim)
        self._choose(spare)

    def _choose(self, spare: int) -> None:
        """Choose rows of a turn, panels of a turn, and rows of a part of the table."""
        most, dim, rows = len(self.free), self.dim, self.table.rows
        index_rows = ceil_div(self.count, dim)
        resident = isinstance(self.indices.tensor.home, OnChip)
        #: Whether indices are loaded turn by turn.
        self.fetched = not resident and index_rows > most // 8
        self.kept = 0 if resident or self.fetched else index_rows
        enough = min(index_rows, max(_ROWS // dim // 2, 1))
        #: Places of rows that go in or out.
        self.turns = 0 if self.other.home else 2
        for places, wide in self._whole_tables():
            tables = 0 if self.table.home else places * wide * rows
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
        rows = self.table.rows
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
        most, dim, rows = len(self.free), self.dim, self.table.rows
        if spare:
            self.turns = min(self.turns, 1)  # rows go out after the last part only
        self.wide, self.places = 1, 2
        best = None
        groups = ceil_div(self.count, dim)
        while groups and not self.table.home:
            turn = min(groups * dim, self.count)
            taken = groups * (dim * (self.turns + spare) + 1 + 2 * self.fetched)
            part = (most - self.kept - taken) // 2 - 1
            if part >= 1:
                part = even(rows, min(part, TABLE_LIMIT - 1))
                # On-chip rows of the unit that has most to do, of words that take two cycles.
                cycles = max(2 * (part + (0 if spare else turn)), turn * (1 + spare)) + _START
                cost = ceil_div(self.count, turn) * ceil_div(rows, part) * cycles
                if best is None or cost < best:
                    best, self.part, self.turn = cost, part, turn
            groups //= 2
        if best is None:
            raise CompileError(f"{self.source or 'a gather'} must have more than {most} rows of "
                               "accumulators for a table and what goes in or out of it")

    def _place(self, spare: int) -> None:
        """Give rows to everything."""
        dim, at = self.dim, self.free.start
        self.parted = self.part < self.table.rows
        self.height = self.part + self.parted
        tables = 0 if self.table.home else self.wide * self.height
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
        home = self.indices.tensor.home
        if isinstance(home, OnChip):
            self.index = [home.row] * 2
        else:
            self.index = [at, at + groups * self.fetched]
        at += self.kept + 2 * groups * self.fetched
        assert at <= self.free.stop, (self.source, at, self.free)

    def load_indices(self, row: int, first: int, count: int) -> list[Op]:
        """Load indices into rows of D."""
        step = COUNT_MAX // self.dim * self.dim
        out = []
        for at in range(0, count, step):
            end = end_of(self.indices, first + at)
            out.append(nodes.load(Mem.ACC, DmaFormat.W32, row + at // self.dim, end.addr, 1,
                                  min(step, count - at), 0, 1, 1, self.source, base=end.base,
                                  reach=end.reach))
        return out

    def before(self) -> list[Op]:
        """Return what is done once: indices, and rows of zeros after the parts of a table."""
        out: list[Op] = []
        if not self.fetched and not isinstance(self.indices.tensor.home, OnChip):
            out += self.load_indices(self.index[0], 0, self.count)
        if self.parted:
            out += [nodes.vector(VectorOp.MOV, Dst.ACC, at + self.part, 1, ((Src.SCALAR, 0),),
                                 source=self.source) for at in self.tables]
        return out

    def table_row(self, number: int) -> int:
        """Return the row of the ``number``-th part of the table that is on chip."""
        return self.tables[number % self.places]

    def chosen(self, block: int, first: int, count: int, start: int) -> tuple[int, list[Op]]:
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

    def groups(self, op: VectorOp, kind: Dst, dst: int, src: tuple[Src, int], index: int,
               count: int) -> list[Op]:
        """Gather or scatter ``count`` rows; the last ones where they are no group of D."""
        param = self.table.rows if self.table.home else self.height
        whole, rest = count // self.dim, count % self.dim
        out = []
        for at, rows, n1 in ((0, self.dim, whole), (whole * self.dim, rest, 1)):
            if rows and n1:
                moves = op == VectorOp.GATHER
                out.append(nodes.vector(
                    op, kind, dst + at * moves, rows,
                    ((src[0], src[1] + at * (not moves)), (Src.ACC, index + at // self.dim)),
                    param=param, source=self.source, n1=n1))
        return out


def emit_gather(config: TpuConfig, gather: GatherRows, region: Region) -> Emitted:
    """Return the operations that take rows out of a table.

    A bf16 goes as it is where rows are words; else a subnormal number becomes zero, and a NaN any
    NaN.

    Raises
    ------
    CompileError
        If the region is too small, indices or elements of rows do not lie one after another, or a
        tensor on chip is not used as a whole.
    """
    table, out = (_Rows.of(access, gather.source) for access in (gather.table, gather.dst))
    if out.rows == 0 or out.columns == 0:
        return Emitted()
    ratio = min(table.words_ratio(), out.words_ratio())
    table, out = table.as_words(ratio), out.as_words(ratio)
    plan = _Plan(config, table, out, gather.indices, region, gather.source, spare=1)
    if plan.parted and out.home and out.home.mem == Mem.UB:
        raise CompileError(f"{gather.source or 'a gather'}: a table of {table.rows} rows must fit "
                           f"{len(region.acc)} accumulators where its rows go to the unified "
                           "buffer")
    emitted = Emitted(plan.before())
    dim, number = config.dim, 0
    parts = range(0, table.rows, plan.part)
    # The table stays where all of it is there; else its parts come again for each turn.
    turns = range(0, out.rows, plan.turn)
    for outer in turns if plan.parted else (None,):
        for column in range(0, table.columns, plan.wide * dim):
            columns = min(plan.wide * dim, table.columns - column)
            for part, first in ([(part, outer) for part in parts] if outer is not None else
                                [(0, first) for first in turns]):
                new = plan.parted or first == 0
                rows = min(plan.part, table.rows - part)
                block = Block([[], [], []])
                at = plan.table_row(number if new else number - 1)
                if new and not table.home:
                    block.stages[0].append(table.transfer("load", at, part, rows, column, columns))
                number += new
                _gathered(plan, emitted, block, at, rows, part, first, column, columns)
    return emitted


def _gathered(plan: _Plan, emitted: Emitted, block: Block, at: int, rows: int, part: int,
              first: int, column: int, columns: int) -> None:
    """Add the block of one turn; its part of the table begins at row ``at``."""
    table, out, dim = plan.table, plan.other, plan.dim
    number = len(emitted.blocks)
    count = min(plan.turn, out.rows - first)
    turn = first // plan.turn if plan.parted else number
    if plan.fetched:
        block.stages[0] += plan.load_indices(plan.index[number % 2], first, count)
    index, work = plan.chosen(number, first, count, part)
    if plan.parted:
        turn = number // ceil_div(table.rows, plan.part)
    to = plan.others[turn % 2]
    for p in range(ceil_div(columns, dim)):
        panel = column // dim + p
        src = (Src.ACC, at + p * rows)
        if table.home:
            src = (source_kind(table.access.tensor), table.home.row + panel * table.rows)
        dst, kind = to + p * count, Dst.ACC
        if out.home:
            dst = out.home.row + panel * out.rows + first
            kind = destination(out.access.tensor)
        if part:
            work += plan.groups(VectorOp.GATHER, Dst.ACC, plan.spare, src, index, count)
            work.append(nodes.vector(VectorOp.OR, Dst.ACC, dst, count,
                                     ((Src.ACC, dst), (Src.ACC, plan.spare)), source=plan.source))
        else:
            work += plan.groups(VectorOp.GATHER, kind, dst, src, index, count)
    block.stages[1] += work
    if not out.home and part + plan.part >= table.rows:
        block.stages[2].append(out.transfer("store", to, first, count, column, columns))
    emitted.blocks.append(block)


def emit_scatter(config: TpuConfig, scatter: ScatterRows, region: Region) -> Emitted:
    """Return the operations that put rows into a table, in place.

    The whole table goes through the chip. A bf16 goes as it is where rows are words; else a
    subnormal number becomes zero, and a NaN any NaN.

    Raises
    ------
    CompileError
        As `emit_gather`.
    """
    table, given = (_Rows.of(access, scatter.source)
                    for access in (scatter.table, scatter.updates))
    if given.rows == 0 or given.columns == 0:
        return Emitted()
    ratio = min(table.words_ratio(), given.words_ratio())
    table, given = table.as_words(ratio), given.as_words(ratio)
    plan = _Plan(config, table, given, scatter.indices, region, scatter.source, spare=0)
    emitted = Emitted(plan.before())
    dim, number = config.dim, 0
    for column in range(0, table.columns, plan.wide * dim):
        columns = min(plan.wide * dim, table.columns - column)
        for part in range(0, table.rows, plan.part):
            rows = min(plan.part, table.rows - part)
            at = plan.table_row(number)
            number += 1
            for first in range(0, given.rows, plan.turn):
                block = Block([[], []])
                if first == 0 and not table.home:
                    block.stages[0].append(table.transfer("load", at, part, rows, column, columns))
                _scattered(plan, emitted, block, at, rows, part, first, column, columns)
            if not table.home:
                emitted.blocks[-1].stages[1].append(
                    table.transfer("store", at, part, rows, column, columns))
    return emitted


def _scattered(plan: _Plan, emitted: Emitted, block: Block, at: int, rows: int, part: int,
               first: int, column: int, columns: int) -> None:
    """Add the block of one turn; its part of the table begins at row ``at``."""
    table, given, dim = plan.table, plan.other, plan.dim
    number = len(emitted.blocks)
    count = min(plan.turn, given.rows - first)
    if plan.fetched:
        block.stages[0] += plan.load_indices(plan.index[number % 2], first, count)
    row = plan.others[number % 2]
    if not given.home:
        block.stages[0].append(given.transfer("load", row, first, count, column, columns))
    index, work = plan.chosen(number, first, count, part)
    for p in range(ceil_div(columns, dim)):
        panel = column // dim + p
        src = (Src.ACC, row + p * count)
        if given.home:
            src = (source_kind(given.access.tensor), given.home.row + panel * given.rows + first)
        dst, kind = at + p * rows, Dst.ACC
        if table.home:
            dst, kind = table.home.row + panel * table.rows, destination(table.access.tensor)
        work += plan.groups(VectorOp.SCATTER, kind, dst, src, index, count)
    block.stages[1] += work
    emitted.blocks.append(block)
