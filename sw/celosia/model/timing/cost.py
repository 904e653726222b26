"""Cost of a command by itself: cycles in its unit, beside what it waits for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from celosia.arch.commands import SRC_MEM, Command, Dma, Load, Matmul, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.vector import INDEXED_OPS, ROW_SRCS, STREAM_SRCS, Reduce, VectorOp
from celosia.arch.words import ceil_div
from celosia.model.timing.banks import lost_by_pair, lost_by_repeats

__all__ = ["LOAD", "MATMUL", "STORE", "Cost", "Timing", "cost", "vector_latency"]

#: Constants of the RTL, measured with single instructions: cycles of a unit, beside rows, bus, fill
#: and drain.
LOAD, STORE, MATMUL, _VECTOR = 14, 16, 6, 13
_FLOATING, _GATHER, _SCATTER = 5, 4, 2  # more of the vector unit: with bf16, for indices
_BURST_BEATS = 256


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


class Cost(NamedTuple):
    """Cycles until the unit takes the next command, and until the results of this one are there.

    ``burst``: beats of a burst of a load.
    """

    occupied: int
    latency: int
    burst: float = 0.0


def vector_latency(config: TpuConfig) -> int:
    """Cycles of a vector instruction in its unit, beside its rows; some kinds take more."""
    return _VECTOR + _FLOATING * config.bf16


def cost(command: Command, config: TpuConfig, timing: Timing) -> Cost:
    """Return what a command costs where nothing is before or beside it."""
    if isinstance(command, Matmul):
        occupied = command.length
        if command.accumulate:
            occupied += lost_by_repeats(command.acc)
        return Cost(occupied, occupied + 2 * config.dim + MATMUL)
    if isinstance(command, Vector):
        return _vector(command, config)
    return _dma(command, config, timing)


def _dma(command: Dma, config: TpuConfig, timing: Timing) -> Cost:
    beats = _beats(command, config.bus_bytes)
    occupied = max(command.rows * ceil_div(command.cols, config.dim), beats)
    if not isinstance(command, Load):
        return Cost(occupied, occupied + timing.write_latency + STORE)
    bursts = command.rows * ceil_div(beats, command.rows * _BURST_BEATS)
    occupied = max(occupied, (bursts - timing.outstanding) * timing.read_latency
                   // timing.outstanding)
    return Cost(occupied, occupied + timing.read_latency + LOAD, beats / bursts)


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


def _vector(command: Vector, config: TpuConfig) -> Cost:
    streams, rows = [], 0
    for source in command.sources:
        if source.stream is None:
            continue
        if source.kind in STREAM_SRCS:
            streams.append((SRC_MEM[source.kind], source.stream))
        elif source.kind in ROW_SRCS:
            rows += 1
    occupied = command.length + (rows > 0) + (rows > 2)
    latency = occupied + vector_latency(config)
    if command.reduce >= Reduce.LANES:
        latency += config.dim.bit_length()  # a level of a tree each, one to broadcast
    if command.op in INDEXED_OPS:
        occupied += 1
        latency += _GATHER if command.op == VectorOp.GATHER else _SCATTER
    elif len(streams) == 2 and streams[0][0] == streams[1][0]:
        once, lost = lost_by_pair(streams[0][1], streams[1][1])
        occupied += lost
        latency += lost + once
    return Cost(occupied, latency)
