"""The order of a chain's instructions, so that loads, sums, vector work and stores overlap.

A pass computes one group of column tiles over one block of rows and depth. Passes follow one
another; each one's weights, and slices of the next block of activations, are loaded while earlier
passes compute, and its sums are finished and stored while later ones do. The first pass starts
with its first slice of depth; the last one is cut into rows, so that little is left to store when
the array is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Dst, Mem, Post, Src, VectorOp
from celosia.ops import nodes
from celosia.ops.nodes import Node, Op
from celosia.ops.plan import RAW_SLOTS, TURN_SLOTS, Plan
from celosia.ops.stages import ELEMENT_BYTES, STORE_FORMATS, Chain, Stage, ceil_div

__all__ = ["schedule"]

#: Matmuls of a pass that are handed out before the vector work of the pass before it, so that the
#: array has work while that waits for the last sums.
DELAY = 2
#: Rows of loads, at least, that the first pass waits for before it computes.
FIRST_ROWS = 48


@dataclass(frozen=True)
class _Pass:
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


class _Scheduler:
    def __init__(self, config: TpuConfig, chain: Chain, plan: Plan):
        self.config, self.chain, self.plan, self.dim = config, chain, plan, config.dim
        self.out: list[Node] = []
        self.pending: _Pass | None = None  # its sums wait for their vector work
        self.passes = list(self._passes())
        self.turned = 0  # slices of activations that were transposed

    def _passes(self) -> Iterator[_Pass]:
        plan, chain = self.plan, self.chain
        index = block = group = -1
        for row in range(0, chain.m, plan.rows):
            rows = min(plan.rows, chain.m - row)
            for s, stage in enumerate(chain.stages):
                k_tiles, n_tiles = stage.k_tiles(self.config), stage.n_tiles(self.config)
                depth = plan.depth if s == 0 else k_tiles
                for n0 in range(0, n_tiles, plan.tiles):
                    group += 1
                    for k0 in range(0, k_tiles, depth):
                        index += 1
                        if s == 0 and (n0 == 0 or depth < k_tiles):
                            block += 1
                        k1 = min(k0 + depth, k_tiles)
                        yield _Pass(index, s, row, rows, n0, min(n0 + plan.tiles, n_tiles), k0, k1,
                                    block if s == 0 else -1, group, k1 == k_tiles)

    # Places.

    def stage(self, p: _Pass) -> Stage:
        return self.chain.stages[p.stage]

    def acts(self, p: _Pass, k: int) -> int:
        if p.stage:
            return self.plan.hidden[p.stage - 1] + k * self.plan.rows
        slot = p.block % self.plan.act_slots
        return self.plan.acts + (slot * self.plan.depth + k - p.k0) * self.plan.rows

    def panel(self, p: _Pass) -> int:
        return self.plan.weights + p.index % self.plan.weight_slots * self.plan.weight_rows

    def weight_steps(self, p: _Pass) -> tuple[int, int]:
        """Rows from a weight tile to the next of depth, and to the next of columns.

        The scoreboard compares first and last rows only: in the first pass, whose loads and sums
        run side by side, a slice of depth must not span another.
        """
        if self.stage(p).transpose or p.index == 0:
            return (p.n1 - p.n0) * self.dim, self.dim
        return self.dim, (p.k1 - p.k0) * self.dim

    def sums(self, p: _Pass, n: int) -> int:
        return self.plan.sums + (p.group % self.plan.sum_slots * self.plan.tiles + n - p.n0) * self.plan.rows

    def parameters(self, p: _Pass, n: int) -> list[int]:
        """ACC rows of the parameters of a tile of columns: bias, scale, as far as they exist."""
        stage, plan = self.stage(p), self.plan
        if plan.parameter_slots:
            most = max(stage.parameters for stage in self.chain.stages)
            slot = p.group % plan.parameter_slots
            base, step = plan.parameters[0] + slot * plan.tiles * most + n - p.n0, p.n1 - p.n0
        else:
            base, step = plan.parameters[p.stage] + n, stage.n_tiles(self.config)
        return [base + i * step for i in range(stage.parameters)]

    # Loads.

    def columns(self, p: _Pass) -> tuple[int, int]:
        """First column of the group and number of its columns."""
        stage = self.stage(p)
        first = p.n0 * self.dim
        return first, min(stage.n, p.n1 * self.dim) - first

    def load_weights(self, p: _Pass, k0: int, k1: int) -> None:
        stage = self.stage(p)
        size = stage.operand_bytes
        n, columns = self.columns(p)
        k, deep = k0 * self.dim, min(stage.k, k1 * self.dim) - k0 * self.dim
        k_step, n_step = self.weight_steps(p)
        row = self.panel(p) + (k0 - p.k0) * k_step
        if stage.transpose:
            addr, rows, cols, pitch = n * stage.k + k, columns, deep, stage.k
            group_step = k_step
        else:
            addr, rows, cols, pitch = k * stage.n + n, deep, columns, stage.n
            group_step = n_step
        self.out.append(nodes.load(
            Mem.UB, stage.dma_format, row, stage.weights + addr * size, rows, cols, pitch * size,
            1, group_step, f"{stage.label}: weights"))

    def load_parameters(self, s: int, row: int, n0: int, n1: int) -> None:
        stage = self.chain.stages[s]
        if not stage.parameters:
            return
        offsets = [offset for offset in (stage.bias, stage.scale) if offset is not None]
        first = n0 * self.dim
        cols = min(stage.n, n1 * self.dim) - first
        self.out.append(nodes.load(
            Mem.ACC, DmaFormat.W32, row, offsets[0] + 4 * first, len(offsets), cols,
            offsets[-1] - offsets[0], n1 - n0, 1, f"{stage.label}: bias and scale"))

    def load_pass(self, p: _Pass) -> None:
        """Load what a pass needs beside its activations."""
        self.load_weights(p, p.k0, p.k1)
        if self.plan.parameter_slots and p.last and self.stage(p).parameters:
            self.load_parameters(p.stage, self.parameters(p, p.n0)[0], p.n0, p.n1)

    def load_acts(self, p: _Pass, k0: int, k1: int) -> None:
        """Load slices of depth of a pass's block of activations."""
        stage, size = self.stage(p), self.stage(p).operand_bytes
        k, deep = k0 * self.dim, min(stage.k, k1 * self.dim) - k0 * self.dim
        self.out.append(nodes.load(
            Mem.UB, stage.dma_format, self.acts(p, k0),
            self.chain.source + (p.row * stage.k + k) * size, p.rows, deep, stage.k * size,
            1, self.plan.rows, f"{stage.label}: activations"))

    # Transposed activations: raw tiles are loaded, multiplied by the identity, and moved back.

    def raw(self, slice_number: int) -> int:
        step = ceil_div(self.plan.rows, self.dim) * self.dim
        return self.plan.raw + slice_number % RAW_SLOTS * step

    def load_raw(self, p: _Pass, k: int, slice_number: int) -> None:
        stage, size = self.stage(p), self.stage(p).operand_bytes
        deep = min(self.dim, stage.k - k * self.dim)
        self.out.append(nodes.load(
            Mem.UB, stage.dma_format, self.raw(slice_number),
            self.chain.source + (k * self.dim * self.chain.m + p.row) * size, deep, p.rows,
            self.chain.m * size, 1, self.dim, f"{stage.label}: activations, transposed"))

    def turn(self, p: _Pass, k: int, slice_number: int) -> None:
        stage = self.stage(p)
        source = f"{stage.label}: transpose"
        sums = self.plan.turned + slice_number % TURN_SLOTS * self.plan.rows
        raw = self.raw(slice_number)
        for row in range(0, p.rows, self.dim):
            self.out.append(nodes.matmul(
                stage.matmul_format, sums + row, self.plan.identity, raw + row,
                min(self.dim, p.rows - row), min(self.dim, stage.k - k * self.dim),
                transpose=True, source=source))
        self.out.append(nodes.vector(
            VectorOp.MOV, Dst.UB_I8 if stage.format == "int8" else Dst.UB_BF16,
            self.acts(p, k), p.rows, ((Src.ACC, sums),), source=source))

    def provide_acts(self, p: _Pass, k0: int, k1: int) -> None:
        """Load slices of a later pass's block, transposed where they are stored so."""
        if not self.chain.transpose:
            self.load_acts(p, k0, k1)
            return
        # As many loads as there are slots, then a load for each slot that is read.
        first = self.turned
        for k in range(k0, min(k0 + RAW_SLOTS, k1)):
            self.load_raw(p, k, first + k - k0)
        for k in range(k0, k1):
            self.turn(p, k, first + k - k0)
            if k + RAW_SLOTS < k1:
                self.load_raw(p, k + RAW_SLOTS, first + k - k0 + RAW_SLOTS)
        self.turned += k1 - k0

    # Compute.

    def matmul(self, p: _Pass, k: int, n: int, row: int, rows: int) -> Op:
        stage = self.stage(p)
        k_step, n_step = self.weight_steps(p)
        left = stage.n - n * self.dim if stage.transpose else stage.k - k * self.dim
        return nodes.matmul(
            stage.matmul_format, self.sums(p, n) + row, self.acts(p, k) + row,
            self.panel(p) + (k - p.k0) * k_step + (n - p.n0) * n_step, rows,
            min(self.dim, left), accumulate=k > 0, transpose=stage.transpose,
            source=f"{stage.label}: sums")

    def run(self, p: _Pass, n: int, k0: int, k1: int, row: int, rows: int) -> None:
        """Emit matmuls along the depth, in as few nodes as they allow."""
        k = k0
        while k < k1:
            first = self.matmul(p, k, n, row, rows)
            count = 1
            if k + 1 < k1:
                after = self.matmul(p, k + 1, n, row, rows)
                if after.shape == first.shape:
                    last = self.matmul(p, k1 - 1, n, row, rows)
                    count = k1 - k - (last.shape != first.shape)
                    steps = tuple(b - a for a, b in zip(first.varying, after.varying, strict=True))
                    self.out += nodes.repeat(first, count, steps)
                    k += count
                    continue
            self.out.append(first)
            k += count

    def compute(self, p: _Pass, n: int, row: int, rows: int) -> None:
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

    def finish(self, p: _Pass, n0: int, n1: int, row: int, rows: int) -> None:
        """Emit the vector work and the store of tiles [n0, n1), rows [row, row + rows)."""
        stage, final = self.stage(p), p.stage == len(self.chain.stages) - 1
        for n in range(n0, n1):
            self.vector(p, n, row, rows, final)
        if not final:
            return
        size = ELEMENT_BYTES[stage.output]
        first = n0 * self.dim
        cols = min(stage.n, n1 * self.dim) - first
        self.out.append(nodes.store(
            Mem.ACC, STORE_FORMATS[stage.output], self.sums(p, n0) + row,
            self.chain.target + ((p.row + row) * stage.n + first) * size, rows, cols,
            stage.n * size, 1, self.plan.rows, f"{stage.label}: results"))

    def vector(self, p: _Pass, n: int, row: int, rows: int, final: bool) -> None:
        stage = self.stage(p)
        sums = self.sums(p, n) + row
        source = f"{stage.label}: finish"
        if final:
            kind, dst = Dst.ACC, sums
        else:
            kind = Dst.UB_I8 if stage.format == "int8" else Dst.UB_BF16
            dst = self.plan.hidden[p.stage] + n * self.plan.rows + row
            if stage.format == "bf16" and stage.n < (n + 1) * self.dim:
                # A NaN beyond the last column would reach the sums of the next stage.
                self.out.append(nodes.vector(
                    VectorOp.IMUL, Dst.ACC, sums, rows,
                    ((Src.ACC, sums), (Src.ACC_ROW, self.plan.mask + p.stage)),
                    source=source))
        rows_of = self.parameters(p, n)
        bias = (Src.ACC_ROW, rows_of[0]) if stage.bias is not None else None
        if stage.output == "int8":
            low = max(-128, stage.zero_point) if stage.relu else -128
            param = stage.zero_point & 0xFF | (low & 0xFF) << 8 | 127 << 16
            operands = ((Src.ACC, sums), (Src.ACC_ROW, rows_of[-1]), bias or (Src.SCALAR, 0))
            self.out.append(nodes.vector(VectorOp.REQUANT, kind, dst, rows, operands,
                                         param=param, source=source))
            return
        if final and bias is None and not stage.relu:
            return
        integer = stage.format == "int8"
        post = Post.NONE if not stage.relu else Post.RELU_I if integer else Post.RELU_F
        operation = VectorOp.MOV
        operands = ((Src.ACC, sums),)
        if bias is not None:
            operation = VectorOp.IADD if integer else VectorOp.FADD
            operands += (bias,)
        self.out.append(nodes.vector(operation, kind, dst, rows, operands, post, source=source))

    # The whole.

    def load_constants(self) -> None:
        chain, plan = self.chain, self.plan
        if chain.mask is not None:
            for s, each in enumerate(chain.stages[:-1]):
                if each.n % self.dim:
                    self.out.append(nodes.load(Mem.ACC, DmaFormat.W32, plan.mask + s, chain.mask,
                                               1, each.n % self.dim, 0, source="mask"))
        if not plan.parameter_slots:
            for s, each in enumerate(chain.stages):
                self.load_parameters(s, plan.parameters[s], 0, each.n_tiles(self.config))

    def load_identity(self) -> None:
        chain, stage = self.chain, self.chain.stages[0]
        if chain.identity is not None:
            self.out.append(nodes.load(
                Mem.UB, stage.dma_format, self.plan.identity, chain.identity, self.dim, self.dim,
                self.dim * stage.operand_bytes, source="identity"))

    def first_pass(self, ahead: list[_Pass]) -> None:
        """Emit the first pass by slices of depth, each one's loads ahead of its sums."""
        p = self.passes[0]
        self.load_identity()
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
                self.first_load(p, starts[loaded], min(starts[loaded] + step, p.k1), loaded)
                loaded += 1
                if loaded == len(starts):
                    if self.plan.parameter_slots and p.last and self.stage(p).parameters:
                        self.load_parameters(0, self.parameters(p, p.n0)[0], p.n0, p.n1)
                    self.load_constants()
                    for later in ahead:
                        self.load_pass(later)
            if self.chain.transpose:
                self.turn(p, k, self.turned)
                self.turned += 1
            if k + step >= p.k1 and len(self.passes) == 1:
                self.last_slice(p, k)
            else:
                for n in range(p.n0, p.n1):
                    self.run(p, n, k, min(k + step, p.k1), 0, p.rows)

    def first_load(self, p: _Pass, k0: int, k1: int, index: int) -> None:
        """Load slices of depth of the first pass, activations and weights."""
        if self.chain.transpose:
            self.load_raw(p, k0, index)
        else:
            self.load_acts(p, k0, k1)
        for tile in range(k0, k1):
            self.load_weights(p, tile, tile + 1)

    def chunks(self, p: _Pass) -> list[tuple[int, int]]:
        """Rows of the last pass, cut so that little remains after its last sums."""
        small = max(self.dim, min(2 * self.dim, p.rows // 4))
        if p.rows < 2 * small:
            return [(0, p.rows)]
        return [(0, p.rows - small), (p.rows - small, small)]

    def last_slice(self, p: _Pass, k: int) -> None:
        """Emit the end of a program's only pass."""
        for row, rows in self.chunks(p):
            for n in range(p.n0, p.n1):
                self.run(p, n, k, p.k1, row, rows)
                self.finish(p, n, n + 1, row, rows)

    def last_pass(self, p: _Pass) -> None:
        for row, rows in self.chunks(p):
            for n in range(p.n0, p.n1):
                self.compute(p, n, row, rows)
                self.finish(p, n, n + 1, row, rows)

    def schedule(self) -> list[Node]:
        ahead = self.plan.weight_slots - 1
        passes = self.passes
        blocks: dict[int, list[_Pass]] = {}
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
            if slices is not None and not self.chain.transpose:
                self.load_acts(*slices)
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
            if slices is not None and self.chain.transpose:
                self.provide_acts(*slices)
        return self.out

    def _spans(self, blocks: dict[int, list[_Pass]]) -> dict[int, tuple[_Pass, int, int]]:
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
                share = ceil_div(count, len(hosts)) if i < count % len(hosts) else count // len(hosts)
                if share:
                    spans[host.index] = (target, k, k + share)
                    k += share
        return spans


def schedule(config: TpuConfig, chain: Chain, plan: Plan) -> list[Node]:
    """Return the operations of a chain in the order in which they run."""
    return _Scheduler(config, chain, plan).schedule()
