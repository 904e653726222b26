"""Estimate of the cycles of a run: an event model of fetch, scalar unit, units and scoreboard.

Each tensor instruction starts when it is fetched, resolved and checked, has a place in the window,
its unit has taken the one before it, and no older instruction of another unit (for the vector unit
also its own) that touches the same rows or bytes is unfinished.

Bank conflicts: those of the two streams of a vector instruction are played
(:mod:`celosia.model.timing.banks`), those of a load that writes a row every other cycle beside rows
of the vector unit or the array are taken on average. Other streams move a row a cycle, fall behind
by a row once, and are left out. Beats of instruction fetch delay the loads under way.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from celosia.arch.config import BANKS, TpuConfig
from celosia.arch.isa import Mem, Unit
from celosia.arch.vector import (
    INDEXED_OPS,
    ROW_SRCS,
    STREAM_SRCS,
    Reduce,
    VectorOp,
)
from celosia.arch.words import ceil_div
from celosia.model.commands import DST_MEM, SRC_MEM, Command, Dma, Matmul, Vector
from celosia.model.streams import Stream
from celosia.model.timing.banks import (
    Walk,
    constant_bank,
    lost_beside,
    lost_by_pair,
    lost_by_repeats,
    walked,
)
from celosia.model.timing.fetch import BLOCK, Fetch

__all__ = ["LOAD", "MATMUL", "STORE", "Estimator", "Timing", "vector_latency"]

#: First and last row, or byte of external memory, of what an instruction touches; each memory has
#: its own part of the numbers.
_Range = tuple[int, int]
_MEMORY = {Mem.UB: 1 << 40, Mem.ACC: 2 << 40}

#: Constants of the RTL, measured with single instructions.
_START, _HALT, _FENCE, _READ = 3, 3, 1, 5  # doorbell to first fetch; behind all that is done
_CHECK, _CHECK_BASE = 10, 8  # cycles of the checker: at least, and beside one for each stream
_CHECK_PLANES = 3  # more for a vector's streams of more than one dimension
LOAD, STORE, MATMUL = 14, 16, 6  # of a unit, beside rows, bus, fill and drain
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


class _Entry:
    """An instruction in the window: it has exactly one range that it writes."""

    __slots__ = ("end", "latency", "reads", "unit", "wrote")

    def __init__(self, unit: int, wrote: _Range, reads: tuple[_Range, ...]):
        self.unit, self.wrote, self.reads = unit, wrote, reads
        self.end = self.latency = 0

    def conflicts(self, other: _Entry) -> bool:
        """Whether one of the two writes what the other reads or writes."""
        low, high = self.wrote
        first, last = other.wrote
        if low <= last and first <= high:
            return True
        for begin, end in other.reads:
            if low <= end and begin <= high:
                return True
        for begin, end in self.reads:
            if first <= end and begin <= last:
                return True
        return False


class Estimator:
    """Clock of one run.

    Parameters
    ----------
    config
        The chip.
    timing
        Its memory.
    length
        Instructions of the program.
    loops
        Start and end of the loops that are entered, the innermost last; looked at all the time.

    Attributes
    ----------
    now
        Cycle in which the scalar unit is.
    busy
        Cycles in which each unit moved or computed rows.
    last
        Cycle in which all instructions so far are done.
    """

    def __init__(self, config: TpuConfig, timing: Timing, length: int = 1 << 31,
                 loops: Sequence[Sequence[int]] = ()):
        self._config = config
        self._timing = timing
        self._window: list[_Entry] = []
        self._size = config.window
        self._free = [0] * 4
        self._done = [0] * 4
        self._checked = 0
        self._before: Vector | None = None  # of the vector unit
        self._wave: tuple[Matmul | None, int] = None, 0  # the matmul before, and its first cycle
        #: Streams of the array and the vector unit: port, first and last cycle, rows of a step.
        self._swept: deque[tuple[int, int, int, int]] = deque(maxlen=2 * config.window)
        #: Transfers that others may hold up: port, entry, cycles, on-chip rows.
        self._moved: deque[tuple[int, _Entry, int, Walk]] = deque(maxlen=config.window)
        self._fetch = Fetch(config, timing.read_latency, length)
        self._block = -1  # of the instruction before
        self._loops = loops
        self._burst = 1.0  # beats of a burst of the last load
        self.now = _START
        self.busy = [0] * 5
        self.last = 0

    def scalar(self, pc: int, cycles: int) -> None:
        """Count the scalar unit's part in an instruction."""
        if pc // BLOCK != self._block:
            self._block = pc // BLOCK
            if count := self._fetch.wanted(pc, self._loops):
                self._ask(count)
            self.now = max(self.now, self._fetch.ready(pc))
        self.now += cycles
        self.busy[Unit.SCALAR] += cycles
        if self.now > self.last:
            self.last = self.now

    def halt(self) -> None:
        """Wait for the tensor units, and raise the interrupt."""
        self._drain(_HALT)

    def fence(self) -> None:
        """Wait for the tensor units."""
        self._drain(_FENCE)

    def read(self) -> None:
        """Wait for the tensor units, and read a row."""
        self._drain(_READ)

    @property
    def halted(self) -> int:
        """Cycle of the interrupt if the run ended now."""
        return self._drained + _HALT

    @property
    def _drained(self) -> int:
        return max(self.now, self._checked, *self._done)

    def _drain(self, cycles: int) -> None:
        self.now = self._drained + cycles
        self._window.clear()
        self.last = max(self.last, self.now)

    def stride(self) -> None:
        """Wait for the checker, as an instruction that sets a stride register does."""
        self.now = max(self.now, self._checked)

    def tensor(self, command: Command) -> None:
        """Count a tensor instruction; :meth:`scalar` came before."""
        lead = planes = 0
        if isinstance(command, Vector):
            entry, occupied, latency = self._vector(command)
            planes = _CHECK_PLANES if command.counts[1:] != (1, 1) else 0
        elif isinstance(command, Matmul):
            entry, occupied, latency = self._matmul(command)
            if command.weights is not None:
                lead = self._config.dim  # the tile comes first, while the matmul before computes
        else:
            entry, occupied, latency = self._dma(command)
        unit = entry.unit
        if self._checked > self.now:
            self.now = self._checked
        checked = self.now + max(_CHECK, _CHECK_BASE + 1 + len(entry.reads)) + planes
        window = [other for other in self._window if other.end > checked]
        if len(window) >= self._size:  # it is never larger
            checked = min([other.end for other in window])
            window = [other for other in window if other.end > checked]
        self._checked = checked
        start = max(checked + lead, self._free[unit])
        for other in window:
            end = other.end + lead
            if end >= start and (other.unit != unit or unit == Unit.VPU) and entry.conflicts(other):
                start = end + (other.unit != unit)
        if isinstance(command, Vector):
            start, occupied, latency = self._between(command, start, occupied, latency)
        elif isinstance(command, Matmul):
            start = self._behind(command, start)
        elif unit == Unit.LOAD:  # what was asked for before comes before
            start = max(start, self._fetch.last - self._timing.read_latency)
        entry.latency, entry.end = latency, max(self._done[unit], start + latency)
        self._free[unit] = start + occupied
        self._done[unit] = entry.end
        self.busy[unit] += command.length if unit >= Unit.MXU else occupied
        window.append(entry)
        self._window = window
        self._meet(command, entry, occupied)
        if self._done[unit] > self.last:
            self.last = self._done[unit]

    def _ask(self, count: int) -> None:
        """Fetch blocks, between the bursts of the loads under way."""
        fetch, now, timing = self._fetch, self.now, self._timing
        ends = [other.end - LOAD for other in self._window
                if other.unit == Unit.LOAD and other.end - other.latency <= now]
        behind = max(ends, default=0)
        fetch.request(count, now, min(behind, now + int(timing.outstanding * self._burst)))
        if behind > now + timing.read_latency:
            self._delay(Unit.LOAD, now, count * fetch.beats)

    def _meet(self, command: Command, entry: _Entry, occupied: int) -> None:
        """Delay transfers that share a port's banks with rows of the vector unit or the array."""
        begin, end = entry.end - occupied, entry.end  # rows are written at the end of the pipeline
        if isinstance(command, Dma):
            each = occupied // command.length
            if each > 2 or (command.store and each > 1):
                return  # it has the time, or (a store) makes it good by reading ahead
            port, walk = _port(command.mem, not command.store), walked(command.chip, each)
            self._moved.append((port, entry, occupied, walk))
            lost = 0.0
            for which, first, last, step in self._swept:
                if which == port and first < end and begin < last:
                    lost += (min(end, last) - max(begin, first)) * lost_beside(walk, step)
            if lost >= 1:
                self._delay(entry.unit, begin, int(lost))
            return
        read = end - entry.latency
        if isinstance(command, Matmul):
            swept = [(_port(Mem.ACC, True), begin, end, _step(command.acc)),
                     (_port(Mem.UB, False), read, read + occupied, _step(command.acts))]
        else:
            swept = [(_port(SRC_MEM[source.kind], False), read, read + occupied,
                      _step(source.stream))
                     for source in command.sources
                     if source.kind in STREAM_SRCS and source.stream is not None]
            if command.dst.length == command.length:
                swept.append((_port(DST_MEM[command.kind], True), begin, end, _step(command.dst)))
        self._swept.extend(swept)
        for port, other, cycles, walk in self._moved:
            if other.end <= read:
                continue
            start, lost = other.end - cycles, 0.0
            for which, first, last, step in swept:
                if which == port and first < other.end and start < last:
                    lost += (min(other.end, last) - max(start, first)) * lost_beside(walk, step)
            if lost >= 1:
                self._delay(other.unit, begin, int(lost))

    def _delay(self, unit: int, since: int, cycles: int) -> None:
        """Make what a transfer unit has not finished so many cycles later."""
        for other in self._window:
            if other.unit == unit and other.end > since:
                other.end += cycles
        self._free[unit] += cycles
        self._done[unit] += cycles

    def _dma(self, command: Dma) -> tuple[_Entry, int, int]:
        """Ranges, cycles that the unit is occupied, cycles from start to done."""
        timing, beats = self._timing, _beats(command, self._config.bus_bytes)
        base = _MEMORY[command.mem]
        chip = base + command.chip.base, base + command.chip.last
        outside = command.addr, command.end - 1
        occupied = max(command.chip.length, beats)
        if command.store:
            entry = _Entry(Unit.STORE, outside, (chip,))
            return entry, occupied, occupied + timing.write_latency + STORE
        bursts = command.rows * ceil_div(beats, command.rows * _BURST_BEATS)
        occupied = max(occupied, (bursts - timing.outstanding) * timing.read_latency
                       // timing.outstanding)
        self._burst = beats / bursts
        entry = _Entry(Unit.LOAD, chip, (outside,))
        return entry, occupied, occupied + timing.read_latency + LOAD

    def _matmul(self, command: Matmul) -> tuple[_Entry, int, int]:
        dim, acc, ub = self._config.dim, _MEMORY[Mem.ACC], _MEMORY[Mem.UB]
        occupied = command.length
        if command.accumulate:
            occupied += lost_by_repeats(command.acc)
        latency = occupied + 2 * dim + MATMUL
        reads = ((ub + command.acts.base, ub + command.acts.last),)
        if command.weights is not None:
            reads += ((ub + command.weights.base, ub + command.weights.last),)
        entry = _Entry(Unit.MXU, (acc + command.acc.base, acc + command.acc.last), reads)
        return entry, occupied, latency

    def _vector(self, command: Vector) -> tuple[_Entry, int, int]:
        base = _MEMORY[DST_MEM[command.kind]]
        reads: list[_Range] = []
        streams = []
        rows = 0
        for source in command.sources:
            stream = source.stream
            if stream is None:
                continue
            memory = _MEMORY[SRC_MEM[source.kind]]
            reads.append((memory + stream.base, memory + stream.last))
            if source.kind in STREAM_SRCS:
                streams.append((memory, stream))
            elif source.kind in ROW_SRCS:
                rows += 1
        entry = _Entry(Unit.VPU, (base + command.dst.base, base + command.dst.last), tuple(reads))
        single = (rows > 0) + (rows > 2)
        occupied = command.length + single
        latency = occupied + self._latency(command)
        if command.op in INDEXED_OPS:
            occupied += 1
        elif len(streams) == 2 and streams[0][0] == streams[1][0]:
            once, lost = lost_by_pair(streams[0][1], streams[1][1])
            occupied += lost
            latency += lost + once
        return entry, occupied, latency

    def _latency(self, command: Vector) -> int:
        """Cycles from the first row of a vector instruction to its end, beside one for each row."""
        latency = vector_latency(self._config)
        if command.reduce >= Reduce.LANES:
            latency += self._config.dim.bit_length()  # a level of a tree each, one to broadcast
        return latency + {VectorOp.GATHER: _GATHER, VectorOp.SCATTER: _SCATTER}.get(command.op, 0)

    def _between(self, command: Vector, start: int, occupied: int,
                 latency: int) -> tuple[int, int, int]:
        """Account for what a vector instruction waits for in its unit behind the one before it."""
        before, self._before = self._before, command
        dim, free = self._config.dim, self._free[Unit.VPU]
        if command.op == VectorOp.TRANSPOSE and not (
                start == free and before is not None and before.op == VectorOp.TRANSPOSE):
            occupied += dim + 1  # the first tile fills the transposer
            latency += dim + 1
        if (before is not None and before.reduce >= Reduce.LANES
                and command.reduce < Reduce.LANES):
            start = max(start, free + dim.bit_length())  # results stay in order
        return start, occupied, latency


    def _behind(self, command: Matmul, start: int) -> int:
        """Account for weights, which come in while the activations of the matmul before do."""
        before, began = self._wave
        if before is not None and command.weights is not None:
            apart = (before.acts.base - command.weights.base) % BANKS
            # In one bank, the first row of weights waits for that of the activations; where all of
            # these are in one bank, a row of weights in it waits for the last of them.
            start = max(start, began + self._config.dim + (apart == 0))
            if constant_bank(before.acts) is not None:
                start = max(start, began + before.length + command.weights.length - apart)
        self._wave = command, start
        return start


def _port(mem: Mem, write: bool) -> int:
    return 2 * mem + write


def _step(stream: Stream) -> int:
    """Banks from one row of a stream to the next, mostly."""
    for count, stride in zip(stream.counts, stream.strides, strict=True):
        if count > 1:
            return stride % BANKS
    return 0


def _beats(command: Dma, bus: int) -> int:
    """Beats of the bus that the rows of a transfer take, each from its own first byte."""
    size = command.row_bytes
    period = bus // math.gcd(command.pitch, bus)  # rows until they begin alike again
    if period == 1 or command.rows == 1:
        return command.rows * ((command.addr % bus + size + bus - 1) // bus)
    whole, rest = divmod(command.rows, period)
    each = [((command.addr + i * command.pitch) % bus + size + bus - 1) // bus
            for i in range(min(period, command.rows))]
    return whole * sum(each) + sum(each[:rest])
