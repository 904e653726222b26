"""Clusters that begin with a product: blocks of loads, matmuls, vector work and stores."""

from __future__ import annotations

from typing import NamedTuple

from celosia.arch.commands import Command, Load, Store, Stride
from celosia.arch.config import TpuConfig
from celosia.arch.streams import Stream
from celosia.arch.words import ceil_div
from celosia.compiler import cycles
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.emit.acts import Area, Patch
from celosia.compiler.emit.body import Body
from celosia.compiler.emit.fold import Turn, fold_loops
from celosia.compiler.emit.operands import operands
from celosia.compiler.emit.pieces import loops_of
from celosia.compiler.emit.tiling import choose_tiling, cuts
from celosia.compiler.emit.weights import WeightBlock
from celosia.compiler.lowered import Access, Cluster, Code, Dot, Region

__all__ = ["emit_product"]

#: Rows of loads, at least, of a slice of depth of the first block.
SLICE_ROWS = 64
#: Blocks, at most, of a product whose last block stores panel after panel.
FEW_BLOCKS = 16


class _Part(NamedTuple):
    """What one block works on.

    Attributes
    ----------
    box, group, chunk
        Which rows, panels of columns and panels of depth of the plan.
    rows, panels, depth
        First and count of the rows; first and last + 1 of the panels.
    acts, raw, weights, sums, beside
        Rows on chip: of the operands, of activations before they are transposed, of the sums, and
        of what vector work needs beside these.
    new_acts, new_weights
        Whether they are still to be loaded.
    clears
        Whether the rows of activations beyond the depth are not zero yet.
    slice
        Panels of depth that are loaded at once.
    last
        Whether results are stored panel after panel, the last rows of the last one by themselves:
        nothing hides the stores of the last block but its own products.
    """

    box: int
    group: int
    chunk: int
    rows: tuple[int, int]
    panels: tuple[int, int]
    depth: tuple[int, int]
    acts: int
    raw: int
    weights: int
    sums: int
    beside: int
    new_acts: bool
    new_weights: bool
    clears: bool
    slice: int
    last: bool


#: Of each image: the first row of its sums, and which tiles there are, with the rows in the first
#: panel of depth of the block.
_Streams = list[tuple[int, list[tuple[int, Stream]]]]


class _Places:
    """Places in the unified buffer: one for each key, or as many as take turns."""

    def __init__(self, first: int, rows: int, keys: int, keep: bool):
        self.first, self.rows, self.count = first, rows, keys if keep else min(2, keys)
        self.end = first + rows * self.count
        self._held: dict[int, object] = {}
        self._next = 0
        self._of: dict[object, int] = {}

    def find(self, key: object) -> tuple[int, bool]:
        """Return the first row of the place of a key, and whether it must be filled first."""
        place = self._of.get(key)
        if place is not None and self._held[place] == key:
            return self.first + place * self.rows, False
        place = self._next % self.count
        self._next += 1
        self._held[place] = key
        self._of[key] = place
        return self.first + place * self.rows, True


