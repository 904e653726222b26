"""The instructions of a pass: where its rows lie, its loads, sums, vector work and stores."""

from __future__ import annotations

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.vector import Dst, Post, Src, VectorOp
from celosia.codegen import nodes
from celosia.codegen.nodes import Node, Op, ceil_div
from celosia.ops.passes import Pass
from celosia.ops.plan import Plan
from celosia.ops.stages import ELEMENT_BYTES, STORE_FORMATS, Chain, Stage

__all__ = ["Emitter"]


class Emitter:
    """Appends the instructions of passes to ``out``; their order is the caller's.

    Parameters
    ----------
    config, chain, plan
        What is computed, on what, and how it is cut.
    """

    def __init__(self, config: TpuConfig, chain: Chain, plan: Plan):
        self.config, self.chain, self.plan, self.dim = config, chain, plan, config.dim
        self.out: list[Node] = []
        self.turned = 0  # slices of activations that were transposed

    # Places.

    def stage(self, p: Pass) -> Stage:
        """The stage of a pass."""
        return self.chain.stages[p.stage]

    def acts(self, p: Pass, k: int) -> int:
        """First UB row of a slice of depth of the activations."""
        if p.stage:
            return self.plan.hidden[p.stage - 1] + k * self.plan.rows
        slot = p.block % self.plan.act_slots
        return self.plan.acts + (slot * self.plan.depth + k - p.k0) * self.plan.slice_rows

    def panel(self, p: Pass) -> int:
        """First UB row of the weights of a pass."""
        return self.plan.weights + p.index % self.plan.weight_slots * self.plan.weight_rows

    def weight_steps(self, p: Pass) -> tuple[int, int]:
        """Rows from a weight tile to the next of depth, and to the next of columns.

        The scoreboard compares first and last rows only: in the first pass, whose loads and sums
        run side by side, a slice of depth must not span another.
        """
        if self.stage(p).transpose or p.index == 0:
            return (p.n1 - p.n0) * self.dim, self.dim
        return self.dim, (p.k1 - p.k0) * self.dim

    def sums(self, p: Pass, n: int) -> int:
        """First ACC row of the sums of a tile of columns."""
        block = p.group % self.plan.sum_slots * self.plan.tiles + n - p.n0
        return self.plan.sums + block * self.plan.rows

    def parameters(self, p: Pass, n: int) -> list[int]:
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

    def columns(self, p: Pass) -> tuple[int, int]:
        """First column of the group and number of its columns."""
        stage = self.stage(p)
        first = p.n0 * self.dim
        return first, min(stage.n, p.n1 * self.dim) - first

    def load_weights(self, p: Pass, k0: int, k1: int) -> None:
        """Load the weights of tiles of depth [k0, k1) for a pass."""
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
        """Load bias and scale of tiles of columns [n0, n1) of a stage to ACC row ``row`` on."""
        stage = self.chain.stages[s]
        if not stage.parameters:
            return
        offsets = [offset for offset in (stage.bias, stage.scale) if offset is not None]
        first = n0 * self.dim
        cols = min(stage.n, n1 * self.dim) - first
        self.out.append(nodes.load(
            Mem.ACC, DmaFormat.W32, row, offsets[0] + 4 * first, len(offsets), cols,
            offsets[-1] - offsets[0], n1 - n0, 1, f"{stage.label}: bias and scale"))

    def load_pass(self, p: Pass) -> None:
        """Load what a pass needs beside its activations."""
        self.load_weights(p, p.k0, p.k1)
        if self.plan.parameter_slots and p.last and self.stage(p).parameters:
            self.load_parameters(p.stage, self.parameters(p, p.n0)[0], p.n0, p.n1)

    def load_acts(self, p: Pass, k0: int, k1: int) -> None:
        """Load slices of depth of a pass's block of activations."""
        stage, size = self.stage(p), self.stage(p).operand_bytes
        k, deep = k0 * self.dim, min(stage.k, k1 * self.dim) - k0 * self.dim
        self.out.append(nodes.load(
            Mem.UB, stage.dma_format, self.acts(p, k0),
            self.chain.source + (p.row * stage.k + k) * size, p.rows, deep, stage.k * size,
            1, self.plan.rows, f"{stage.label}: activations"))

    # Transposed activations: raw tiles are loaded, and turned by the vector unit.

    def raw(self, slice_number: int) -> int:
        """First UB row of a slice that waits to be transposed."""
        return self.plan.raw + slice_number % self.plan.raw_slots * self.plan.slice_rows

    def load_raw(self, p: Pass, k: int, slice_number: int) -> None:
        """Load a slice of depth as it is stored: its rows along the depth."""
        stage, size = self.stage(p), self.stage(p).operand_bytes
        deep = min(self.dim, stage.k - k * self.dim)
        if deep < self.dim:  # what is left there could be a NaN, which no zero weight removes
            for row in range(0, p.rows, self.dim):
                self.out.append(nodes.vector(
                    VectorOp.MOV, stage.operand_dst, self.raw(slice_number) + row + deep,
                    self.dim - deep, ((Src.SCALAR, 0),), source=f"{stage.label}: transpose"))
        self.out.append(nodes.load(
            Mem.UB, stage.dma_format, self.raw(slice_number),
            self.chain.source + (k * self.dim * self.chain.m + p.row) * size, deep, p.rows,
            self.chain.m * size, 1, self.dim, f"{stage.label}: activations, transposed"))

    def turn(self, p: Pass, k: int, slice_number: int) -> None:
        """Transpose a slice that was loaded raw."""
        stage = self.stage(p)
        self.out.append(nodes.vector(
            VectorOp.TRANSPOSE, stage.operand_dst, self.acts(p, k),
            ceil_div(p.rows, self.dim) * self.dim,
            ((Src.UB_I8 if stage.format == "int8" else Src.UB_BF16, self.raw(slice_number)),),
            source=f"{stage.label}: transpose"))

    def load_next_acts(self, p: Pass, k0: int, k1: int) -> None:
        """Load slices of a later pass's block; those that are turned, as many as have room."""
        if not self.chain.transpose:
            self.load_acts(p, k0, k1)
            return
        for k in range(k0, min(k0 + self.plan.raw_slots, k1)):
            self.load_raw(p, k, self.turned + k - k0)

    def turn_next_acts(self, p: Pass, k0: int, k1: int) -> None:
        """Transpose what `load_next_acts` loaded, and load and transpose the rest."""
        if not self.chain.transpose:
            return
        first = self.turned
        for k in range(k0, k1):
            self.turn(p, k, first + k - k0)
            later = k + self.plan.raw_slots
            if later < k1:
                self.load_raw(p, later, first + later - k0)
        self.turned += k1 - k0

    def load_constants(self) -> None:
        """Load masks, and the parameters that stay on chip."""
        chain, plan = self.chain, self.plan
        if chain.mask is not None:
            for s, each in enumerate(chain.stages[:-1]):
                if each.n % self.dim:
                    self.out.append(nodes.load(Mem.ACC, DmaFormat.W32, plan.mask + s, chain.mask,
                                               1, each.n % self.dim, 0, source="mask"))
        if not plan.parameter_slots:
            for s, each in enumerate(chain.stages):
                self.load_parameters(s, plan.parameters[s], 0, each.n_tiles(self.config))

    # Compute.

    def matmul(self, p: Pass, k: int, n: int, row: int, rows: int) -> Op:
        """Return the product of some rows of a block with one weight tile."""
        stage = self.stage(p)
        k_step, n_step = self.weight_steps(p)
        left = stage.n - n * self.dim if stage.transpose else stage.k - k * self.dim
        return nodes.matmul(
            stage.matmul_format, self.sums(p, n) + row, self.acts(p, k) + row,
            self.panel(p) + (k - p.k0) * k_step + (n - p.n0) * n_step, rows,
            min(self.dim, left), accumulate=k > 0, transpose=stage.transpose,
            source=f"{stage.label}: sums")

    def run(self, p: Pass, n: int, k0: int, k1: int, row: int, rows: int) -> None:
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

    def finish(self, p: Pass, n0: int, n1: int, row: int, rows: int) -> None:
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

    def vector(self, p: Pass, n: int, row: int, rows: int, final: bool) -> None:
        """Emit the vector work of one tile of columns: in place, or to the next stage's input."""
        stage = self.stage(p)
        sums = self.sums(p, n) + row
        source = f"{stage.label}: finish"
        if final:
            kind, dst = Dst.ACC, sums
        else:
            kind = stage.operand_dst
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
        if final and not stage.parameters and not stage.relu:
            return
        integer = stage.format == "int8"
        post = Post.NONE if not stage.relu else Post.RELU_I if integer else Post.RELU_F
        operation = VectorOp.MOV
        operands = ((Src.ACC, sums),)
        if stage.scale is not None:
            operation = VectorOp.FFMA
            operands += ((Src.ACC_ROW, rows_of[-1]), bias or (Src.SCALAR, 0))
        elif bias is not None:
            operation = VectorOp.IADD if integer else VectorOp.FADD
            operands += (bias,)
        self.out.append(nodes.vector(operation, kind, dst, rows, operands, post, source=source))
