"""Tiling: how a product is cut into blocks, chosen by an estimate of the cycles."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from celosia.arch.commands import Load
from celosia.arch.config import BANKS, COUNT_MAX, TpuConfig
from celosia.arch.words import ceil_div
from celosia.compiler import cycles
from celosia.compiler.emit.body import Body
from celosia.compiler.emit.operands import Operands
from celosia.compiler.emit.pieces import cut
from celosia.compiler.emit.weights import WeightBlock
from celosia.compiler.errors import WorkTooLarge
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import Cluster, Code, Dot, External, Region

__all__ = ["Tiling", "choose_tiling", "cuts"]

#: Cycles that a loop of short matmuls costs beside its work.
LOOP = 20
#: Cycles that a block costs beside its work.
BLOCK = 16
#: Cycles that it is worth to have an operation less.
OPERATION = 0.25
#: Share of the loads of every few blocks that is not hidden.
UNEVEN = 0.15
#: Cycles that it is worth to load for one cycle less.
TRAFFIC = 0.02
#: Loads and stores of whole rows, for each row, from which on it counts how they meet the streams
#: of other units in the banks of the accumulators; and part of their time that this costs.
BUSY = 3
MEETING = 0.4
#: Parts that the depth is cut into, where all of it does not fit.
_DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512)
_PANELS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
#: More blocks than this are not looked at where there is a plan of fewer.
_MOST_BLOCKS = 1 << 14


@dataclass(frozen=True)
class Tiling:
    """How a product is cut, and what lies where.

    Attributes
    ----------
    boxes
        First row and count of each block of rows.
    panels, depth
        Most panels of columns and of depth of a block.
    rows_outer
        Whether all panels of a block of rows come one after another, or all rows of some panels.
    keep_acts, keep_weights
        Whether all of the operand stays in the unified buffer, or two places take turns.
    act_rows, weight_rows
        Rows of the unified buffer of one block's activations and weights, at most.
    block_rows
        Rows of the accumulators of a block's sums and of what its vector work needs.
    shared_rows
        Rows of the accumulators that the vector work of all blocks shares, which then leaves those
        of the sums alone (see `Body.block`); None where it uses them.
    cycles
        The estimate.
    """

    boxes: tuple[tuple[int, int], ...]
    panels: int
    depth: int
    rows_outer: bool
    keep_acts: bool
    keep_weights: bool
    act_rows: int
    weight_rows: int
    block_rows: tuple[int, int]
    shared_rows: int | None
    cycles: float


def cuts(total: int, most: int) -> list[tuple[int, int]]:
    """Cut ``total`` into ranges (first, last + 1) of ``most``, the last one perhaps shorter."""
    return [(first, min(first + most, total)) for first in range(0, total, most)]


class _Search:
    def __init__(self, config: TpuConfig, cluster: Cluster, code: Code, region: Region,
                 given: Operands, body: Body):
        self.config, self.cluster, self.region = config, cluster, region
        self.given, self.body = given, body
        self.dim = config.dim
        product = cycles.matmul(config)
        #: Cycles of an instruction that nothing hides, and of the array for a tile of weights.
        self.issue, self.tile = cycles.issue(config), product.lead
        #: Cycles from the last row to the last result: of loads, products and vector work.
        self.loading, self.summing = cycles.behind(cycles.transfer(config, Load, 1, 1, 4)), (
            cycles.behind(product))
        self.working = cycles.behind(cycles.vector(config))
        #: Cycles of the best tiling so far.
        self.most = math.inf
        self.acc = len(region.acc) - body.once_rows()
        self.total = 1
        for size in cluster.space[:-1]:
            self.total *= size
        full = [step for step in code.steps if step.extent is Extent.FULL]
        self.steps = len(full), len(code.steps) - len(full)
        kinds = [read.extent for read in cluster.reads]
        self.reads = kinds.count(Extent.FULL), kinds.count(Extent.ROWS)
        kinds = [read.extent for read in cluster.reads
                 if isinstance(read.access.tensor.home, External)]
        self.loaded = kinds.count(Extent.FULL), kinds.count(Extent.ROWS)
        # What is joined over rows is written at the end.
        kinds = [write.extent for write in cluster.writes if write.value not in code.joined]
        self.writes = kinds.count(Extent.FULL), kinds.count(Extent.ROWS)
        self.share = body.sums_share
        written = {write.access.tensor for write in cluster.writes
                   if isinstance(write.access.tensor.home, External)}
        #: Rows of the unified buffer, for each of a block, in which its activations are turned.
        self.turned = 2 * (isinstance(cluster.product, Dot) and cluster.product.turned is not None)
        self.in_place = any(read.access.tensor in written for read in cluster.reads)
        self.busy = self.reads[0] + self.writes[0] >= BUSY

    def _beats(self, columns: int, size: int) -> int:
        """Cycles of a row of so many columns: beats, or rows on chip."""
        return cycles.transfer(self.config, Load, 1, columns, size).occupied

    def row_cuts(self) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yield ways to cut the rows, from few blocks to many."""
        limits, limit = [], 1
        top = min(self.total, self.acc, COUNT_MAX)
        while limit < top:
            limits += [limit, limit * 5 // 4, limit * 3 // 2, limit * 7 // 4]
            limit *= 2
        # Equal parts, so that no short one is left.
        limits += [ceil_div(self.total, parts) for parts in range(1, 17)]
        seen: set[tuple[int, int]] = set()
        for limit in sorted({x for x in (*limits, top) if 0 < x <= top}, reverse=True):
            if seen and self.total > _MOST_BLOCKS * limit:
                return
            for banked in (False, True)[:1 + self.busy]:
                found = self.boxes(limit, banked)
                key = len(found), max((count for _, count in found), default=0)
                if found and key not in seen:
                    seen.add(key)
                    yield found

    def boxes(self, limit: int, banked: bool = False) -> tuple[tuple[int, int], ...]:
        """Cut the rows into ranges of at most ``limit`` that are boxes.

        ``banked``: only such as meet other streams the least (`_meeting`).
        """
        def piece(size: int, inner: int) -> int:
            if banked:
                size += (BANKS // 2 - size) % BANKS
                return size if inner == 1 and 0 < size <= limit else 0
            if inner == 1 and size > self.dim:
                # Aligned in memory, and whole tiles where they are transposed.
                return min(ceil_div(size, self.dim), limit // self.dim) * self.dim
            return size

        return tuple(cut(self.cluster.space[:-1], limit, piece))

    def candidates(self) -> Iterator[Tiling]:
        """Yield tilings; those that must take longer than `most` are left out."""
        acts, weights = self.given.acts, self.given.weights
        tiles_in_all = weights.panels * acts.panels * len(self.given.taps)
        for found in self.row_cuts():
            rows = max(count for _, count in found)
            if self.turned and any(count % self.dim for _, count in found):
                continue  # only whole tiles are turned
            patches = [acts.patch(*box) for box in found]
            act_rows = max(map(acts.rows, patches))
            batches = max(patch.images[1] for patch in patches) if self.given.batched else 1
            # Of a matmul, on the average: a short block takes as long as its tiles take to load.
            matmul = sum(max(count / batches, self.tile, self.issue)
                         for _, count in found) / len(found)
            # Of all work the array's, of vector work the rows that are loaded, must fit at least.
            least = tiles_in_all * batches * len(found) * (matmul + OPERATION)
            if matmul < 2 * self.issue:
                least += LOOP * weights.panels * len(found)
            if least + BLOCK * len(found) > self.most:
                continue
            for panels in ([weights.panels] if self.body.whole_rows
                           else sorted({min(p, weights.panels) for p in (*_PANELS,
                                                                         weights.panels)})):
                groups = ceil_div(weights.panels, panels)
                if least + BLOCK * len(found) * groups > self.most:
                    continue
                shapes = {(count, width) for _, count in found
                          for width in (panels, weights.panels % panels or panels)}
                ways = [*self._ways(rows, panels, shapes, 2 if len(found) * groups > 1 else 1)]
                if not ways:
                    continue
                for depth in sorted({ceil_div(acts.panels, parts) for parts in _DEPTHS},
                                    reverse=True):
                    chunks = ceil_div(acts.panels, depth)
                    if least + BLOCK * len(found) * groups * chunks > self.most:
                        break
                    part = WeightBlock((0, panels), (0, depth), (0, batches))
                    tiles = weights.rows(part)
                    if max(act_rows, tiles, depth * self.dim) > COUNT_MAX:
                        continue
                    fits = self._residency(len(found), groups, chunks, act_rows * depth, tiles,
                                           self.turned * rows)
                    any_fits = False
                    for outer, keep_acts, keep_weights in fits:
                        any_fits = True
                        for extra, shared in ways:
                            taken = self.estimate(found, batches, matmul, panels, depth, outer,
                                                   keep_acts, keep_weights, shared is not None)
                            yield Tiling(found, panels, depth, outer, keep_acts, keep_weights,
                                         act_rows, tiles, (rows * panels, extra), shared, taken)
                    if any_fits and chunks == 1:
                        break

    def _meeting(self, rows: int, panels: int) -> float:
        """Part of the time of loads and stores that they wait for banks.

        Of words, a row takes some beats; other units go on by a bank a cycle. So panels that are
        two banks apart, with two beats, hardly meet them, others do every few rows.
        """
        if not self.busy or ceil_div(4 * self.dim, self.config.bus_bytes) != BANKS // 2:
            return 0.0
        return MEETING if rows % BANKS != BANKS // 2 else MEETING / max(1, panels - 0.5)

    def _ways(self, rows: int, panels: int, shapes: Collection[tuple[int, int]],
              places: int) -> Iterator[tuple[int, int | None]]:
        """Yield the rows, beside the sums, of a block's vector work, and those that all share.

        ``shapes``: rows and panels of each block that there is; of short ones vector work may take
        more than of larger ones, as a result cannot always lie where its operand does.
        """
        if places * rows * (panels + self.loaded[0] * panels + self.loaded[1]) > self.acc:
            return
        extra = max(self.body.block_rows(*shape) for shape in shapes)
        if places * (rows * panels + extra) <= self.acc:
            yield extra, None
        if places > 1 and self.steps[0]:
            extra = max(self.body.block_rows(*shape, apart=True) for shape in shapes)
            shared = max(self.body.shared_rows(*shape) for shape in shapes)
            if places * (rows * panels + extra) + shared <= self.acc:
                yield extra, shared

    def _residency(self, blocks: int, groups: int, chunks: int, acts: int, weights: int,
                   beside: int) -> Iterator[tuple[bool, bool, bool]]:
        """Yield loop orders and what is kept, as far as it fits: of all that do, the best.

        ``acts``, ``weights``, ``beside``: rows of the unified buffer of a block's activations and
        weights, and of what else is there.
        """
        room = len(self.region.ub) - beside
        act_keys = blocks * chunks
        weight_keys = groups * chunks * (blocks if self.given.batched else 1)
        few_acts, few_weights = acts * min(2, act_keys), weights * min(2, weight_keys)
        raw = few_acts if self.given.acts.transposed else 0
        if few_acts + few_weights + raw <= room:
            yield True, False, False
        if self.given.batched:
            return
        # What the outer loop changes needs two places only.
        if few_acts + weights * weight_keys + raw <= room:
            yield True, False, True
        if few_acts + few_weights + raw <= room:
            yield False, False, False
        if acts * act_keys + few_weights + raw <= room:
            yield False, True, False

    def estimate(self, found: tuple[tuple[int, int], ...], batches: int, matmul: float,
                 panels: int, depth: int, rows_outer: bool, keep_acts: bool,
                 keep_weights: bool, apart: bool) -> float:
        """Estimate cycles: of each block the slowest of its units, and fill and drain."""
        given, dim = self.given, self.dim
        acts, weights = given.acts, given.weights
        blocks = len(found)
        groups, chunks = ceil_div(weights.panels, panels), ceil_div(acts.panels, depth)
        rows, panels_, depth_ = self.total / blocks, weights.panels / groups, acts.panels / chunks
        # A block's units.
        matmuls = panels_ * depth_ * len(given.taps) * batches
        array = matmuls * matmul
        act_load = weight_load = 0.0
        kept = acts.rows(acts.patch(*found[0]))
        if acts.resident is None:
            size = acts.access.tensor.element_bytes
            columns = min(acts.depth, depth * dim)
            act_load = (min(acts.depth, dim * depth_) * self._beats(kept, size)
                        if acts.transposed else kept * self._beats(columns, size))
        if weights.resident is None:
            size = weights.access.tensor.element_bytes
            deep, wide = weights.depth[0] / chunks, weights.columns[0] / groups
            tiles = len(given.taps) * batches
            weight_load = tiles * (
                deep * panels_ * self._beats(min(dim, weights.columns[0]), size)
                if weights.natural else wide * self._beats(max(1, round(deep)), size))
        turn = kept * depth_ if acts.transposed else 0.0
        full = self._beats(min(self.cluster.space[-1], dim), 4)
        vector = rows * (self.steps[0] * panels_ + self.steps[1]) / chunks
        full *= 1 + self._meeting(found[0][1], panels)
        reads = rows * (self.reads[0] * panels_ * full + self.reads[1]) / chunks
        writes = rows * (self.writes[0] * panels_ * full + self.writes[1]) / chunks
        issued = self.issue * (matmuls + 2 + (panels_ * (1 + self.steps[0] + self.reads[0])
                                         + self.steps[1] + self.writes[0]) / chunks)

        # A block's sums take the place of those of the block before the last one, which its vector
        # work must have left; and if that leaves results there, they must be stored.
        stored = rows * panels_ * full / chunks if self.writes[0] else 0.0
        held = self.working + self.summing + (vector * self.share if apart else vector + stored)
        again = (array + held) / 2 if blocks * groups > 2 else 0.0

        # Panels of what is changed in place lie between one another in memory: the scoreboard lets
        # no load of the next ones pass a store. Other rows lie apart.
        waits = (reads + vector + writes + self.loading
                 if self.in_place and groups > 1 and (rows_outer or blocks == 1) else 0.0)

        def cost(with_acts: bool, with_weights: bool) -> float:
            bus = reads + act_load * with_acts + weight_load * with_weights
            return BLOCK + max(array, bus, vector + turn * with_acts, writes, issued, again,
                               waits)

        count = blocks * groups * chunks
        own = given.batched
        one = blocks if rows_outer else groups  # how often the inner loop runs
        # Two places hold up to two parts of the depth while the inner loop runs.
        with_acts = blocks * chunks if keep_acts or (rows_outer and chunks <= 2) else count
        with_weights = (groups * chunks * (blocks if own else 1)
                        if keep_weights or (not rows_outer and chunks <= 2) else count)
        both = min(with_acts, with_weights)
        if with_acts < count and with_weights < count:
            both = 0 if keep_acts == keep_weights else one
        both = min(both, with_acts, with_weights)
        taken = (both * cost(True, True) + (with_acts - both) * cost(True, False)
                  + (with_weights - both) * cost(False, True)
                  + max(0, count - with_acts - with_weights + both) * cost(False, False))
        if matmul < 2 * self.issue:
            # Matmuls that are too short to hide the beginning of a loop, one over each depth.
            taken += LOOP * panels_ * count
        if blocks > 1 and groups > 1:
            # Loads that only some blocks have get in the way of others in a loop.
            taken += UNEVEN * (act_load * (blocks - 1) if rows_outer
                                else weight_load * (groups - 1))
        # The first block's loads run beside its sums, slice by slice of a dot.
        first = act_load + weight_load
        sliced = len(given.taps) == 1 and not own
        start = 2 * self.loading + turn / depth_ + max(0.0, first - array) + (
            first / depth_ if sliced else act_load + weight_load / panels_)
        # The last one's results remain, and its sums, where loads are the slowest.
        tail = 2 * self.loading + self.summing + (vector + writes) * chunks + (
            self.working * self.steps[0])
        last = act_load * (with_acts == count) + weight_load * (with_weights == count)
        if count > 1:
            tail += array * min(1.0, last / array) ** 4
        if self.cluster.stream:
            # Work beside it waits for its first rows, or it for that work's last ones.
            tail += taken / blocks if rows_outer or groups == 1 else taken
        # Of equals, that of fewer operations and of even blocks makes the shorter program.
        uneven = (weights.panels % panels > 0) + (acts.panels % depth > 0) + (
            found[-1][1] != found[0][1])
        return (taken + start + tail) * (1 + 0.002 * uneven) + (
            OPERATION * matmuls * count
            + TRAFFIC * (with_acts * act_load + with_weights * weight_load))


def choose_tiling(config: TpuConfig, cluster: Cluster, code: Code, region: Region,
                  given: Sequence[Operands], body: Body) -> tuple[Operands, Tiling]:
    """Return the tiling of least estimated cycles, and the form of the operands that it is for.

    Raises
    ------
    WorkTooLarge
        If no block fits the on-chip memories.
    """
    best: tuple[Operands, Tiling] | None = None
    for form in given:
        search = _Search(config, cluster, code, region, form, body)
        search.most = math.inf if best is None else best[1].cycles
        for found in search.candidates():
            if best is None or found.cycles < best[1].cycles:
                best = form, found
                search.most = found.cycles
    if best is None:
        acts, weights = given[0].acts, given[0].weights
        raise WorkTooLarge(
            f"{cluster.source}: a product of {math.prod(cluster.space[:-1])} rows, {acts.depth} "
            f"deep, {weights.columns[0]} columns and its vector work must have room for a block, "
            f"and {len(region.ub)} rows of the unified buffer and {len(region.acc)} of the "
            "accumulators are too few")
    return best
