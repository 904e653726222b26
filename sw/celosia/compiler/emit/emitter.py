"""The way from work on tensors to code in blocks: selection and emission, control around them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from celosia.arch.config import BANKS, TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.words import ceil_div
from celosia.compiled.parts import WorkInfo
from celosia.compiler.accesses import accesses, inner
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Choose, Emitted, Item, ReadScalar, Repeat
from celosia.compiler.emit.boxes import Box
from celosia.compiler.emit.fill import emit_fill
from celosia.compiler.emit.map import emit_map
from celosia.compiler.emit.move import emit_move
from celosia.compiler.emit.product import emit_product
from celosia.compiler.emit.rows import emit_gather, emit_scatter
from celosia.compiler.errors import WorkTooLarge
from celosia.compiler.groups import LEAVES
from celosia.compiler.lowered import (
    WHOLE,
    Access,
    Case,
    Cluster,
    External,
    Fill,
    GatherRows,
    Move,
    OnChip,
    ReadWord,
    Region,
    ScatterRows,
    While,
    Work,
)
from celosia.compiler.selection import SelectionOptions, select_instructions
from celosia.compiler.selection.bounded import Bounded

__all__ = ["Emitter"]


@dataclass
class Emitter:
    """Makes code in blocks of a list of work.

    Attributes
    ----------
    selection
        How vector instructions are selected.
    regions
        Rows that each piece of work may use.
    bounded
        What is known of who uses a value.
    infos, noted
        What each piece of work does; the work.
    too_large
        Work that finds no room on chip; nothing stands for it.
    """

    config: TpuConfig
    selection: SelectionOptions
    regions: Mapping[Work, Region]
    bounded: Bounded = field(default_factory=Bounded)
    infos: list[WorkInfo] = field(default_factory=list)
    noted: list[Work] = field(default_factory=list)
    #: How often the work at hand runs, as far as that is known.
    turns: int = 1
    too_large: list[tuple[Work, WorkTooLarge]] = field(default_factory=list)

    def items(self, works: Iterable[Work]) -> list[Item]:
        """Return the code of works, one after another."""
        found: list[Item] = []
        for work in works:
            found += self.work(work)
        return found

    def work(self, work: Work) -> list[Item]:
        """Return the code of a piece of work, with control around it."""
        match work:
            case ReadWord():
                self.note(work)
                row, items = self.word(work.access, work.source)
                return [*items, ReadScalar(work.base, row, work.source)]
            case While():
                self.note(work)
                cond: list[Item] = []
                row = 0
                if work.trips is None:
                    assert work.predicate is not None
                    row, items = self.word(work.predicate, work.source)
                    cond = [*self.items(work.cond), *items]
                self.turns *= work.trips or 1
                body = self.items(work.body)
                self.turns //= work.trips or 1
                return [Repeat(body, cond, row, work.trips, work.source, work.counts)]
            case Case():
                self.note(work)
                branches = [self.items(branch) for branch in work.branches]
                row, items = self.word(work.index, work.source)
                return [*items, Choose(row, branches, work.source)]
        region, made = self.regions[work], None
        # Work has its share of a region or, if that is too small, all of it.
        if isinstance(work, Cluster) and work.share != WHOLE:
            noted = len(self.noted)
            made = self._fitting(work, Region(_part(region.ub, work.buffer),
                                              _part(region.acc, work.share)))
            if made is not None:
                made.beside = True
            else:
                del self.noted[noted:], self.infos[noted:]
                self.too_large.pop()
        made = made or self._fitting(work, region)
        return [] if made is None else [made]

    def _fitting(self, work: Cluster | Move | Fill | GatherRows | ScatterRows,
                 region: Region) -> Emitted | None:
        """Return the operations of work in a region; None where it finds no room."""
        try:
            made = self.emitted(work, region)
        except WorkTooLarge as error:
            self.too_large.append((work, error))
            return None
        made.private = region.ub, region.acc
        return made

    def emitted(self, work: Cluster | Move | Fill | GatherRows | ScatterRows,
                region: Region) -> Emitted:
        """Return the operations of work without control flow."""
        config = self.config
        if isinstance(work, Cluster):
            code = select_instructions(config, work, self.selection, self.bounded)
            self.note(work, len(code.steps))
            emit = emit_map if work.product is None else emit_product
            return emit(config, work, code, region)
        self.note(work)
        match work:
            case Move():
                return emit_move(config, work, region)
            case Fill():
                return emit_fill(config, work, region)
            case GatherRows():
                return emit_gather(config, work, region)
            case ScatterRows():
                return emit_scatter(config, work, region)

    def word(self, access: Access, source: str) -> tuple[int, list[Item]]:
        """Return the accumulator row of a single element, and what brings it there."""
        tensor = access.tensor
        if isinstance(tensor.home, OnChip):
            return tensor.home.row, []
        load = Box.of(access).transfer(nodes.load, Mem.ACC, 0, 1, 1, 0, source=source)
        return 0, [Emitted(before=[load])]

    def note(self, work: Work, steps: int = 0) -> None:
        """Record what a piece of work does."""
        moved = [0, 0]  # what it reads, what it writes
        for access, written in [] if inner(work) else accesses(work):
            if isinstance(access.tensor.home, External):
                moved[written] += _touched(access) * access.tensor.element_bytes
        names: tuple[str, ...] = ()
        origins: tuple[str, ...] = ()
        macs = rows = 0
        if isinstance(work, Cluster):
            names = tuple(node.op for node in work.nodes if node.op not in LEAVES)
            origins = tuple(dict.fromkeys(node.source.told(node.op) for node in work.nodes))
            if work.product is not None:
                names = work.kind, *names
            panels = ceil_div(work.space[-1], self.config.dim)
            macs, rows = work.macs, math.prod(work.space[:-1]) * panels * steps
        macs, rows, bytes, read = (int(each) * self.turns
                                   for each in (macs, rows, sum(moved), moved[0]))
        self.noted.append(work)
        self.infos.append(WorkInfo(work.kind, work.source, names, "chip", work.unit, macs, rows,
                                   bytes, read, origins))


def _part(rows: range, eighths: tuple[int, int]) -> range:
    """Return the rows that a share of a memory is: it begins at a bank as all of it does."""
    if eighths == WHOLE:
        return rows
    first, end = (len(rows) * each // WHOLE[1] // BANKS * BANKS for each in eighths)
    return rows[first:end]


def _touched(access: Access) -> int:
    """Elements that an access reads or writes, each counted once."""
    return math.prod(size for size, stride in zip(
        access.view.shape, access.view.strides, strict=True) if stride)
