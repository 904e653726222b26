"""Stack frame of a cluster, in rows: where its values lie in one block."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.vector import Dst, Src
from celosia.arch.words import ceil_div
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.emit.boxes import Box
from celosia.compiler.emit.script import Script
from celosia.compiler.emit.slots import Slot
from celosia.compiler.emit.walks import Immediate, OperandSource, Ref
from celosia.compiler.errors import CompileError
from celosia.compiler.kernels.terms import Extent, Leaf, Term
from celosia.compiler.layout import Layout, has_one_stride
from celosia.compiler.lowered import Access, Cluster, External, OnChip, rows_of
from celosia.compiler.views import merged

__all__ = ["Frame", "Setting", "in_memory", "rows_on_chip"]


@dataclass(frozen=True)
class Setting:
    """What all blocks of a cluster share."""

    config: TpuConfig
    cluster: Cluster
    script: Script

    @property
    def rows(self) -> tuple[int, ...]:
        """Sizes of the row dimensions."""
        return self.cluster.space[:-1]

    @property
    def lanes(self) -> int:
        """Size of the last dimension."""
        return self.cluster.space[-1] if self.cluster.space else 1

    @property
    def panels(self) -> int:
        """Panels of D lanes."""
        return ceil_div(self.lanes, self.config.dim)

    @property
    def ragged(self) -> bool:
        """Whether the last panel has lanes beyond the last column."""
        return self.lanes % self.config.dim != 0

    def stays(self, value: Term) -> bool:
        """Whether instructions take a value that is read from where it is on chip."""
        return value in self._staying

    @cached_property
    def _staying(self) -> frozenset[Term]:
        return frozenset(value for value, read in self.script.reads.items()
                         if isinstance(read.access.tensor.home, OnChip)
                         and has_one_stride(read.access.view, read.extent)
                         and value not in self.script.moved)

    @property
    def group(self) -> int:
        """Rows that a join over rows makes one of."""
        return math.prod(self.rows[self.cluster.kept:])

    @property
    def groups(self) -> int:
        """Rows that are left of all rows by a join."""
        return math.prod(self.rows[:self.cluster.kept])


def in_memory(access: Access, extent: Extent, first: int, count: int, lane: int) -> Box:
    """Return where rows of an access to external memory begin, at a lane of those that it has.

    ``first``, ``count``: the rows, a box of them; all the same where the extent has none.
    """
    view = rows_of(access.view, extent)
    box = Box.of(access, view.part(first, count) if Extent.ROWS in extent else view)
    return box.moved(lane) if lane and Extent.LANES in extent else box


def rows_on_chip(setting: Setting, access: Access, extent: Extent, first: int, count: int,
                 panel: int) -> list[tuple[int, Ref]]:
    """Return where an access to a tensor on chip lies.

    Parameters
    ----------
    setting, access, extent
        What lies there.
    first, count, panel
        First row, rows (a box) and first panel.

    Returns
    -------
    list of tuple
        Row from ``first`` on, and rows of one stride from there on: one entry for each index of
        the outer dimensions where all rows have no single stride.

    Raises
    ------
    CompileError
        If no instruction reaches it (`Layout.reaches`).
    """
    tensor, view, dim = access.tensor, access.view, setting.config.dim
    home, layout = tensor.home, Layout.of(tensor, dim)
    assert isinstance(home, OnChip)
    if not layout.reaches(access, extent):
        raise CompileError(f"{setting.cluster.source}: rows of {tensor.name} on chip must be whole "
                           f"rows and begin with a panel, not have strides {list(view.strides)} "
                           f"from element {view.offset} on of {list(tensor.shape)}")
    tall, wide = Extent.ROWS in extent, Extent.LANES in extent
    rows = rows_of(view, extent)
    rows = rows.part(first, count) if tall else rows
    kind = (Dst.ACC if home.mem == Mem.ACC
            else Dst.UB_I8 if tensor.format == DmaFormat.I8 else Dst.UB_BF16)
    at, column = layout.find(rows.offset)
    at += home.row + panel * layout.rows * wide
    lane = None if layout.columns == 1 or (wide and setting.lanes > 1) else column
    sizes, (steps,) = merged(rows.shape, layout.steps(rows.strides))
    *sizes, size = sizes or (1,)
    *outer, step = steps or (1,)
    strides = step * tall, layout.rows * wide
    return [(i * size, Ref(at + sum(k * stride for k, stride in zip(index, outer, strict=True)),
                           strides, kind, lane))
            for i, index in enumerate(itertools.product(*map(range, sizes)))]


@dataclass(frozen=True)
class Frame:
    """Rows and panels that steps run over.

    Attributes
    ----------
    first, count
        Rows.
    panel, panels
        First panel, and how many.
    where
        Slots of the values of this block.
    areas
        First row of each area of slots.
    once
        Rows of the values of one row, which hold all panels.
    """

    setting: Setting
    first: int
    count: int
    panel: int
    panels: int
    where: Mapping[Term, Slot] = field(default_factory=dict)
    areas: tuple[int, int, int] = (0, 0, 0)
    once: Mapping[Term, int] = field(default_factory=dict)

    def shape(self, extent: Extent) -> tuple[int, int]:
        """Return rows and panels of a value."""
        return (self.count if Extent.ROWS in extent else 1,
                self.panels if Extent.LANES in extent else 1)

    @property
    def columns(self) -> int:
        """Columns of all panels."""
        dim = self.setting.config.dim
        return min(self.setting.lanes, (self.panel + self.panels) * dim) - self.panel * dim

    def slot(self, slot: Slot) -> int:
        """Return the first row of a slot."""
        return self.areas[slot.area] + slot.offset

    def homes(self, access: Access, extent: Extent) -> list[tuple[int, Ref]]:
        """Return the rows of a tensor on chip: from which row of the block on they lie where."""
        return rows_on_chip(self.setting, access, extent, self.first, self.count, self.panel)

    def transfers(self, make: Callable[..., CodeOp], access: Access, extent: Extent, row: int,
                  row_step: int, group_step: int) -> list[CodeOp]:
        """Load or store (``make``) the rows and panels of a tensor in external memory.

        They lie from accumulator ``row`` on, ``row_step`` from row to row, ``group_step`` from
        panel to panel.
        """
        setting, dim = self.setting, self.setting.config.dim
        box = in_memory(access, extent, self.first, self.count, self.panel * dim)
        return box.transfers(make, Mem.ACC, row, row_step,
                             self.columns if Extent.LANES in extent else 1, group_step, dim,
                             setting.cluster.source)

    def home(self, access: Access, extent: Extent) -> Ref:
        """Return the rows of a tensor on chip that have one stride."""
        ((_, ref),) = self.homes(access, extent)
        return ref

    def ref(self, value: Term) -> Ref:
        """Return the rows of a value."""
        script, extent = self.setting.script, value.extent
        read = script.reads.get(value)
        if read is not None and self.setting.stays(value):
            return self.home(read.access, extent)
        if value in script.homes:
            return self.home(script.homes[value].access, extent)
        tall, wide = Extent.ROWS in extent, Extent.LANES in extent
        strides = int(tall), (self.count if tall else 1) * wide
        single = self.setting.lanes == 1 or not wide
        loaded = value == script.sums or (
            read is not None and isinstance(read.access.tensor.home, External))
        lane = 0 if single and loaded else None
        if value in self.once:
            return Ref(self.once[value] + (self.panel if wide and not tall else 0), strides,
                       lane=lane)
        # Where nothing has rows yet only the strides count.
        row = self.slot(self.where[value]) if value in self.where else 0
        return Ref(row, strides, lane=lane)

    def sources(self, step: Term, row: int = 0, panel: int = 0,
                rows: int = 1) -> list[OperandSource]:
        """Return the operands of a step from a row and panel of the block on.

        ``rows``: how many rows; an index of one row is a word.
        """
        out: list[OperandSource] = []
        for arg in step.args:
            if arg.op is Leaf.WORD:
                out.append(Immediate(Src.SCALAR, arg.param))
            elif arg.op is Leaf.ROW:
                out.append(Immediate(Src.ROW_INDEX if rows > 1 else Src.SCALAR,
                                     arg.param + self.first + row))
            elif arg.op is not Leaf.LANE:
                out.append(self.ref(arg).at(row, panel))
            elif self.setting.lanes == 1:  # the one element is to be in every lane
                out.append(Immediate(Src.SCALAR, arg.param))
            else:
                out.append(Immediate(Src.LANE_INDEX, arg.param
                                     + (self.panel + panel) * self.setting.config.dim))
        return out
