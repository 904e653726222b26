"""Block sizes and places in the on-chip memories, chosen by an estimate of the cycles."""

from __future__ import annotations

from dataclasses import dataclass, replace

from celosia.arch.config import TpuConfig
from celosia.codegen.nodes import ceil_div
from celosia.ops.cost import estimate
from celosia.ops.stages import Chain, Stage

__all__ = ["Plan", "plan"]

#: A count, a step and a column count of an instruction are below this.
_COUNT_LIMIT = 1 << 16
#: Most rows of columns' parameters that stay in the accumulators for the whole program.
_RESIDENT_SHARE = 8
#: Panels of weights that are loaded ahead, at most.
MAX_WEIGHT_SLOTS = 4
MAX_SUM_SLOTS = 4
#: Slots that are tried, best first: most of weights, whether those of parameters are as few as
#: possible (powers of two leave shorter loops), those of raw tiles that wait to be transposed.
_SLOTS = ((MAX_WEIGHT_SLOTS, False, 4), (2, False, 4), (2, True, 4), (2, True, 1), (1, True, 1))


@dataclass(frozen=True)
class Plan:
    """How a chain is cut into blocks, and where they lie.

    Attributes
    ----------
    rows
        Rows of a block of activations.
    tiles
        Tiles of columns that are computed together (a group).
    depth
        Tiles of depth in a block of the first stage; all of them in a chain of several stages.
    acts, act_slots
        First UB row and number of the first stage's blocks of activations.
    hidden
        First UB row of each later stage's activations.
    weights, weight_slots, weight_rows
        First UB row of the weight panels, their number, rows of each.
    sums, sum_slots
        First ACC row and number of the blocks of sums.
    parameters, parameter_slots
        First ACC row of the columns' parameters of each stage; slots of them, or 0 where those of
        all columns stay.
    raw, raw_slots
        First UB row of slices to be transposed, and how many of those may wait.
    slice_rows
        UB rows of a slice of depth of the first stage's activations.
    mask
        First ACC row of the masks, one for each stage.
    cycles
        The estimate.
    """

    rows: int
    tiles: int
    depth: int
    acts: int
    act_slots: int
    hidden: tuple[int, ...]
    weights: int
    weight_slots: int
    weight_rows: int
    sums: int
    sum_slots: int
    parameters: tuple[int, ...]
    parameter_slots: int
    raw: int
    raw_slots: int
    slice_rows: int
    mask: int
    cycles: float


def _fit(config: TpuConfig, chain: Chain, rows: int, tiles: int, depth: int) -> Plan | None:
    """Lay out one candidate, with as many slots as fit; None where it does not fit."""
    for slots in _SLOTS:
        found = _lay_out(config, chain, rows, tiles, depth, *slots)
        if found is not None:
            return found
    return None


