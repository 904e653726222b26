"""Cost model of a command by itself: cycles in checker and unit, beside what it waits for.

The estimator counts with it, and so does the compiler where it puts operations into order.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from celosia.arch.commands import Command, Dma, Load, Matmul, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem, Unit
from celosia.arch.lane import in_flight, lane_latency, tree_latency
from celosia.arch.streams import Stream
from celosia.arch.vector import INDEXED_OPS, Reduce, VectorOp
from celosia.arch.words import ceil_div
from celosia.model.timing.banks import lost_by_repeats
from celosia.model.timing.beats import READER, WRITTEN, VectorRows, played_alone
from celosia.model.timing.memory import Timing, pages

__all__ = ["ASKS", "HANDOVER", "ISSUES", "LANDS", "LEADERS", "ROOM", "Cost", "cost",
           "follow", "paced", "repeats"]

#: Constants of the RTL, measured with single instructions: cycles of a unit, beside rows, bus, fill
#: and drain.
_STORE, _MATMUL = 11, 2
_GATHER, _SCATTER = 4, 2  # more of the vector unit, for indices
#: From one addition to an accumulator row to the next one to the same row, beside the sum's cycles.
_REPEAT = 3
#: Of a load: until its first address goes out, and from its last beat until its rows are there.
ASKS, LANDS = 5, 4
_CREDIT = 1  # from a beat's result until its place is free
#: Of the checker, hw/celosia_hw/scalar/check.py: a matmul, a vector instruction with one source in
#: memory, a transfer that fits the first window; terms of further dimensions take a cycle each.
_CHECK_MATMUL, _CHECK_VECTOR, _CHECK_DMA = 8, 7, 11
#: From the checker to the unit where that is free; of transfers, see `ASKS`, too.
ISSUES = {Unit.LOAD: 4, Unit.STORE: 4, Unit.MXU: 3, Unit.VPU: 3}
#: From the end of a command that leaves the window until one is checked that waited for its place.
ROOM = {Unit.LOAD: 1, Unit.STORE: 2, Unit.MXU: 2, Unit.VPU: 3}
#: From the end of a command until one of another unit may start that waited for it.
HANDOVER = 1
#: From the end of a command until a matmul, or a store, that follows it may start that reads its
#: last row first; cycles from row to row of a store that follows, at least.
_FOLLOW, _STORE_FOLLOWS, _STORE_PACE = -2, 0, 2
_BURST_BEATS = 256
#: Units that follow others row by row, and behind how many of their oldest instructions.
LEADERS = {Unit.MXU: (Unit.LOAD, 2), Unit.STORE: (Unit.MXU, 1)}


class Cost(NamedTuple):
    """Cycles of a command.

    Attributes
    ----------
    check
        In the checker.
    occupied, latency
        From its first row until the unit takes the next command, and until the results are there.
    lead
        Before its first row: weights come in, while the matmul before computes.
    fill
        More of both, but right behind a command that has some, too: the first tile fills the
        transposer.
    burst, share
        Cycles of the memory for a burst of a load, and in what part of its cycles there is one.
    pace
        From a row that it writes to the next, where these are consecutive and units may follow it
        row by row; else 0.
    work, behind, turn, again
        Of a transfer, cycles of the memory, cycles from the last of them to its end, and those
        from a burst of a load to one of it, by `Occupancy`.
    singles
        Of a vector instruction, cycles of ``occupied`` for its single rows.
    """

    check: int
    occupied: int
    latency: int
    lead: int = 0
    fill: int = 0
    burst: float = 0.0
    pace: float = 0
    share: float = 1.0
    work: int = 0
    behind: int = 0
    turn: float = 0.0
    again: float = 0.0
    singles: int = 0


def cost(command: Command, config: TpuConfig, timing: Timing) -> Cost:
    """Return what a command costs where nothing is before or beside it."""
    if isinstance(command, Matmul):
        return _matmul(command, config)
    if isinstance(command, Vector):
        return _vector(command, config, timing)
    return _dma(command, config, timing)


def _terms(*streams: Stream) -> int:
    """Return the terms of the streams' further dimensions."""
    return sum(count > 1 for stream in streams for count in stream.counts[1:])


def repeats(config: TpuConfig) -> int:
    """Return the cycles from one addition to an accumulator row to the next one to the same row."""
    return _REPEAT + config.sum_cycles + config.cut


def _matmul(command: Matmul, config: TpuConfig) -> Cost:
    occupied = command.length
    if command.accumulate:
        occupied += lost_by_repeats(command.acc, _REPEAT + config.sum_cycles)
    through = (config.sum_cycles + 1) * (config.dim + 1) + config.product_cycles
    latency = occupied + through + _MATMUL
    pace = int(_consecutive(command.acc))
    check = _CHECK_MATMUL + _terms(command.acts, command.acc)
    if command.weights is None:
        return Cost(check - 1, occupied, latency, pace=pace)
    return Cost(check, occupied, latency, config.dim, pace=pace)


def _consecutive(stream: Stream) -> bool:
    return stream.strides[0] == 1 and stream.last - stream.base == stream.length - 1


def follow(command: Command, lead: int, rows: tuple[int, int], pace: float, dim: int) -> int:
    """Return when a command may start behind another one that it follows row by row.

    Parameters
    ----------
    command, lead
        A matmul behind a load, or a store behind a matmul; the lead of its cost.
    rows, pace
        First and last row that the other one writes, and the pace of its cost.
    dim
        Of the chip.

    Returns
    -------
    int
        Cycles from the end of the other one to the first row of this one, negative where that
        comes before.
    """
    low, high = rows
    if isinstance(command, Matmul):
        each, streams = 1, [(command.acts, _FOLLOW)]
        if command.weights is not None:
            streams.append((command.weights, lead + _FOLLOW))
    else:
        assert isinstance(command, Dma), command
        each, streams = _STORE_PACE, [(command.chip(dim), _STORE_FOLLOWS)]
    found: list[float] = []
    for stream, later in streams:
        first, last = max(low, stream.base), min(high, stream.last)
        if first <= last:
            index = min(last - stream.base, stream.length - 1)
            found += [later - (high - first) * pace, later - (high - last) * pace - index * each]
    return int(max(found, default=HANDOVER + lead))


