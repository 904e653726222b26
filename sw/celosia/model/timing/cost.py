"""Cost model of a command by itself: cycles in checker and unit, beside what it waits for.

The estimator counts with it, and so does the compiler where it puts operations into order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from celosia.arch.commands import SRC_MEM, Command, Dma, Load, Matmul, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem, Unit
from celosia.arch.lane import boundary_latency, in_flight, lane_latency, tree_latency
from celosia.arch.streams import Stream
from celosia.arch.vector import INDEXED_OPS, ROW_SRCS, STREAM_SRCS, Reduce, VectorOp
from celosia.arch.words import ceil_div
from celosia.model.timing.banks import lost_by_pair, lost_by_repeats, lost_by_singles
from celosia.model.timing.memory import Timing, pages

__all__ = ["ASKS", "HANDOVER", "ISSUES", "LANDS", "LEADERS", "READS", "ROOM", "WRITES", "Cost",
           "cost", "follow", "sources"]

#: Constants of the RTL, measured with single instructions: cycles of a unit, beside rows, bus, fill
#: and drain.
_STORE, _MATMUL, _VECTOR = 16, 2, 3
_FLOATING, _GATHER, _SCATTER = 1, 4, 2  # more of the vector unit: with bf16, for indices
_READER = 4  # cycles of registers that cut a reader
#: From one addition to an accumulator row to the next one to the same row, beside the sum's cycles.
_REPEAT = 3
#: Of a load: until its first address goes out, and from its last beat until its rows are there.
ASKS, LANDS = 9, 4
#: Of a store: until it reads its first row, and cycles that it may fall behind in reading before
#: it is written later.
READS, WRITES = 5, 4
_CREDIT = 1  # from a beat's result until its place is free
#: Where a memory has one bank: beats that the first stream reads between those of the second of two
#: single rows, by the beats of a row; how many of them are hidden where rows are right behind those
#: of another instruction.
_AHEAD, _HIDDEN = {1: 4, 2: 5, 4: 7}, 2
#: Of the checker, hw/celosia_hw/scalar/check.py: a matmul, a vector instruction with one source in
#: memory, a transfer that fits the first window; terms of further dimensions take a cycle each.
_CHECK_MATMUL, _CHECK_VECTOR, _CHECK_DMA = 8, 7, 11
#: From the checker to the first row where a unit is free; of transfers, see `ASKS` and `READS`.
ISSUES = {Unit.LOAD: 0, Unit.STORE: 0, Unit.MXU: 3, Unit.VPU: 3}
#: From the end of a command that leaves the window until one is checked that waited for its place.
ROOM = {Unit.LOAD: 1, Unit.STORE: 2, Unit.MXU: 2, Unit.VPU: 3}
#: From the end of a command until one of another unit may start that waited for it.
HANDOVER = 1
#: From the end of a command until a matmul, or a store, that follows it may start that reads its
#: last row first; cycles from row to row of a store that follows, at least.
_FOLLOW, _STORE_FOLLOWS, _STORE_PACE = -2, -2, 2
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
    work, behind, turn
        Of a transfer, cycles of the memory, cycles from the last of them to its end, and those
        from a burst of a load to one of it. Of a vector instruction, cycles behind its last row.
    singles, waits
        Of a vector instruction, cycles of ``occupied`` for its single rows; cycles of ``latency``
        in which these wait for their bank, hidden where it is right behind another one.
    """

    check: int
    occupied: int
    latency: int
    lead: int = 0
    fill: int = 0
    burst: float = 0.0
    pace: int = 0
    share: float = 1.0
    work: int = 0
    behind: int = 0
    turn: float = 0.0
    singles: int = 0
    waits: int = 0


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


def _dma(command: Dma, config: TpuConfig, timing: Timing) -> Cost:
    beats = _beats(command, config.bus_bytes)
    opened = pages(command, timing)
    work = timing.occupied(beats * timing.beat_cycles + opened * timing.page_cycles)
    moves = command.rows * ceil_div(command.cols, config.dim)
    occupied = max(moves, work)
    # (The compiler asks what nothing costs, too.)
    bursts = max(1, command.rows * ceil_div(beats, max(1, command.rows) * _BURST_BEATS))
    if not isinstance(command, Load):
        behind = timing.write_latency + _STORE + config.cut - 2 * config.small - timing.first
        return Cost(_CHECK_DMA, occupied, occupied + behind, burst=work / bursts, work=work,
                    behind=behind, turn=timing.turn_cycles * max(0.0, 1 - opened / bursts))
    rises = (command.mem == Mem.UB and command.cols <= config.dim and command.row_step == 1)
    # Loads that follow one another go on asking; one by itself has asked before it waits.
    waits, wait = (timing.waits(count, beats, bursts, opened)
                   for count in (bursts, bursts - timing.outstanding))
    latency = max(occupied, wait) + ASKS + timing.way + LANDS - 2 * config.small
    occupied = max(occupied, waits)
    share, pace = work / occupied, max(1, occupied // command.rows) if rises else 0
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


def sources(command: Vector) -> tuple[list[tuple[Mem, Stream]], list[tuple[Mem, Stream]]]:
    """Return streams and single rows that a vector instruction reads, each with its memory."""
    found = [(source.kind, source.stream) for source in command.sources
             if source.stream is not None]
    streams, singles = (
        [(SRC_MEM[kind], stream) for kind, stream in found if kind in kinds]
        for kinds in (STREAM_SRCS, ROW_SRCS))
    return streams, singles


def _vector(command: Vector, config: TpuConfig, timing: Timing) -> Cost:
    streams, singles = sources(command)
    check = _CHECK_VECTOR - 1 + _terms(command.dst) + sum(
        1 + _terms(source.stream) for source in command.sources if source.stream is not None)
    fold, rows = config.fold, len(singles)
    before = ((rows > 0) + (rows > 2)) * fold
    occupied = command.length * fold + before
    if command.op == VectorOp.ROTATE and fold > 1:
        occupied += command.length  # the first beat of each row once more
    through = lane_latency(config) + boundary_latency(config) + _VECTOR + _FLOATING * config.bf16
    if command.reduce >= Reduce.LANES:
        behind = tree_latency(config) + fold - 1
        # A beat's place is free again when the last one of its row has been through the tree, and
        # where it leaves the queue of the writer if that is registered.
        credit = _CREDIT + (config.cut or config.small)
        occupied += max(lane_latency(config) + behind + credit - in_flight(config), 0) * (
            command.length * fold // in_flight(config))
        through += behind
    latency = occupied + through
    waits = lost_by_singles(singles, streams, fold, config.banks) if timing.bank_conflicts else 0
    latency += waits
    if config.banks == 1 and rows > 1 and streams and timing.bank_conflicts:
        lost = min((command.length - 1) * fold, _AHEAD[fold])
        more = max(lost - _HIDDEN, 0)
        before += more
        occupied += more
        latency += lost
    if command.op in INDEXED_OPS:
        occupied += 1
        # The indexes of a gather come through a reader before its rows do.
        latency += (_GATHER + _READER * config.cut + config.small
                    if command.op == VectorOp.GATHER else _SCATTER)
    elif len(streams) == 2 and streams[0][0] == streams[1][0] and timing.bank_conflicts:
        once, lost = lost_by_pair(streams[0][1], streams[1][1], fold, config.banks)
        occupied += lost
        latency += lost + once
    check = max(check, _CHECK_VECTOR)
    fill = config.dim * fold + 1 if command.op == VectorOp.TRANSPOSE else 0
    return Cost(check, occupied + config.cut, latency, fill=fill, behind=through, singles=before,
                waits=waits)
