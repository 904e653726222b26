"""Register renaming, of rows: small works get rows that are free around them, and need not wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import ROW_MASK
from celosia.arch.config import BANKS, TpuConfig
from celosia.arch.isa import Mem, Unit
from celosia.arch.words import ceil_div
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.codegen.spans import EXTERNAL, Costs

__all__ = ["Places"]

#: Works of more operations than this keep busy by themselves.
_SMALL = 1024
#: Rows that nobody uses for so many cycles are as good as free.
_LONG = 1 << 13

#: Granules of all places together that are looked at; where there are more, some places are.
_LOOKS = 1 << 18

#: Of each granule of `BANKS` rows, a cycle.
_Cycles = NDArray[np.int64]
#: First and last granule: first and last cycle in which they are used.
_Granules = dict[tuple[int, int], tuple[int, int]]


@dataclass
class _Spans:
    """First and last cycle in which each granule from ``low`` on is used; last is -1 for none."""

    low: int
    first: _Cycles
    last: _Cycles

    def note(self, used: _Cycles, now: int, shift: int) -> None:
        """Note in ``used`` until when granules are used."""
        begin = self.low + shift
        held = used[begin:begin + len(self.last)]
        mine = self.last[:len(held)]
        np.maximum(held, np.where(mine < 0, held, now + mine), out=held)


@dataclass
class _Uses:
    """Cycles of a work, those of its busiest unit, and of each memory what it uses when.

    The private rows may move, the fixed ones must not.
    """

    cycles: int
    fixed: list[_Spans | None]
    private: list[_Spans | None]


class Places:
    """Where small works go: into rows that others used long before, or will long after.

    What is far apart in a program needs no rows of its own; what is near and shares rows, without
    one reading what the other made there, cannot overlap.
    """

    def __init__(self, config: TpuConfig):
        self._costs = Costs(config)
        self._now = 0
        #: Of each memory, the cycle until which each granule is used.
        self._used = [np.full(ceil_div(rows, BANKS), -_LONG)
                      for rows in (config.ub_rows, config.acc_rows)]

    def place(self, works: Sequence[Emitted]) -> list[Emitted]:
        """Return works that do the same, one after another, in other rows of their own."""
        uses = [self._uses(work) for work in works]
        times = [self._now]
        for use in uses:
            times.append(times[-1] + use.cycles)
        out = []
        for i, (work, use) in enumerate(zip(works, uses, strict=True)):
            # What comes later goes elsewhere, if it can.
            later = [(times[j], uses[j]) for j in range(i + 1, len(works))
                     if times[j] < times[i + 1] + _LONG]
            shifts = [self._shift(mem, work, use, times[i], later) for mem in Mem]
            for mem in Mem:
                for spans, shift in (use.fixed[mem], 0), (use.private[mem], shifts[mem]):
                    if spans is not None:
                        spans.note(self._used[mem], times[i], shift)
            out.append(self._moved(work, shifts))
        self._now = times[-1]
        return out

    def _shift(self, mem: Mem, work: Emitted, uses: _Uses, now: int,
               later: list[tuple[int, _Uses]]) -> int:
        """Granules by which the private rows of a work move: to those that are free the longest.

        Before its uses of them and after: what waits for one neighbour need not hold up the other.
        """
        mine = uses.private[mem]
        if mine is None:
            return 0
        assert work.private is not None
        free = self._used[mem]
        wanted = np.full(len(free), now + uses.cycles + _LONG)
        for time, theirs in later:
            spans = theirs.fixed[mem]
            if spans is not None:
                part = wanted[spans.low:spans.low + len(spans.first)]
                np.minimum(part, time + spans.first, out=part)
        rows, used = work.private[mem], mine.last >= 0
        begin, end = ceil_div(rows.start, BANKS), rows.stop // BANKS - len(used) + 1
        if begin >= end:
            return 0
        starts = np.arange(begin, end, 1 + (end - begin) * len(used) // _LOOKS)
        windows = starts[:, None] + np.flatnonzero(used)
        before = (now + mine.first[used] - free[windows]).min(axis=1)
        after = (wanted[windows] - now - mine.last[used]).min(axis=1)
        best = np.argmax(np.minimum(before, _LONG) + np.minimum(after, _LONG))
        return int(starts[best]) - mine.low

    def _uses(self, work: Emitted) -> _Uses:
        """Return when a work uses which rows; of others' rows in long works what is at the ends."""
        private = (work.private if work.private is not None and work.size <= _SMALL
                   else (range(0), range(0)))
        totals, timed = [0] * len(Unit), []
        cycles = 0
        for op in work.operations:
            begin, cost = cycles, self._costs(op)
            totals[cost.unit] += cost.occupied
            cycles = max(cycles, totals[cost.unit])
            timed.append((op, cost, begin, cycles))
        #: Of fixed and private rows, of each memory, granules: first and last cycle.
        found: tuple[list[_Granules], list[_Granules]] = ([{}, {}], [{}, {}])
        nothing = not any(private)  # of its own
        for op, cost, begin, end in timed:
            inside = begin > _LONG and end < cycles - _LONG
            if inside and nothing:
                continue
            for space, first, last, _ in cost.of(op):
                if space != EXTERNAL:
                    own = first in private[space]
                    if inside and not own:
                        continue
                    spans = found[own][space]
                    granules = first // BANKS, last // BANKS
                    # The cycles ascend.
                    spans[granules] = spans.get(granules, (begin, end))[0], end
        return _Uses(cycles, *([_joined(spans, len(used)) for spans, used in
                                zip(each, self._used, strict=True)] for each in found))

    def _moved(self, work: Emitted, shifts: list[int]) -> Emitted:
        if not any(shifts):
            return work
        # The steps of a run stay what they are: all turns of an operation move alike.
        runs = [replace(run, period=[
            Block([self._shifted(work, stage, shifts) for stage in block.stages])
            for block in run.period]) for run in work.runs]
        return replace(work, before=self._shifted(work, work.before, shifts), runs=runs,
                       after=self._shifted(work, work.after, shifts))

    def _shifted(self, work: Emitted, ops: list[CodeOp], shifts: list[int]) -> list[CodeOp]:
        assert work.private is not None
        out = []
        for op in ops:
            values = list(op.varying)
            for operand, space, _, _, _ in self._costs(op).touches:
                if space in (Mem.UB, Mem.ACC) and values[operand] & ROW_MASK in work.private[space]:
                    values[operand] += shifts[space] * BANKS
            out.append(op.with_varying(tuple(values)))
        return out


def _joined(spans: _Granules, most: int) -> _Spans | None:
    """Join uses of the first ``most`` granules."""
    if not spans:
        return None
    low = min(begin for begin, _ in spans)
    count = min(max(end for _, end in spans) + 1, most) - low
    first, last = np.full(count, 1 << 62), np.full(count, -1)
    for (begin, end), (early, late) in spans.items():
        part = slice(begin - low, end + 1 - low)
        np.minimum(first[part], early, out=first[part])
        np.maximum(last[part], late, out=last[part])
    return _Spans(low, first, last)
