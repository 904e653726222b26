"""Register renaming, of rows: small works get rows of their own and need not wait for others."""

from __future__ import annotations

from dataclasses import replace

from celosia.arch.config import BANKS, TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.words import ceil_div
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.codegen.nodes import Op
from celosia.compiler.codegen.spans import Costs

__all__ = ["Places"]

#: Works of more operations than this keep busy by themselves.
_SMALL = 1024


class Places:
    """Where the next work goes: behind the one before it, from the first row on after the last."""

    def __init__(self, config: TpuConfig):
        self._costs = Costs(config)
        self._next = [0, 0]

    def place(self, work: Emitted) -> Emitted:
        """Return a work that does the same in other rows among those that are its own."""
        if work.private is None or _size(work) > _SMALL:
            return work
        used = self._used(work)
        shifts = [0, 0]
        for mem in Mem:
            found = used[mem]
            if found is None:
                continue
            rows, (first, last) = work.private[mem], found
            # Steps of whole turns of the banks: what does not meet in a bank now never does.
            at = first + BANKS * ceil_div(max(0, self._next[mem] - first), BANKS)
            if at + last - first >= rows.stop:
                at = first - (first - rows.start) // BANKS * BANKS
            shifts[mem] = at - first
            self._next[mem] = at + last - first + 1
        if not any(shifts):
            return work
        return replace(work, before=self._moved(work, work.before, shifts),
                       blocks=[Block([self._moved(work, stage, shifts) for stage in block.stages])
                               for block in work.blocks],
                       after=self._moved(work, work.after, shifts))

    def _used(self, work: Emitted) -> list[tuple[int, int] | None]:
        """First and last private row of each memory that a work touches."""
        assert work.private is not None
        found: list[list[int]] = [[], []]
        for op in _ops(work):
            for space, first, last, _ in self._costs(op).of(op):
                if space in (Mem.UB, Mem.ACC) and first in work.private[space]:
                    found[space] += [first, last]
        return [(min(rows), max(rows)) if rows else None for rows in found]

    def _moved(self, work: Emitted, ops: list[Op], shifts: list[int]) -> list[Op]:
        assert work.private is not None
        out = []
        for op in ops:
            values = list(op.varying)
            for space, operand, bits, _, _ in self._costs(op).touches:
                if space in (Mem.UB, Mem.ACC) and values[operand] & bits in work.private[space]:
                    values[operand] += shifts[space]
            out.append(op.with_varying(tuple(values)))
        return out


def _ops(work: Emitted) -> list[Op]:
    return [*work.before, *(op for block in work.blocks for stage in block.stages for op in stage),
            *work.after]


def _size(work: Emitted) -> int:
    return len(work.before) + len(work.after) + sum(
        len(stage) for block in work.blocks for stage in block.stages)
