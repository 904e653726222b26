"""Estimate of the cycles of a run: an event model of fetch, scalar unit, units and scoreboard.

Each tensor instruction starts when it is fetched, resolved and checked, has a place in the window,
its unit has taken the one before it, and no older instruction of another unit (for the vector unit
also its own) that touches the same rows or bytes is unfinished. Left out: bank conflicts, and the
share of the bus that load and fetch take from each other.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem, Unit
from celosia.arch.vector import ROW_SRCS, Reduce, VectorOp
from celosia.model.commands import DST_MEM, SRC_MEM, Command, Dma, Matmul, Vector

__all__ = ["LOAD", "MATMUL", "STORE", "Estimator", "Timing", "vector_latency"]

_EXT = 2
#: A range that an instruction touches: memory (``Mem``, or external), first, last, written.
_Range = tuple[int, int, int, bool]

#: Instructions that are fetched together.
_BLOCK = 4
#: Constants of the RTL, measured with single instructions.
_START, _HALT = 3, 2  # doorbell to first fetch, last instruction done to the interrupt
_CHECK, _CHECK_BASE = 10, 8  # cycles of the checker: at least, and beside one for each stream
_CHECK_PLANES = 3  # more for a vector's streams of more than one dimension
LOAD, STORE, MATMUL = 9, 11, 5  # of a unit, beside rows, bus, fill and drain
_VECTOR, _FLOATING, _GATHER, _SCATTER = 13, 5, 4, 2  # likewise; more: with bf16, for indices
_BURST_BEATS = 256


def vector_latency(config: TpuConfig) -> int:
    """Cycles of a vector instruction in its unit, beside its rows; some kinds take more."""
    return _VECTOR + _FLOATING * config.bf16


@dataclass(frozen=True)
class Timing:
    """The memory outside the chip.

    Parameters
    ----------
    read_latency
        Cycles from a read address to its first beat.
    write_latency
        Cycles from the last beat of a write to its response.
    outstanding
        Reads that the memory takes before the first is done.
    """

    read_latency: int = 64
    write_latency: int = 8
    outstanding: int = 64


class Estimator:
    """Clock of one run.

    Parameters
    ----------
    config
        The chip.
    timing
        Its memory.

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
        self._checked = 0
        #: Blocks in the instruction buffer, and when they came.
        self._blocks: OrderedDict[int, int] = OrderedDict()
        self._fetched = -2  # block, and when it was complete
        self._fetch_ready = 0
        self.now = _START
        self.busy = [0] * 5

    def scalar(self, pc: int, cycles: int) -> None:
        """Count the scalar unit's part in an instruction."""
        self.now = max(self.now, self._fetch(pc // _BLOCK)) + cycles
        self.busy[Unit.SCALAR] += cycles

    def drain(self) -> None:
        """Wait for the tensor units, as fence and halt do."""
        self.now = max(self.now, self._checked, *self._done) + _HALT
        self._window.clear()

    def tensor(self, command: Command) -> None:
        """Count a tensor instruction; :meth:`scalar` came before."""
        unit, occupied, latency, ranges = self._cost(command)
        # A weight tile comes first, while the matmul before it computes.
        lead = self._config.dim if isinstance(command, Matmul) and command.weights else 0
        planes = isinstance(command, Vector) and command.counts[1:] != (1, 1)
        checked = max(self.now, self._checked) + max(_CHECK, _CHECK_BASE + len(ranges)) + (
            _CHECK_PLANES * planes)
        self.now = max(self.now, self._checked)
        window = self._window
        while window and window[0][1] <= checked:
            window.popleft()
        while len(window) >= self._config.window:
            checked = max(checked, window.popleft()[1])
        self._checked = checked
        start = max(checked + lead, self._free[unit])
        for other, end, touched in window:
            if (end + lead > start and (other != unit or unit == Unit.VPU)
                    and _conflict(ranges, touched)):
                start = end + lead + (other != unit)
        self._free[unit] = start + occupied
        end = self._done[unit] = max(self._done[unit], start + latency)
        self.busy[unit] += occupied
        window.append((unit, end, ranges))

    def _fetch(self, block: int) -> int:
        """Cycle from which on a block is in the instruction buffer."""
        ready = self._blocks.get(block)
        if ready is not None:
            return ready
        beats = max(_BLOCK * isa.INSTRUCTION_BYTES // self._config.bus_bytes, 1)
        if block == self._fetched + 1:  # on its way already
            ready = self._fetch_ready + beats
        else:
            ready = self.now + self._timing.read_latency + beats
        self._fetched, self._fetch_ready = block, ready
        self._blocks[block] = ready
        if len(self._blocks) > self._config.ibuf // _BLOCK:
            self._blocks.popitem(last=False)
        return ready

    def _cost(self, command: Command) -> tuple[int, int, int, list[_Range]]:
        """Unit, cycles that it is occupied, cycles from start to done, ranges."""
        timing, dim = self._timing, self._config.dim
        if isinstance(command, Dma):
            row_beats = -(-command.row_bytes // self._config.bus_bytes)
            ranges = [
                (int(command.mem), command.chip.base, command.chip.last, not command.store),
                (_EXT, command.addr, command.end - 1, command.store)]
            occupied = max(command.chip.length, command.rows * row_beats)
            if command.store:
                return Unit.STORE, occupied, occupied + timing.write_latency + STORE, ranges
            bursts = command.rows * -(-row_beats // _BURST_BEATS)
            occupied = max(occupied, (bursts - timing.outstanding) * timing.read_latency
                           // timing.outstanding)
            return Unit.LOAD, occupied, occupied + timing.read_latency + LOAD, ranges
        if isinstance(command, Matmul):
            ranges = [(int(Mem.ACC), command.acc.base, command.acc.last, True),
                      (int(Mem.UB), command.acts.base, command.acts.last, False)]
            occupied = command.length
            if command.weights is not None:
                ranges.append((int(Mem.UB), command.weights.base, command.weights.last, False))
                occupied = max(occupied, dim + 1)
            return Unit.MXU, occupied, command.length + 2 * dim + MATMUL, ranges
        assert isinstance(command, Vector)
        ranges = [(int(DST_MEM[command.kind]), command.dst.base, command.dst.last, True)]
        ranges += [(int(SRC_MEM[source.kind]), source.stream.base, source.stream.last, False)
                   for source in command.sources if source.stream is not None]
        return Unit.VPU, command.length, command.length + self._latency(command), ranges

    def _latency(self, command: Vector) -> int:
        """Cycles from the first row of a vector instruction to its end, beside one for each row."""
        dim = self._config.dim
        rows = sum(source.kind in ROW_SRCS for source in command.sources)
        latency = vector_latency(self._config) + (rows > 0) + (rows > 2)
        if command.reduce in (Reduce.LANES, Reduce.COLLECT):
            latency += dim.bit_length()  # a cycle for each level of a tree, one to broadcast
        return latency + {VectorOp.TRANSPOSE: dim + 1, VectorOp.GATHER: _GATHER,
                          VectorOp.SCATTER: _SCATTER}.get(command.op, 0)


def _conflict(a: list[_Range], b: list[_Range]) -> bool:
    for mem, first, last, written in a:
        for other, begin, end, stored in b:
            if mem == other and (written or stored) and first <= end and begin <= last:
                return True
    return False
