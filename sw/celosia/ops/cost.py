"""An estimate of the cycles of a plan. It only weighs plans against each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celosia.arch.config import TpuConfig
from celosia.codegen.nodes import ceil_div
from celosia.ops.stages import ELEMENT_BYTES, Chain, Stage

if TYPE_CHECKING:
    from celosia.ops.plan import Plan

__all__ = ["estimate"]

#: Cycles that the scalar unit needs for a tensor instruction.
ISSUE = 9
#: Cycles from an address on the memory port to its data, and through a unit.
LATENCY = 100
#: Cycles from the last sum of a row to its result in the unified buffer, beside 2 D in the array.
VECTOR_LATENCY = 30


def _beats(config: TpuConfig, elements: int, size: int, pitch: int) -> int:
    """Bus beats of one external row, the first byte where it may fall at worst."""
    aligned = pitch % config.bus_bytes == 0 and elements * size % config.bus_bytes == 0
    return ceil_div(elements * size, config.bus_bytes) + (0 if aligned else 1)


def _weight_load(config: TpuConfig, stage: Stage, tiles: int, depth: int) -> int:
    """Cycles to load a panel of weights."""
    dim, size = config.dim, stage.operand_bytes
    columns, deep = min(tiles * dim, stage.n), min(depth * dim, stage.k)
    if stage.transpose:
        beats = columns * _beats(config, deep, size, stage.k * size)
    else:
        beats = deep * _beats(config, columns, size, stage.n * size)
    return max(beats, min(tiles, stage.n_tiles(config)) * depth * dim)


def _stalls(paces: list[tuple[int, float, float]], ahead: int, again: bool) -> float:
    """Cycles that the first passes of stages wait for weights.

    These are loaded during the ``ahead`` passes before, which may be those of a smaller stage.
    """
    stalls = 0.0
    for stage, (_, _, load) in enumerate(paces):
        if stage == 0 and not again:
            continue
        left, time, before = ahead, 0.0, stage - 1
        while left and before >= stage - len(paces):
            passes, cycles, _ = paces[before]
            time += min(left, passes) * cycles
            left -= min(left, passes)
            before -= 1
        stalls += max(0.0, load + LATENCY - time) if ahead else 0.0
    return stalls


def estimate(config: TpuConfig, chain: Chain, plan: Plan) -> float:
    """Estimate cycles: for each pass the slowest of its units, and of what it waits for."""
    dim, stages = config.dim, chain.stages
    blocks = ceil_div(chain.m, plan.rows)
    rows = chain.m / blocks
    total = 0.0
    paces: list[tuple[int, float, float]] = []  # of each stage: passes, cycles and load of one
    start = tail = 0.0
    for s, stage in enumerate(stages):
        k_tiles, n_tiles = stage.k_tiles(config), stage.n_tiles(config)
        depth = plan.depth if s == 0 else k_tiles
        k_blocks = ceil_div(k_tiles, depth)
        groups = ceil_div(n_tiles, plan.tiles)
        tiles, deep = n_tiles / groups, k_tiles / k_blocks
        compute = deep * tiles * max(rows, dim)
        load = float(_weight_load(config, stage, plan.tiles, depth))
        vector = rows * tiles / k_blocks
        out = 0.0
        issued = deep * tiles + 2 + (tiles + 1) / k_blocks
        if s == len(stages) - 1:
            size = ELEMENT_BYTES[stage.output]
            columns = min(plan.tiles * dim, stage.n)
            beats = max(_beats(config, columns, size, stage.n * size), ceil_div(columns, dim))
            out = rows * beats / k_blocks
            small = max(dim, min(2 * dim, rows / 4))
            tail = (2 * LATENCY + 2 * dim + small * (1 + beats / tiles)
                    + max(0.0, (rows - small) * beats - deep * tiles * small))
        if s == 0:
            size = stage.operand_bytes
            block = max(rows * _beats(config, min(depth * dim, stage.k), size, stage.k * size),
                        rows * deep)
            if chain.transpose:
                turns = deep * max(ceil_div(plan.rows, dim) * dim, dim)
                block += turns / 2
            hosts = 1 if k_blocks > 1 else groups + sum(
                ceil_div(other.n_tiles(config), plan.tiles) for other in stages[1:])
            if blocks * k_blocks * (groups if k_blocks > 1 else 1) > 1:
                load += block / hosts
                if hosts == 1:  # a block's loads begin when the one before it is in use
                    compute = max(compute, block + LATENCY)
                if chain.transpose:
                    vector += (turns + deep * 2 * dim) / hosts
                    issued += deep / hosts
            first = block / deep + tiles * dim  # rows of a slice of depth
            start = (2 * LATENCY + first
                     + max(0.0, (deep - 1) * first - (deep - 1) * tiles * max(rows, dim)))
        waits = 0.0
        if plan.weight_slots > 1:
            waits = (load + LATENCY) / (plan.weight_slots - 1)
        elif blocks * groups * k_blocks > 1:
            waits = compute + load + LATENCY
        if plan.sum_slots > 1:
            waits = max(waits, (out + vector + (2 * LATENCY + 2 * dim) / k_blocks)
                        / (plan.sum_slots - 1))
        paces.append((groups * k_blocks, compute, load))
        total += blocks * groups * k_blocks * max(
            compute, load, out, vector, ISSUE * issued, waits)
        # A pass costs the window a little, and loads get in each other's way.
        total += blocks * groups * k_blocks * (4 + 0.03 * load)
    for stage in stages[:-1]:
        # The next stage begins with tiles that are done, the last group's come at its end.
        done = (stage.n_tiles(config) - 1) // plan.tiles * plan.tiles
        total += blocks * max(0.0, 2 * dim + VECTOR_LATENCY + rows - done * max(rows, dim))
    total += blocks * _stalls(paces, plan.weight_slots - 1, blocks > 1)
    # Of equals, the plan of fewer blocks makes the shorter program.
    return (total + start + tail) * (1 + 0.001 * math.log2(blocks))