def _lay_out(config: TpuConfig, chain: Chain, rows: int, tiles: int, depth: int,
             most_slots: int, exact_slots: bool, raw_slots: int) -> Plan | None:
    dim, stages = config.dim, chain.stages
    blocks = ceil_div(chain.m, rows)
    k_blocks = ceil_div(stages[0].k_tiles(config), depth)
    groups = [ceil_div(stage.n_tiles(config), tiles) for stage in stages]
    act_blocks = blocks * (k_blocks * groups[0] if k_blocks > 1 else 1)
    passes = blocks * (k_blocks * groups[0] + sum(groups[1:]))

    act_slots = min(2, act_blocks)
    # Whole tiles are transposed.
    slice_rows = ceil_div(rows, dim) * dim if chain.transpose else rows
    used = act_slots * depth * slice_rows
    hidden = []
    for stage in stages[1:]:
        hidden.append(used)
        used += stage.k_tiles(config) * rows
    raw = used
    if chain.transpose:
        used += raw_slots * slice_rows
    depths = [depth, *(stage.k_tiles(config) for stage in stages[1:])]
    weight_rows = max(min(tiles, stage.n_tiles(config)) * d * dim
                      for stage, d in zip(stages, depths, strict=True))
    if weight_rows >= _COUNT_LIMIT or max(depths) * dim >= _COUNT_LIMIT or rows >= _COUNT_LIMIT:
        return None
    weight_slots = min(most_slots, passes, (config.ub_rows - used) // weight_rows)
    if weight_slots == 3:
        weight_slots = 2  # even numbers leave shorter loops
    if weight_slots < min(2, most_slots, passes):
        return None

    resident = sum(stage.parameters * stage.n_tiles(config) for stage in stages)
    parameter_slots = 0
    if (resident > config.acc_rows // _RESIDENT_SHARE
            or any(stage.n >= _COUNT_LIMIT for stage in stages)):
        # Parameters come with the weights of a group's last pass, and the vector work that reads
        # them lags behind by a pass: the slot must be free again weight_slots passes later.
        parameter_slots = weight_slots // k_blocks + 1
        if not exact_slots:
            parameter_slots = 1 << (parameter_slots - 1).bit_length()
        resident = parameter_slots * tiles * max(stage.parameters for stage in stages)
    acc_used = len(stages) if chain.mask is not None else 0
    parameters = []
    for stage in stages:
        parameters.append(acc_used)
        if not parameter_slots:
            acc_used += stage.parameters * stage.n_tiles(config)
    acc_used += resident if parameter_slots else 0
    outputs = blocks * sum(groups)
    sum_slots = min(MAX_SUM_SLOTS, outputs, (config.acc_rows - acc_used) // (tiles * rows))
    if sum_slots == 3:
        sum_slots = 2
    if sum_slots < min(2, outputs):
        return None
    found = Plan(rows, tiles, depth, 0, act_slots, tuple(hidden), used, weight_slots, weight_rows,
                 acc_used, sum_slots, tuple(parameters), parameter_slots, raw, raw_slots,
                 slice_rows, 0, 0.0)
    return replace(found, cycles=estimate(config, chain, found))


def _row_candidates(config: TpuConfig, m: int) -> list[int]:
    """Rows of a block, from many to few: equal blocks of at most so many rows."""
    limits = {1, m}
    size = 1
    while size < min(m, config.acc_rows):
        limits |= {size, 3 * size // 2}
        size *= 2
    found = {ceil_div(m, ceil_div(m, limit)) for limit in limits if 0 < limit <= config.acc_rows}
    return sorted(found, reverse=True)


def _depth_candidates(stage: Stage, config: TpuConfig) -> list[int]:
    k_tiles = stage.k_tiles(config)
    found, blocks = set(), 1
    while blocks < 2 * k_tiles:
        found.add(ceil_div(k_tiles, min(blocks, k_tiles)))
        blocks = blocks + 1 if blocks < 8 else blocks * 5 // 4
    return sorted(found, reverse=True)


def plan(config: TpuConfig, chain: Chain) -> Plan:
    """Return the plan of least estimated cycles.

    Raises
    ------
    ValueError
        If no block size fits the on-chip memories.
    """
    first = chain.stages[0]
    depths = [first.k_tiles(config)] if len(chain.stages) > 1 else _depth_candidates(first, config)
    widest = max(stage.n_tiles(config) for stage in chain.stages)
    best: Plan | None = None
    for rows in _row_candidates(config, chain.m):
        for tiles in (1, 2, 3, 4, 6, 8, 12, 16):
            if tiles > widest and tiles > 1:
                break
            for depth in depths:
                found = _fit(config, chain, rows, tiles, depth)
                if found is not None and (best is None or found.cycles < best.cycles):
                    best = found
    if best is None:
        layers = ", ".join(f"{stage.k}x{stage.n}" for stage in chain.stages)
        raise ValueError(
            f"a chain of layers {layers} must keep the activations of at least one row on chip: "
            f"they do not fit a unified buffer of {config.ub_rows} rows and accumulators of "
            f"{config.acc_rows} rows of {config.dim} lanes")
    return best
