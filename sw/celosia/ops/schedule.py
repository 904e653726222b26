"""The order of a chain's instructions, so that loads, sums, vector work and stores overlap.

A pass computes one group of column tiles over one block of rows and depth. Passes follow one
another; each one's weights, and slices of the next block of activations, are loaded while earlier
passes compute, and its sums are finished and stored while later ones do. The first pass starts
with its first slice of depth; the last one is cut into rows, so that little is left to store when
the array is done.
"""

from __future__ import annotations

from celosia.arch.config import TpuConfig
from celosia.codegen.nodes import Node, ceil_div
from celosia.ops.emit import Emitter
from celosia.ops.passes import Pass, passes
from celosia.ops.plan import Plan
from celosia.ops.stages import Chain

__all__ = ["schedule"]

#: Matmuls of a pass that are handed out before the vector work of the pass before it, so that the
#: array has work while that waits for the last sums.
DELAY = 2
#: Rows of loads, at least, that the first pass waits for before it computes.
FIRST_ROWS = 48


class _Scheduler(Emitter):
    def __init__(self, config: TpuConfig, chain: Chain, plan: Plan):
        super().__init__(config, chain, plan)
        self.passes = list(passes(config, chain, plan))
        self.pending: Pass | None = None  # its sums wait for their vector work

    def compute(self, p: Pass, n: int, row: int, rows: int) -> None:
        """Emit one tile of columns, the vector work of the pass before in its midst."""
        waiting = self.pending
        start = p.k0
        if waiting is not None:
            cut = min(p.k0 + DELAY, p.k1)
            if waiting.stage != p.stage and p.stage:
                cut = max(min(cut, waiting.n0), p.k0)  # its results are read from there on
            self.run(p, n, p.k0, cut, row, rows)
            self.finish_pending()
            start = cut
        self.run(p, n, start, p.k1, row, rows)

    def finish_pending(self) -> None:
        if self.pending is not None:
            p, self.pending = self.pending, None
            self.finish(p, p.n0, p.n1, 0, p.rows)

    def first_pass(self, ahead: list[Pass]) -> None:
        """Emit the first pass by slices of depth, each one's loads ahead of its sums."""
        p = self.passes[0]
        height, width = p.rows, (p.n1 - p.n0) * self.dim
        step = 1 if self.chain.transpose else max(1, ceil_div(FIRST_ROWS, height + width))
        starts = list(range(p.k0, p.k1, step))
        # Where slices load faster than they are computed, the loads run away from the sums.
        cycles = (p.n1 - p.n0) * max(p.rows, self.dim)
        pace = 1 if self.chain.transpose else max(1.0, min(4.0, cycles / (height + width)))
        loaded = 0
        for i, k in enumerate(starts):
            wanted = min(int(2 + i * pace), len(starts))
            while loaded < wanted:
                if self.chain.transpose and loaded - self.turned == self.plan.raw_slots:
                    self.turn_first(p)
                self.first_load(p, starts[loaded], min(starts[loaded] + step, p.k1), loaded)
                loaded += 1
                if loaded == len(starts):
                    if self.plan.parameter_slots and p.last and self.stage(p).parameters:
                        self.load_parameters(0, self.parameters(p, p.n0)[0], p.n0, p.n1)
                    self.load_constants()
                    for later in ahead:
                        self.load_pass(later)
            if self.chain.transpose:  # a slice ahead of the sums, which wait for the vector unit
                while self.turned < min(i + 2, len(starts)):
                    self.turn_first(p)
            if k + step >= p.k1 and len(self.passes) == 1:
                self.last_slice(p, k)
            else:
                for n in range(p.n0, p.n1):
                    self.run(p, n, k, min(k + step, p.k1), 0, p.rows)

    def first_load(self, p: Pass, k0: int, k1: int, index: int) -> None:
        """Load slices of depth of the first pass, activations and weights."""
        if self.chain.transpose:
            self.load_raw(p, k0, index)
        else:
            self.load_acts(p, k0, k1)
        for tile in range(k0, k1):
            self.load_weights(p, tile, tile + 1)

    def turn_first(self, p: Pass) -> None:
        """Transpose the next slice of the first pass."""
        self.turn(p, p.k0 + self.turned, self.turned)
        self.turned += 1

    def chunks(self, p: Pass) -> list[tuple[int, int]]:
        """Rows of the last pass, cut so that little remains after its last sums."""
        small = max(self.dim, min(2 * self.dim, p.rows // 4))
        if p.rows < 2 * small:
            return [(0, p.rows)]
        return [(0, p.rows - small), (p.rows - small, small)]

    def last_slice(self, p: Pass, k: int) -> None:
        """Emit the end of a program's only pass."""
        for row, rows in self.chunks(p):
            for n in range(p.n0, p.n1):
                self.run(p, n, k, p.k1, row, rows)
                self.finish(p, n, n + 1, row, rows)

    def last_pass(self, p: Pass) -> None:
        for row, rows in self.chunks(p):
            for n in range(p.n0, p.n1):
                self.compute(p, n, row, rows)
                self.finish(p, n, n + 1, row, rows)

    def schedule(self) -> list[Node]:
        ahead = self.plan.weight_slots - 1
        passes = self.passes
        blocks: dict[int, list[Pass]] = {}
        for p in passes:
            if p.block >= 0:
                blocks.setdefault(p.block, []).append(p)
        spans = self._spans(blocks)
        for p in passes:
            if p.index == 0:
                self.first_pass(passes[1:1 + ahead])
            elif p.index + ahead < len(passes):
                self.load_pass(passes[p.index + ahead])
            slices = spans.get(p.index)
            if slices is not None:
                self.load_next_acts(*slices)
            if p.index == len(passes) - 1:
                if p.index:
                    self.last_pass(p)
            else:
                if p.index:
                    for n in range(p.n0, p.n1):
                        self.compute(p, n, 0, p.rows)
                self.finish_pending()
                if p.last:
                    self.pending = p
            if slices is not None:
                self.turn_next_acts(*slices)
        return self.out

    def _spans(self, blocks: dict[int, list[Pass]]) -> dict[int, tuple[Pass, int, int]]:
        """For each pass, the slices of the next block of activations to load during it."""
        spans = {}
        for block, own in blocks.items():
            if block + 1 not in blocks:
                continue
            target = blocks[block + 1][0]
            # Later stages of the same rows give time too.
            hosts = [p for p in self.passes[own[0].index:target.index]]
            count = target.k1 - target.k0
            k = target.k0
            for i, host in enumerate(hosts):
                share = count // len(hosts) + (i < count % len(hosts))
                if share:
                    spans[host.index] = (target, k, k + share)
                    k += share
        return spans


def schedule(config: TpuConfig, chain: Chain, plan: Plan) -> list[Node]:
    """Return the operations of a chain in the order in which they run."""
    return _Scheduler(config, chain, plan).schedule()