def paced(rows: int, occupied: int, beside: int) -> int:
    """Return the cycles that a store takes longer for the rows that it follows.

    ``rows``, ``occupied``: of it. ``beside``: cycles for which who writes them is at it still.
    """
    followed = min(rows - 1, max(0, beside - _STORE_PACE) // _STORE_PACE)
    return int(followed * max(0.0, _STORE_PACE - occupied / rows))


def _dma(command: Dma, config: TpuConfig, timing: Timing) -> Cost:
    beats = _beats(command, config.bus_bytes)
    opened = pages(command, timing)
    work = timing.occupied(beats * timing.beat_cycles + opened * timing.page_cycles)
    moves = command.rows * ceil_div(command.cols, config.dim)
    occupied = max(moves, work)
    if isinstance(command, Load):
        occupied = max(occupied, beats + _stalls(
            command.addr % config.bus_bytes, command.pitch, command.row_bytes, command.rows,
            (config.bus_bytes, config.dim * command.fmt.nbytes)))
    # (The compiler asks what nothing costs, too.)
    bursts = max(1, command.rows * ceil_div(beats, max(1, command.rows) * _BURST_BEATS))
    if not isinstance(command, Load):
        goes_on = max(0.0, 1 - opened / bursts)  # of its bursts, those in a row that is open
        behind = timing.write_latency + _STORE + config.cut - config.small - timing.first
        return Cost(_CHECK_DMA, occupied, occupied + behind, burst=work / bursts, work=work,
                    behind=behind, turn=timing.turn_cycles * goes_on,
                    again=2 * timing.page_cycles * goes_on)
    rises = (command.mem == Mem.UB and command.cols <= config.dim and command.row_step == 1)
    # Loads that follow one another go on asking; one by itself has asked before it waits.
    waits, wait = (timing.waits(count, beats, bursts, opened)
                   for count in (bursts, bursts - timing.outstanding))
    latency = max(occupied, wait) + ASKS + timing.way + LANDS - 2 * config.small
    occupied = max(occupied, waits)
    share, pace = work / occupied, max(1, occupied / command.rows) if rises else 0
    # A cut chip has a cycle between commands, hw/celosia_hw/dma/rows.py.
    occupied = max(occupied, moves + config.cut)
    return Cost(_CHECK_DMA, occupied, latency, burst=work / bursts,
                pace=pace, share=share, work=work, behind=LANDS)


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


@lru_cache(maxsize=1 << 12)
def _stalls(addr: int, pitch: int, size: int, rows: int, widths: tuple[int, int]) -> int:
    """Cycles in which a load takes no beat, for the one before has brought the ends of two on-chip
    rows: the second is written meanwhile, or while a beat comes in which none ends.

    Parameters
    ----------
    addr, pitch, size, rows
        First byte of the first external row, from one to the next, bytes of each, and their number.
    widths
        Bytes of a beat, and of an on-chip row.
    """
    bus, row = widths
    if row < bus:
        return 0
    period = bus // math.gcd(pitch, bus)
    stalls = [0]  # until each external row has come
    more = 0  # on-chip rows that are still to be written
    played = rows if rows < 3 * period else 2 * period + rows % period
    for index in range(played):
        first = (addr + index * pitch) % bus
        ends = [0] * ((first + size + bus - 1) // bus)
        for byte in range(row, size + row, row):
            ends[(first + min(byte, size) - 1) // bus] += 1
        stalls.append(stalls[-1])
        for count in ends:
            stalls[-1] += more if count else 0
            more = max(count - 1, 0)
    each = stalls[-1] - stalls[-1 - period] if rows > played else 0
    return stalls[-1] + (rows - played) // period * each + more


def _vector(command: Vector, config: TpuConfig, timing: Timing) -> Cost:
    check = _CHECK_VECTOR - 1 + _terms(command.dst) + sum(
        1 + _terms(source.stream) for source in command.sources if source.stream is not None)
    fold, rows = config.fold, VectorRows.of(command, config)
    alone = played_alone(rows if timing.bank_conflicts else rows.apart, config)
    # From the first request to the last, and to the end.
    occupied = alone.read + 1 + config.cut
    latency = READER * config.cut + alone.last + WRITTEN
    if command.op == VectorOp.ROTATE and fold > 1:
        occupied += command.length  # the first beat of each row once more
        latency += command.length
    if command.reduce >= Reduce.LANES:
        behind = tree_latency(config) + fold - 1
        # A beat's place is free again when the last one of its row has been through the tree, and
        # where it leaves the queue of the writer if that is registered.
        credit = _CREDIT + (config.cut or config.small)
        waits = max(lane_latency(config) + behind + credit - in_flight(config), 0) * (
            command.length * fold // in_flight(config))
        occupied += waits
        latency += waits + behind
    if command.op in INDEXED_OPS:
        occupied += 1
        # The indexes of a gather come through a reader before its rows do.
        latency += (_GATHER + READER * config.cut + config.small
                    if command.op == VectorOp.GATHER else _SCATTER)
    fill = config.dim * fold + 1 if command.op == VectorOp.TRANSPOSE else 0
    return Cost(max(check, _CHECK_VECTOR), occupied, latency, fill=fill, singles=rows.singles)