class _Emitter:
    def __init__(self, config: TpuConfig, cluster: Cluster, code: Code, region: Region):
        self.config, self.cluster = config, cluster
        self.body = Body(config, cluster, code)
        forms = operands(config, cluster)
        self.given, self.plan = choose_tiling(config, cluster, code, region, forms, self.body)
        plan, given = self.plan, self.given
        self.groups = cuts(given.weights.panels, plan.panels)
        #: Whether matmuls of D rows take no less time than to issue them.
        self.tiles_last = config.dim >= cycles.issue(config)
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
        self.stages = 3 + given.acts.transposed
        self._matmuls: dict[tuple, Command | Stride] = {}

    def parts(self) -> list[_Part]:
        """Return what the blocks work on, in order."""
        plan, given, acts = self.plan, self.given, self.given.acts
        outer, inner = len(plan.boxes), len(self.groups)
        pairs = ([(box, group) for box in range(outer) for group in range(inner)]
                 if plan.rows_outer else
                 [(box, group) for group in range(inner) for box in range(outer)])
        sums_rows, extra = plan.block_rows
        # What vector work needs beside them lies behind all sums: it comes a block later.
        beside = self.sums + min(2, len(pairs)) * sums_rows
        #: Of each raw place, the panel whose rows beyond the depth are zero and stay so.
        cleared: dict[int, tuple[int, int] | None] = {}
        #: Cycles of the first blocks' loads, less those of their sums.
        ahead = 0
        out: list[_Part] = []
        for output, (box, group) in enumerate(pairs):
            rows, panels = plan.boxes[box], self.groups[group]
            patch = acts.patch(*rows)
            for chunk, (k0, k1) in enumerate(self.chunks):
                place, new_acts = self.acts.find((box, chunk))
                raw, clears = 0, False
                if new_acts and acts.transposed:
                    raw, _ = self.raws.find((box, chunk))
                    panel = acts.area(patch, place).panel
                    ragged = k1 == acts.panels and acts.depth % self.config.dim > 0
                    last = (raw + (k1 - 1 - k0) * panel, panel) if ragged else None
                    clears = last is not None and cleared.get(raw) != last
                    cleared[raw] = last
                weights, new_weights = self.weights.find(
                    (group, chunk, box if given.batched else 0))
                step = k1 - k0
                new_acts = new_acts and acts.resident is None
                new_weights = new_weights and given.weights.resident is None
                if len(out) < 2 and len(given.taps) == 1 and not given.batched:
                    # Sums begin with the first slice of depth, where the array would wait for all.
                    height = max(acts.rows(patch), 1)
                    loads = self._loading(height, panels, step, new_acts, new_weights)
                    late = loads > 0 and self.tiles_last and not acts.transposed and (
                        ahead >= 0 or (new_acts and ahead + loads > 0))
                    ahead += loads - rows[1] * (panels[1] - panels[0]) * step
                    if not out or late:
                        # A panel alone can be followed row by row, if instructions come as fast.
                        step = (1 if self.tiles_last and height >= self.config.dim
                                else min(step, max(1, SLICE_ROWS // height)))
                out.append(_Part(
                    box, group, chunk, rows, panels, (k0, k1), place, raw, weights,
                    self.sums + output % 2 * sums_rows, beside + output % 2 * extra,
                    new_acts, new_weights, clears, step,
                    chunk == len(self.chunks) - 1 and output == len(pairs) - 1 < FEW_BLOCKS))
        return out

    def _loading(self, rows: int, panels: tuple[int, int], depth: int, new_acts: bool,
                 new_weights: bool) -> int:
        """Return the cycles of a block's loads: of rows of activations, and of panels."""
        given, dim = self.given, self.config.dim
        deep, wide = dim * depth, dim * (panels[1] - panels[0])
        high, long = (deep, wide) if given.weights.natural else (wide, deep)

        def beats(high: int, long: int, access: Access) -> int:
            return cycles.transfer(self.config, Load, high, long,
                                   access.tensor.element_bytes).occupied

        return (beats(rows, deep, given.acts.access) * new_acts
                + beats(high, long, given.weights.access) * new_weights)

    def turn(self, part: _Part) -> Turn:
        """Return the turn of a part."""
        acts = self.given.acts
        patch, (k0, k1), (n0, n1) = acts.patch(*part.rows), part.depth, part.panels
        work = self.body.turn(part.beside, part.rows, (n0, n1 - n0))
        shares = self._share(part) if self.turned is not None else (0, 0)
        form = (patch.images[1], patch.rows[1], patch.columns[1], k1 - k0, acts.columns(k0, k1),
                k0 == 0, k1 == acts.panels, part.new_acts, part.new_weights, part.clears,
                part.slice, part.last, shares[1] - shares[0], work.form)
        return Turn(form, (patch.images[0], patch.rows[0], patch.columns[0], k0, part.acts,
                           part.raw, part.weights, part.sums, shares[0], shares[0] % 2, *work.at))

    def emitted(self) -> Emitted:
        """Return all operations."""
        before, parts = self.body.begin(self.once), self.parts()
        boxes = loops_of(self.cluster.space[:-1], len(self.plan.boxes))
        loops = [len(self.groups), *boxes] if self.plan.rows_outer else [*boxes, len(self.groups)]
        runs = fold_loops([self.turn(part) for part in parts], lambda i: self.block(parts[i]),
                          [len(self.chunks), *loops], 2)
        return Emitted(before, runs, self.body.end())

    def block(self, part: _Part) -> Block:
        """Return the operations of one block."""
        given, acts = self.given, self.given.acts
        stages: list[list[CodeOp]] = [[] for _ in range(self.stages)]
        patch = acts.patch(*part.rows)
        k0, k1 = part.depth
        slices = [(k, min(k + part.slice, k1)) for k in range(k0, k1, part.slice)]
        if 1 < part.slice < k1 - k0:  # sums begin with one panel
            slices[:1] = [(k0, k0 + 1), (k0 + 1, k0 + part.slice)]
        area, act_loads = self._acts(part, patch, slices, stages)
        batches = (patch.images[0], sum(patch.images)) if given.batched else (0, 1)
        block = WeightBlock(part.panels, part.depth, batches)
        # Weights come a stage after activations that are to be transposed, else beside them.
        target = stages[-3]
        turned = target[:]
        target.clear()
        for slice_acts, (a, b) in zip(act_loads, slices, strict=True):
            # A tile comes first: the array takes it in while it waits for activations. Those of
            # several panels are waited for as a whole, and it follows the weights.
            first, *rest = given.weights.loads(block, part.weights, a, b) if (
                part.new_weights) else [[]]
            target += [*first, *slice_acts] if b - a == 1 else [*slice_acts, *first]
            target += [op for ops in rest for op in ops]
        target += turned
        self._compute(part, patch, area, block, slices, stages)
        if self.turned is not None:
            stages[-2] += self._turned(part, area, self.turned)
        return Block(stages)

    def _share(self, part: _Part) -> tuple[int, int]:
        """Return which panels of its activations a block transposes and stores.

        The blocks of a box have equal shares, but the first one, which is unlike the others anyway,
        and the last.
        """
        k0, k1 = part.depth
        share = ceil_div(k1 - k0, len(self.groups))
        rest = max(0, k1 - k0 - share * (len(self.groups) - 1))
        first = k0 + (rest + (part.group - 1) * share if part.group else 0)
        return first, max(first, min(first + (share if part.group else rest), k1))

    def _turned(self, part: _Part, area: Area, to: Access) -> list[CodeOp]:
        """Return what transposes and stores a block's share of the panels of its activations."""
        acts = self.given.acts
        panel = 0 if acts.resident is not None else part.depth[0]
        row = self.weights.end
        return [op for k in range(*self._share(part)) for op in acts.turned(
            to, part.rows, area.row + (k - panel) * area.panel, row + k % 2 * part.rows[1], k)]

    def _acts(self, part: _Part, patch: Patch, slices: list[tuple[int, int]],
              stages: list[list[CodeOp]]) -> tuple[Area, list[list[CodeOp]]]:
        """Bring the activations of a block to their place.

        Returns
        -------
        Area, list of list of CodeOp
            Where they lie, and the loads of each slice. Those of transposed ones are in the stages
            already, and the transpositions.
        """
        acts = self.given.acts
        area = acts.area(patch, part.acts)
        k0, k1 = part.depth
        if not part.new_acts:
            return area, [[] for _ in slices]
        if not acts.transposed:
            return area, [acts.loads(patch, area, a, b, k0) for a, b in slices]
        if part.clears:
            stages[0] += acts.zeros(part.raw + (k1 - 1 - k0) * area.panel, area.panel)
        stages[0] += acts.raw_loads(patch, area, part.raw, k0, k1, k0)
        stages[1] += acts.turns(area, part.raw, k0, k1, k0)
        return area, [[] for _ in slices]

    def _compute(self, part: _Part, patch: Patch, area: Area, block: WeightBlock,
                 slices: list[tuple[int, int]], stages: list[list[CodeOp]]) -> None:
        matmuls = stages[-2]
        (n0, n1), k_end = part.panels, part.depth[1]
        # Rows of each image and tap in the first panel of depth; those of others lie evenly.
        given, first = self.given, part.depth[0] if self.given.acts.resident is not None else 0
        images = range(patch.images[1]) if given.batched else (None,)
        height = part.rows[1] // patch.images[1]
        streams = [((image or 0) * height, [
            (index if image is None else image, given.acts.stream(patch, area, first, tap, image))
            for index, tap in enumerate(given.taps)]) for image in images]
        for a, b in slices:
            for n in range(n0, n1):
                ends = part.last and n == n1 - 1 and b == k_end
                for some in self._ending(streams) if ends else [streams]:
                    self._panel(part, some, area.panel, block, n, (a, b),
                                part.sums + (n - n0) * part.rows[1], matmuls)
        if part.chunk < len(self.chunks) - 1:
            return
        reads, work = self.body.block(part.beside, part.rows, (n0, n1 - n0), part.sums,
                                      None if self.plan.shared_rows is None else self.shared)
        stages[-2] = reads + matmuls
        stages[-1] += panel_by_panel(self.config, work, self.tiles_last) if part.last else work

    def _ending(self, streams: _Streams) -> list[_Streams]:
        """Return streams in parts, if they are of a matrix: the last D rows by themselves."""
        (acc, taps), dim = streams[0], self.config.dim
        index, rows = taps[0]
        first = rows.counts[0] - dim
        if not self.tiles_last or len(streams) > 1 or len(taps) > 1 or first < dim or (
                rows.counts[1:] != (1, 1) or rows.strides[0] != 1):
            return [streams]
        return [[(acc + start, [
            (index, Stream(rows.base + start, (count, 1, 1), rows.strides))])]
            for start, count in ((0, first), (first, dim))]

    def _panel(self, part: _Part, streams: _Streams, panel: int, block: WeightBlock, n: int,
               depth: tuple[int, int], sums: int, out: list[CodeOp]) -> None:
        """Append the matmuls of one panel of columns over some panels of depth.

        Parameters
        ----------
        panel
            Rows from one panel of activations to the next.
        """
        weights, source = self.given.weights, self.cluster.source
        for first, taps in streams:
            acc = sums + first
            for k in range(*depth):
                more = (k - part.depth[0]) * panel
                for index, (outer, rows) in enumerate(taps):
                    w, wrows = weights.tile(block, part.weights, outer, n, k)
                    command = self._matmul(rows, wrows, k > 0 or index > 0)
                    out.append(CodeOp(command, (acc, rows.base + more, w), source))

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


def panel_by_panel(config: TpuConfig, work: list[CodeOp], rows_too: bool) -> list[CodeOp]:
    """Return operations with a store for each panel of what is stored, and with ``rows_too`` one
    for the last D rows of the last panel.
    """
    out = []
    for op in work:
        store = op.command
        if not isinstance(store, Store):
            out.append(op)
            continue
        row, addr = op.varying
        panels = cuts(store.cols, config.dim)
        for panel, (first, end) in enumerate(panels):
            height = store.rows - config.dim
            apart = rows_too and panel == len(panels) - 1 and height >= config.dim
            for start, count in ([(0, height), (height, config.dim)] if apart
                                 else [(0, store.rows)]):
                command = Store(store.mem, store.fmt, 0, 0, count, end - first, store.pitch,
                                store.row_step)
                out.append(op._replace(command=command, varying=(
                    row + panel * store.group_step + start * store.row_step,
                    addr + first * store.fmt.nbytes + start * store.pitch)))
    return out


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
