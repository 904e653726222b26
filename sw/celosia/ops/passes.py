"""The passes of a chain: what is computed at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from celosia.arch.config import TpuConfig
from celosia.ops.plan import Plan
from celosia.ops.stages import Chain

__all__ = ["Pass", "passes"]


@dataclass(frozen=True)
class Pass:
    """One group of columns over one block of rows and of depth."""

    index: int
    stage: int
    row: int       # first row of the block in the chain
    rows: int
    n0: int        # tiles of columns [n0, n1)
    n1: int
    k0: int        # tiles of depth [k0, k1)
    k1: int
    block: int     # number of its block of activations; -1: they are on chip
    group: int     # number of its group of columns
    last: bool     # whether it completes its sums


def passes(config: TpuConfig, chain: Chain, plan: Plan) -> Iterator[Pass]:
    """Yield the passes of a chain in order: by rows, stages, groups of columns, depth."""
    index = block = group = -1
    for row in range(0, chain.m, plan.rows):
        rows = min(plan.rows, chain.m - row)
        for s, stage in enumerate(chain.stages):
            k_tiles, n_tiles = stage.k_tiles(config), stage.n_tiles(config)
            depth = plan.depth if s == 0 else k_tiles
            for n0 in range(0, n_tiles, plan.tiles):
                group += 1
                for k0 in range(0, k_tiles, depth):
                    index += 1
                    if s == 0 and (n0 == 0 or depth < k_tiles):
                        block += 1
                    k1 = min(k0 + depth, k_tiles)
                    yield Pass(index, s, row, rows, n0, min(n0 + plan.tiles, n_tiles), k0, k1,
                                block if s == 0 else -1, group, k1 == k_tiles)
