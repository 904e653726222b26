"""Estimate of the cycles of a run: an event model of the units and the scoreboard.

Each tensor instruction starts when it has a place in the window, its unit has taken the one
before it, and no older instruction of another unit that touches the same rows or bytes is
unfinished. Bank conflicts and bus contention between load, store and fetch are left out.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem, Src, Unit
from celosia.model.commands import DST_MEM, SRC_MEM, Command, Dma, Matmul, Vector

__all__ = ["Estimator", "Timing"]

_EXT = 2
#: A range that an instruction touches: memory (``Mem``, or external), first, last, written.
_Range = tuple[int, int, int, bool]


@dataclass(frozen=True)
class Timing:
    """Latencies in cycles.

    Parameters
    ----------
    start
        From the doorbell to the first instruction.
    bus
        From a read address to its first beat, and from the last write beat to its response.
    transfer
        Of a load or store beside its rows, beats and bus latency.
    vector
        From a row read to its result written.
    matmul
        Of a matmul beside its rows and the 3 D cycles of fill and drain.
    """

    start: int = 20
    bus: int = 20
    transfer: int = 8
    vector: int = 14
    matmul: int = 8


class Estimator:
    """Clock of one run.

    Parameters
    ----------
    config
        The chip.
    timing
        Its latencies.

    Attributes
    ----------
    now
        Cycle in which the scalar unit is.
    busy
        Cycles in which each unit moved or computed rows.
    """

    def __init__(self, config: TpuConfig, timing: Timing):
        self._config = config
        self._timing = timing
        self._window: deque[tuple[int, int, list[_Range]]] = deque()
        self._free = [0] * 4
        self._done = [0] * 4
        self.now = timing.start
        self.busy = [0] * 5

    def scalar(self) -> None:
        """Count a scalar instruction."""
        self.now += 1
        self.busy[Unit.SCALAR] += 1

    def drain(self) -> None:
        """Wait for the tensor units, as fence and halt do."""
        self.now = max(self.now, *self._done) + 1
        self.busy[Unit.SCALAR] += 1
        self._window.clear()

    def tensor(self, command: Command) -> None:
        """Count a tensor instruction."""
        unit, occupied, latency, ranges = self._cost(command)
        self.scalar()
        window = self._window
        while window and window[0][1] <= self.now:
            window.popleft()
        while len(window) >= self._config.window:
            self.now = max(self.now, window.popleft()[1])
        start = max(self.now, self._free[unit])
        for other, end, touched in window:
            if end > start and (other != unit or unit == Unit.VPU) and _conflict(ranges, touched):
                start = end
        self._free[unit] = start + occupied
        end = self._done[unit] = max(self._done[unit], start + occupied + latency)
        self.busy[unit] += occupied
        window.append((unit, end, ranges))

    def _cost(self, command: Command) -> tuple[int, int, int, list[_Range]]:
        """Unit, cycles that it is occupied, cycles until the last write, ranges."""
        timing, dim = self._timing, self._config.dim
        if isinstance(command, Dma):
            beats = command.rows * (-(-command.row_bytes // self._config.bus_bytes))
            ranges = [
                (int(command.mem), command.chip.base, command.chip.last, not command.store),
                (_EXT, command.addr, command.end - 1, command.store)]
            unit = Unit.STORE if command.store else Unit.LOAD
            return (unit, max(command.chip.length, beats), timing.bus + timing.transfer, ranges)
        if isinstance(command, Matmul):
            ranges = [(int(Mem.ACC), command.acc.base, command.acc.last, True),
                      (int(Mem.UB), command.acts.base, command.acts.last, False)]
            occupied = command.acts.length
            if command.weights is not None:
                ranges.append((int(Mem.UB), command.weights.base, command.weights.last, False))
                occupied = max(occupied, dim)
            return Unit.MXU, occupied, 2 * dim + timing.matmul, ranges
        assert isinstance(command, Vector)
        ranges = [(int(DST_MEM[command.kind]), command.dst.base, command.dst.last, True)]
        ranges += [(int(SRC_MEM[source.kind]), source.stream.base, source.stream.last, False)
                   for source in command.sources
                   if source.stream is not None and source.kind != Src.SCALAR]
        return Unit.VPU, command.dst.length, timing.vector, ranges


def _conflict(a: list[_Range], b: list[_Range]) -> bool:
    return any(x[0] == y[0] and (x[3] or y[3]) and x[1] <= y[2] and y[1] <= x[2]
               for x in a for y in b)
