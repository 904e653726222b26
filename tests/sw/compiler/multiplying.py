"""Clusters that are a product and its stores, what NumPy makes of them, and the golden model."""

from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
from moving import Memory, everything, flat

from celosia import driver
from celosia.arch.isa import MatmulFormat, Mem
from celosia.arch.vector import Post, VectorOp
from celosia.compiler.codegen.assemble import assemble
from celosia.compiler.codegen.generate import generate
from celosia.compiler.emit.product import emit_product
from celosia.compiler.kernels.terms import Extent, Leaf, Term
from celosia.compiler.lowered import Access, Cluster, Code, Convolution, Dot, OnChip, Write
from celosia.compiler.views import View
from celosia.graph import DType, TensorType, parameter
from celosia.model.fast import chain
from celosia.model.fast import numerics as fast
from celosia.program import Buffer, Program

__all__ = ["Multiplying"]


@dataclass
class Multiplying:
    """A product of two operands.

    ``kind`` is the type of the operands in memory: f32 and bf16 are multiplied as bf16.
    """

    config: object
    kind: str = "bf16"
    seed: int = 0
    relu: bool = False
    small: bool = False
    """Operands are small integers: sums are exact in any order."""

    def __post_init__(self):
        self.memory = Memory(self.config, self.seed)
        self.rng = np.random.default_rng(self.seed)
        self.fmt = MatmulFormat.INT8 if self.kind == "i8" else MatmulFormat.BF16
        self.homes = {}
        #: What tensors hold at the end, besides the result.
        self.wanted = {}

    def operand(self, name, shape, home=None):
        """Return a tensor and its values, as the array takes them."""
        if self.kind == "i8":
            values = self.rng.integers(-128, 128, shape).astype(np.int8)
            bits = values
        else:
            values = self.rng.standard_normal(shape).astype(np.float32)
            if self.small:
                values = np.round(values * 2)
            if self.kind == "bf16":
                values = values.astype(ml_dtypes.bfloat16)
            bits = values.view(np.uint16 if self.kind == "bf16" else np.uint32)
            values = values.astype(ml_dtypes.bfloat16).view(np.uint16)
        tensor = self.memory.tensor(name, shape, self.kind, home, values=bits)
        if home is not None:
            columns, dim = shape[-1], self.config.dim
            matrix = values.reshape(-1, columns)
            panels = -(-columns // dim)
            rows = np.zeros((len(matrix), panels * dim), values.dtype)
            rows[:, :columns] = matrix
            self.memory.on_chip[name] = rows.reshape(len(matrix), panels, dim).transpose(
                1, 0, 2).reshape(-1, dim)
        return tensor, values

    def products(self, pairs):
        """Sum of products of matrices, each in one step of the array, in order."""
        total = None
        for acts, weights in pairs:
            if self.kind == "i8":
                part = np.matmul(acts.astype(np.int32), weights.astype(np.int32)).view(np.uint32)
                total = part if total is None else total + part
            else:
                part = chain.sums(np.ascontiguousarray(acts), np.ascontiguousarray(weights))
                total = part if total is None else fast.f32_add(total, part)
        return total

    def dot(self, batches, m, k, n, left=False, right=False, shared=False, space=None,
            on_chip=(False, False), region=None, pad=0, turned=False):
        """Check [B,M,K] x [B,K,N]; ``left``, ``right``: stored transposed.

        ``pad``: elements between one row and the next, ``shared``: one right operand for all,
        ``turned``: the transpose of the left one is left, too.
        """
        dim = self.config.dim
        a_shape = (batches, k, m + pad) if left else (batches, m, k + pad)
        b_shape = (1 if shared else batches, *((n, k + pad) if right else (k, n + pad)))
        at = self.config.ub_rows
        homes = []
        for chip, shape in zip(on_chip, (a_shape, b_shape), strict=True):
            at -= chip * (shape[0] * shape[1]) * -(-shape[2] // dim)
            homes.append(OnChip(Mem.UB, at) if chip else None)
        (a_tensor, a), (b_tensor, b) = (
            self.operand(name, shape, home)
            for name, shape, home in zip("ab", (a_shape, b_shape), homes, strict=True))
        a_view, b_view = View.contiguous(a_shape), View.contiguous(b_shape)
        a_view = a_view.slice((0, 0, 0), (batches, k, m) if left else (batches, m, k))
        b_view = b_view.slice((0, 0, 0), (b_shape[0], n, k) if right else (b_shape[0], k, n))
        a, b = a[tuple(map(slice, a_view.shape))], b[tuple(map(slice, b_view.shape))]
        if left:
            a_view, a = a_view.transpose((0, 2, 1)), a.transpose(0, 2, 1)
        if right:
            b_view, b = b_view.transpose((0, 2, 1)), b.transpose(0, 2, 1)
        if shared:
            b_view = b_view.broadcast((batches, k, n), (0, 1, 2))
            b = np.broadcast_to(b, (batches, k, n))
        product = Dot(self.fmt, Access(a_tensor, a_view), Access(b_tensor, b_view))
        if turned:
            target = self.memory.tensor("t", (k, m), "i8" if self.kind == "i8" else "bf16")
            self.wanted[target] = a[0].T
            product = replace(product, turned=Access(target, View.contiguous((k, m))))
        expected = self.products((a[..., at:at + dim], b[:, at:at + dim])
                                 for at in range(0, k, dim))
        return self.check(product, space or (batches, m, n), expected, at, region)

    def convolution(self, x_shape, w_shape, stride=(1, 1), dilation=(1, 1), flip=False,
                    on_chip=False, region=None):
        """Check a convolution; ``flip``: taps are stored backwards."""
        dim, at = self.config.dim, self.config.ub_rows
        home = None
        if on_chip:
            at -= int(np.prod(x_shape[:-1])) * -(-x_shape[-1] // dim)
            home = OnChip(Mem.UB, at)
        x_tensor, x = self.operand("x", x_shape, home)
        w_tensor, w = self.operand("w", w_shape)
        view = View.contiguous(w_shape)
        if flip:
            view, w = view.reverse((0, 1)), w[::-1, ::-1]
        lines, columns = ((size - (taps - 1) * d - 1) // s + 1 for size, taps, d, s in zip(
            x_shape[1:3], w_shape[:2], dilation, stride, strict=True))
        pairs = []
        for c in range(0, x_shape[3], dim):
            for p in range(w_shape[0]):
                for q in range(w_shape[1]):
                    i, j = p * dilation[0], q * dilation[1]
                    part = x[:, i:i + (lines - 1) * stride[0] + 1:stride[0],
                             j:j + (columns - 1) * stride[1] + 1:stride[1], c:c + dim]
                    pairs.append((part.reshape(1, -1, part.shape[-1]), w[p, q, c:c + dim][None]))
        product = Convolution(self.fmt, Access(x_tensor, View.contiguous(x_shape)),
                              Access(w_tensor, view), stride, dilation)
        return self.check(product, (x_shape[0], lines, columns, w_shape[3]),
                          self.products(pairs), at, region)

    def check(self, product, space, expected, end, region=None):
        """Run in order and scheduled; the results are the same bit for bit."""
        dtype = DType.I32 if self.kind == "i8" else DType.F32
        value = parameter(TensorType(dtype, space), "y")
        target = self.memory.tensor("y", space)
        made = result = Term(Leaf.READ, source=value)
        steps = ()
        if self.relu:
            post = Post.RELU_I if self.kind == "i8" else Post.RELU_F
            made = Term(VectorOp.MOV, (result,), post=post)
            steps = (made,)
            expected = np.where(expected.view(np.int32) < 0, 0, expected).astype(np.uint32)
        cluster = Cluster(space, len(space) - 1, product, value, (), (), (
            Write(value, Extent.FULL, Access(target, View.contiguous(space))),), "test")
        code = Code(steps, {value: result}, {value: made})
        if region is None:
            whole = everything(self.config)
            region = type(whole)(range(0, end), whole.acc)
        self.emitted = emit_product(self.config, cluster, code, region)
        image = bytearray(self.memory.data) + bytes(64)
        for tensor, values in {target: expected, **self.wanted}.items():
            bits = np.ascontiguousarray(values).tobytes()
            image[tensor.home.offset:tensor.home.offset + len(bits)] = bits
        for ops in (assemble(flat(self.emitted)), generate(self.config, [self.emitted])):
            arena, self.cycles = self.run(ops)
            assert arena[:len(image)] == bytes(image)
        return self

    def run(self, code):
        """Return the arena after a run, and cycles; on-chip memories begin as NaNs."""
        config, memory = self.config, self.memory
        data = bytes(memory.data) + bytes(64)
        words = np.frombuffer(data, np.int32)
        program = Program(config.fingerprint, tuple(code.insns), arena_bytes=len(data),
                          buffers=(Buffer("arena", 0, words.shape, "int32", "input"),),
                          relocations=tuple(code.relocations))
        with driver.open("model", config=config) as device:
            machine = device.transport.machine
            machine.acc[...] = 0x7FC00000
            machine.ub[...] = 0x7FC0 if config.bf16 else 0x55
            for name, rows in memory.on_chip.items():
                home = memory.tensors[name].home
                machine.ub[home.row:home.row + len(rows)] = rows.astype(machine.ub.dtype)
            result = device.run(program, {"arena": words}, outputs=["arena"])
            return result["arena"].tobytes(), result.cycles

    def utilisation(self, products):
        """Share of the array's work in the cycles of the scheduled run."""
        return products / self.config.dim**2 / self.cycles
