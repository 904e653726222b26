"""Where and when rows of the array and of the vector unit go through the ports of the memories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from celosia.arch.commands import DST_MEM, Matmul, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia.model.timing.banks import (
    Beside,
    Walk,
    in_step,
    lost_beside,
    lost_between,
    lost_by_singles,
    port_of,
)
from celosia.model.timing.cost import sources

__all__ = ["Sweep", "behind_singles", "lost_in", "sweeps"]

#: Cycles of a cut chip before the vector unit reads rows; from its last row to its end, those of
#: the matrix unit taken off.
_CUT, _WRITTEN = 3, 2


class Sweep(NamedTuple):
    """Rows in a port.

    Attributes
    ----------
    port
        See `celosia.model.timing.banks.port_of`.
    first, last
        Cycle of the first row, and the one behind the last.
    steps
        Of the streams that go through the port in step.
    fold
        Cycles from one row to the next.
    """

    port: int
    first: int
    last: int
    steps: Beside
    fold: int


def sweeps(command: Matmul | Vector, config: TpuConfig, read: int, end: int, occupied: int
           ) -> list[Sweep]:
    """Return the rows of an instruction, single ones left out.

    Parameters
    ----------
    command
        A matmul or a vector instruction.
    config
        Of the chip.
    read, end, occupied
        Cycle in which its first row is read; in which it ends; cycles of its rows, which are
        written at the end of the pipeline.
    """
    begin = end - occupied
    if isinstance(command, Matmul):
        acc = in_step(command.acc)
        found = [Sweep(port_of(Mem.ACC, True), begin, end, acc, 1),
                 Sweep(port_of(Mem.UB, False), read, read + occupied, in_step(command.acts), 1)]
        if command.accumulate:
            found.append(Sweep(port_of(Mem.ACC, False), begin, end, acc, 1))
        return found
    fold, found = config.fold, []
    streams, _ = sources(command)
    for mem in (Mem.UB, Mem.ACC):
        if of_it := [stream for where, stream in streams if where == mem]:
            until = read + occupied + _CUT * config.cut
            since = read if config.banks == 1 else until - fold * command.length
            found.append(Sweep(port_of(mem, False), since, until, in_step(*of_it), fold))
    if command.dst.length == command.length:
        written = _WRITTEN * config.cut
        found.append(Sweep(port_of(DST_MEM[command.kind], True), begin - written, end - written,
                           in_step(command.dst), fold))
    return found


def behind_singles(command: Vector, config: TpuConfig, read: int, found: list[Sweep]
                   ) -> list[Sweep]:
    """Return the sweeps of a folded vector instruction, and those of its single rows before them.

    Each of these is read by all its beats, and two of them at once, but in one bank.
    """
    streams, singles = sources(command)
    waits = lost_by_singles(singles, streams, config.fold, config.banks)
    for mem in (Mem.UB, Mem.ACC):
        if rows := sum(where == mem for where, _ in singles):
            port, behind = port_of(mem, False), read + (1 + rows // 3) * config.fold + waits
            found = [sweep._replace(first=max(sweep.first, behind)) if sweep.port == port else sweep
                     for sweep in found]
            found.append(Sweep(port, read, behind, ((0, 0),), config.fold))
    return found


def lost_in(port: int, begin: int, end: int, walk: Walk,
            beside: Iterable[tuple[int, int, int, Beside, int]], banks: int) -> float:
    """Return the cycles that rows lose in a port, from ``begin`` to ``end``.

    Parameters
    ----------
    port, begin, end, walk
        Of the rows; see `celosia.model.timing.banks.walked`.
    beside
        Sweeps that have the first right.
    banks
        Of the memory.
    """
    lost = 0.0
    for which, first, last, steps, fold in beside:
        if which == port and first < end and begin < last:
            lost += lost_between(begin, end, first, last, lost_beside(walk, steps, fold, banks))
    return lost
