"""Joins over rows: of each block, then over blocks, and what is written of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from celosia.arch.isa import Mem
from celosia.arch.vector import NEUTRAL, Reduce, Src, VectorOp
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.emit.frame import Frame, Setting, in_memory, rows_on_chip
from celosia.compiler.emit.instructions import JOINS, origin, sliced
from celosia.compiler.emit.walks import Immediate, Ref, issue
from celosia.compiler.kernels.terms import Extent, Term
from celosia.compiler.lowered import External

__all__ = ["Accumulator"]

#: Part of the accumulators that the results of one join may take while they are kept.
_KEPT_SHARE = 8


@dataclass(frozen=True)
class Accumulator:
    """A value that is joined over rows.

    Where the results are few they are kept until the end. Else a block that holds whole groups
    writes their results, and only the one group that is larger than a block has rows that stay.

    Attributes
    ----------
    row
        First of the rows that stay; the panels of a result are consecutive.
    """

    setting: Setting
    step: Term
    row: int = 0

    @property
    def width(self) -> int:
        """Panels of a result."""
        return self.setting.panels if self.step.destination.extent is Extent.FULL else 1

    @property
    def kept(self) -> bool:
        """Whether all results are kept until the end."""
        rows = self.setting.groups * self.width
        return self.setting.groups == 1 or rows * _KEPT_SHARE <= self.setting.config.acc_rows

    @property
    def rows(self) -> int:
        """Rows that stay."""
        return self.width * (self.setting.groups if self.kept else 1)

    def temporaries(self, frame: Frame) -> list[int]:
        """Return the temporary rows that a block needs."""
        panels = frame.panels if self.width > 1 else 1
        if frame.count < self.setting.group:
            return [panels]
        return [] if self.kept else [frame.count // self.setting.group * panels]

    def identity(self) -> list[CodeOp]:
        """Set the rows that stay to what changes nothing."""
        return [issue(VectorOp.MOV, Ref(self.row, (1,)),
                      [Immediate(Src.SCALAR, NEUTRAL[self.step.reduce_op])], (self.rows,),
                      source=self.step.origin or self.setting.cluster.source)]

    def _reduce(self, frame: Frame, dst: Ref, group: int, groups: int, panels: int) -> list[CodeOp]:
        """Join the rows of groups; the strides of ``dst`` are from group to group and panel."""
        step, out = self.step, []
        each = 1 if sliced(frame, step, frame.count, panels) else panels
        for panel in range(0, panels, each):
            sources = [source if isinstance(source, Immediate) else
                       source.along(source.strides[0], group * source.strides[0],
                                    source.strides[1])
                       for source in frame.sources(step, 0, panel, frame.count)]
            at = dst.at(0, panel)
            out.append(issue(step.first, at.along(0, *at.strides), sources, (group, groups, each),
                             step.post, step.param, Reduce.ROWS, step.reduce_op,
                             origin(frame, step)))
        return out

    def block(self, frame: Frame, temporaries: Sequence[int]) -> list[CodeOp]:
        """Join the rows of a block."""
        setting = self.setting
        group, source = setting.group, origin(frame, self.step)
        panels = frame.panels if self.width > 1 else 1
        panel = frame.panel if self.width > 1 else 0
        index, begin = divmod(frame.first, group)
        row = self.row + panel + (index * self.width if self.kept else 0)
        if frame.count >= group:
            groups = frame.count // group
            if self.kept:
                return self._reduce(frame, Ref(row, (self.width, 1)), group, groups, panels)
            made = Ref(temporaries[0], (1, groups))
            return [*self._reduce(frame, made, group, groups, panels),
                    *self._write(made, index, groups, panel, panels)]
        if begin == 0 and not self.kept:
            out = self._reduce(frame, Ref(row, (0, 1)), frame.count, 1, panels)
        else:
            part = Ref(temporaries[0], (0, 1))
            out = self._reduce(frame, part, frame.count, 1, panels)
            out.append(issue(JOINS[self.step.reduce_op], Ref(row, (1,)),
                             (Ref(row, (1,)), part.along(1)), (panels,), source=source))
        if begin + frame.count == group and not self.kept:
            out += self._write(Ref(row, (0, 1)), index, 1, panel, panels)
        return out

    def end(self) -> list[CodeOp]:
        """Write all that was kept."""
        if not self.kept:
            return []
        return self._write(Ref(self.row, (self.width, 1)), 0, self.setting.groups, 0, self.width)

    def _write(self, made: Ref, first: int, groups: int, panel: int, panels: int) -> list[CodeOp]:
        """Write the results of groups ``first`` to ``first + groups - 1``."""
        setting, write = self.setting, self.step.destination
        access, config, source = write.access, setting.config, setting.cluster.source
        if isinstance(access.tensor.home, External):
            lane = panel * config.dim
            cols = (min(setting.lanes - lane, panels * config.dim)
                    if Extent.LANES in write.extent else 1)
            return in_memory(access, write.extent, first, groups, lane).transfers(
                nodes.store, Mem.ACC, made.row, made.strides[0], cols, made.strides[1], config.dim,
                source)
        parts = rows_on_chip(setting, access, write.extent, first, groups, panel)
        return [issue(VectorOp.MOV, home, [made.at(at, 0)], (groups // len(parts), panels),
                      source=source) for at, home in parts]
