"""Clusters that begin with a product: blocks of loads, matmuls, vector work and stores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from celosia.arch.commands import Command, Stride
from celosia.arch.config import TpuConfig
from celosia.arch.streams import Stream
from celosia.arch.words import ceil_div
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.codegen.nodes import Op
from celosia.compiler.emit.acts import Area, Patch
from celosia.compiler.emit.body import Body
from celosia.compiler.emit.operands import operands
from celosia.compiler.emit.tiling import choose, cuts
from celosia.compiler.emit.weights import WeightBlock
from celosia.compiler.lowered import Cluster, Code, Dot, Region

__all__ = ["emit_product"]

#: Rows of loads, at least, of a slice of depth of the first block.
SLICE_ROWS = 64


@dataclass(frozen=True)
class _Turn:
    """One block: rows, panels of columns, panels of depth."""

    box: int
    group: int
    chunk: int
    rows: tuple[int, int]
    panels: tuple[int, int]
    depth: tuple[int, int]


class _Places:
    """Places in the unified buffer: one for each key, or as many as take turns."""

    def __init__(self, first: int, rows: int, keys: int, keep: bool):
        self.first, self.rows, self.count = first, rows, keys if keep else min(2, keys)
        self.end = first + rows * self.count
        self._held: dict[int, object] = {}
        self._next = 0
        self._of: dict[object, int] = {}

    def find(self, key: object) -> tuple[int, int, bool]:
        """Return the place of a key, its first row, and whether it must be filled first."""
        place = self._of.get(key)
        if place is not None and self._held[place] == key:
            return place, self.first + place * self.rows, False
        place = self._next % self.count
        self._next += 1
        self._held[place] = key
        self._of[key] = place
        return place, self.first + place * self.rows, True


class _Emitter:
    def __init__(self, config: TpuConfig, cluster: Cluster, code: Code, region: Region):
        self.config, self.cluster = config, cluster
        self.body = Body(config, cluster, code)
        forms = operands(config, cluster)
        self.given, self.plan = choose(config, cluster, code, region, forms, self.body)
        plan, given = self.plan, self.given
        self.groups = cuts(given.weights.panels, plan.panels)
        self.chunks = cuts(given.acts.panels, plan.depth)
        depth = min(plan.depth, given.acts.panels)
        act_keys = len(plan.boxes) * len(self.chunks)
        weight_keys = len(self.groups) * len(self.chunks) * (
            len(plan.boxes) if given.batched else 1)
        self.acts = _Places(region.ub.start, plan.act_rows * depth, act_keys, plan.keep_acts)
        self.raws = _Places(self.acts.end, plan.act_rows * depth * given.acts.transposed,
                            act_keys, False)
        self.weights = _Places(self.raws.end, plan.weight_rows, weight_keys, plan.keep_weights)
        self.turned = cluster.product.turned if isinstance(cluster.product, Dot) else None
        self.once = region.acc.start
        self.shared = self.once + self.body.once_rows()
        self.sums = self.shared + (plan.shared_rows or 0)
        #: Of each raw place, the rows beyond the depth that are zero and stay so.
        self.cleared: dict[int, tuple[int, int]] = {}
        self.stages = 3 + given.acts.transposed
        self._matmuls: dict[tuple, Command | Stride] = {}

    def turns(self) -> Iterator[_Turn]:
        """Yield the blocks in order."""
        plan = self.plan
        outer, inner = len(plan.boxes), len(self.groups)
        pairs = ([(box, group) for box in range(outer) for group in range(inner)]
                 if plan.rows_outer else
                 [(box, group) for group in range(inner) for box in range(outer)])
        for box, group in pairs:
            for chunk, depth in enumerate(self.chunks):
                yield _Turn(box, group, chunk, plan.boxes[box], self.groups[group], depth)

    def emitted(self) -> Emitted:
        """Return all operations."""
        body = self.body
        out = Emitted(body.begin(self.once))
        for index, turn in enumerate(self.turns()):
            out.blocks.append(self.block(turn, index))
        out.after += body.end()
        return out

    def block(self, turn: _Turn, index: int) -> Block:
        """Return the operations of one block."""
        given, acts = self.given, self.given.acts
        stages: list[list[Op]] = [[] for _ in range(self.stages)]
        patch = acts.patch(*turn.rows)
        k0, k1 = turn.depth
        step = k1 - k0
        if index == 0 and len(given.taps) == 1 and not given.batched:
            # Sums begin with the first slice of depth.
            step = max(1, SLICE_ROWS // max(acts.rows(patch), 1))
        slices = [(k, min(k + step, k1)) for k in range(k0, k1, step)]
        area, act_loads = self._acts(turn, patch, slices, stages)
        batches = (patch.images[0], sum(patch.images)) if given.batched else (0, 1)
        part = WeightBlock(turn.panels, turn.depth, batches)
        _, tiles, fresh = self.weights.find(
            (turn.group, turn.chunk, turn.box if given.batched else 0))
        # Weights come a stage after activations that are to be transposed, else beside them.
        target = stages[-3]
        turned = target[:]
        target.clear()
        for slice_acts, (a, b) in zip(act_loads, slices, strict=True):
            target += slice_acts
            if fresh:
                target += [op for ops in given.weights.loads(part, tiles, a, b) for op in ops]
        target += turned
        self._compute(turn, patch, area, part, tiles, slices, stages)
        stages[-2] += self._turned(turn, area)
        return Block(stages)

    def _turned(self, turn: _Turn, area: Area) -> list[Op]:
        """Return what transposes and stores a block's share of the panels of its activations.

        The blocks of a box have equal shares, but the first one, which is unlike the others anyway,
        and the last.
        """
        if self.turned is None:
            return []
        (k0, k1), acts = turn.depth, self.given.acts
        share = ceil_div(k1 - k0, len(self.groups))
        rest = max(0, k1 - k0 - share * (len(self.groups) - 1))
        first = k0 + (rest + (turn.group - 1) * share if turn.group else 0)
        end = min(first + (share if turn.group else rest), k1)
        panel = 0 if acts.resident is not None else k0
        row = self.weights.end
        return [op for k in range(first, end) for op in acts.turned(
            self.turned, turn.rows, area.row + (k - panel) * area.panel,
            row + k % 2 * turn.rows[1], k)]

    def _acts(self, turn: _Turn, patch: Patch, slices: list[tuple[int, int]],
              stages: list[list[Op]]) -> tuple[Area, list[list[Op]]]:
        """Find a place for the activations of a block.

        Returns
        -------
        Area, list of list of Op
            Where they lie, and the loads of each slice. Those of transposed ones are in the stages
            already, and the transpositions.
        """
        acts, key = self.given.acts, (turn.box, turn.chunk)
        _, row, fresh = self.acts.find(key)
        area = acts.area(patch, row)
        k0, k1 = turn.depth
        if not fresh:
            return area, [[] for _ in slices]
        if not acts.transposed:
            return area, [acts.loads(patch, area, a, b, k0) for a, b in slices]
        place, raw, _ = self.raws.find(key)
        last = raw + (k1 - 1 - k0) * area.panel, area.panel
        if k1 < acts.panels:
            self.cleared.pop(place, None)
        elif self.cleared.get(place) != last:
            self.cleared[place] = last
            stages[0] += acts.zeros(*last)
        stages[0] += acts.raw_loads(patch, area, raw, k0, k1, k0)
        stages[1] += acts.turns(area, raw, k0, k1, k0)
        return area, [[] for _ in slices]

    def _compute(self, turn: _Turn, patch: Patch, area: Area, part: WeightBlock, tiles: int,
                 slices: list[tuple[int, int]], stages: list[list[Op]]) -> None:
        sums_rows, extra = self.plan.block_rows
        output = (turn.box * len(self.groups) + turn.group if self.plan.rows_outer
                  else turn.group * len(self.plan.boxes) + turn.box)
        # What vector work needs beside them lies behind all sums: it comes a block later.
        places = min(2, len(self.plan.boxes) * len(self.groups))
        sums = self.sums + output % 2 * sums_rows
        beside = self.sums + places * sums_rows + output % 2 * extra
        matmuls = stages[-2]
        n0, n1 = turn.panels
        # Rows of each image and tap in the first panel of depth; those of others lie evenly.
        given, first = self.given, turn.depth[0] if self.given.acts.resident is not None else 0
        images = range(patch.images[1]) if given.batched else (None,)
        streams = [(image or 0, [
            (index if image is None else image, given.acts.stream(patch, area, first, tap, image))
            for index, tap in enumerate(given.taps)]) for image in images]
        for a, b in slices:
            for n in range(n0, n1):
                self._panel(turn, streams, turn.rows[1] // patch.images[1], area.panel, part,
                            tiles, n, (a, b), sums + (n - n0) * turn.rows[1], matmuls)
        if turn.chunk < len(self.chunks) - 1:
            return
        reads, work = self.body.block(beside, turn.rows, (n0, n1 - n0), sums,
                                      None if self.plan.shared_rows is None else self.shared)
        stages[-2] = reads + matmuls
        stages[-1] += work

    def _panel(self, turn: _Turn, streams: list[tuple[int, list[tuple[int, Stream]]]], height: int,
               panel: int, part: WeightBlock, tiles: int, n: int, depth: tuple[int, int], sums: int,
               out: list[Op]) -> None:
        """Append the matmuls of one panel of columns over some panels of depth.

        Parameters
        ----------
        streams
            Of each image: which tiles, and the rows in the first panel of depth of the block.
        height, panel
            Rows of the sums of an image, and from one panel of activations to the next.
        """
        weights, source = self.given.weights, self.cluster.source
        for image, taps in streams:
            acc = sums + image * height
            for k in range(*depth):
                more = (k - turn.depth[0]) * panel
                for index, (outer, rows) in enumerate(taps):
                    w, wrows = weights.tile(part, tiles, outer, n, k)
                    command = self._matmul(rows, wrows, k > 0 or index > 0)
                    out.append(Op(command, (acc, rows.base + more, w), source))

    def _matmul(self, rows: Stream, wrows: int, accumulate: bool) -> Command | Stride:
        """Return the command of a matmul."""
        key = rows.counts, rows.strides, wrows, accumulate
        found = self._matmuls.get(key)
        if found is None:
            found = nodes.matmul(self.given.fmt, 0, 0, 0, rows.counts[0], wrows, accumulate,
                                 not self.given.weights.natural, n1=rows.counts[1],
                                 n2=rows.counts[2], xacts=rows.triple).command
            self._matmuls[key] = found
        return found


def emit_product(config: TpuConfig, cluster: Cluster, code: Code, region: Region) -> Emitted:
    """Return blocks of loads of operands (and their transposition), matmuls, vector work, stores.

    Parameters
    ----------
    config
        The chip.
    cluster
        A cluster with a product.
    code
        Its vector work.
    region
        Rows of both memories that may be used.

    Raises
    ------
    CompileError
        If the chip lacks the format, or no block fits the region.
    """
    return _Emitter(config, cluster, code, region).emitted()
