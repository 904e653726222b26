"""Random pieces of work, and what a program leaves behind on the golden model."""

from collections.abc import Sequence
from math import lcm

import numpy as np

from celosia import driver
from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import Dst, Reduce, ReduceOp, Src, VectorOp
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block, Choose, Emitted, ReadScalar, Repeat
from celosia.compiler.codegen.nodes import CodeOp, Loop
from celosia.compiler.codegen.spans import Costs
from celosia.compiler.codegen.waits import followers
from celosia.compiler.emit.fold import Turn, fold_loops
from celosia.program import Buffer, Program

CHIP = TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=512, acc_rows=512, bus_bytes=16,
                 window=16, ibuf=128)
WORDS = 1 << 14
HALF = 2 * WORDS  # bytes; what blocks read lies below, what they write above, mostly


def unrolled(nodes: list[Loop | CodeOp]) -> list[CodeOp]:
    """Return the operations that the nodes stand for, in the order in which they run."""
    out: list[CodeOp] = []
    for node in nodes:
        if isinstance(node, CodeOp):
            out.append(node)
            continue
        values = node.varying
        for _ in range(node.count):
            out += unrolled(list(node.with_varying(values).body))
            values = tuple(value + step for value, step in zip(values, node.steps, strict=True))
    return out


def legal(config: TpuConfig, before: Sequence[CodeOp], after: Sequence[CodeOp]) -> bool:
    """Whether ``after`` has the operations of ``before``, and those that conflict in their order.

    Two conflict where one writes what the other reads or writes, from first to last row or byte.
    """
    places: dict[CodeOp, list[int]] = {}
    for i, op in enumerate(after):
        places.setdefault(op, []).append(i)
    if len(before) != len(after):
        return False
    position = []
    for op in before:
        if not places.get(op):
            return False
        position.append(places[op].pop(0))
    costs = Costs(config)
    each = [costs(op) for op in before]
    waiting = followers(each, [cost.of(op) for cost, op in zip(each, before, strict=True)])
    return all(position[i] < position[j] for i, after in enumerate(waiting) for j in after)


def run(code, setup=None):
    """Return all memory after a run from a given state, and the cycles."""
    program = Program(CHIP.fingerprint, tuple(code.insns), arena_bytes=4 * WORDS,
                      buffers=(Buffer("data", 0, (WORDS,), "float32", "input"),),
                      relocations=tuple(code.relocations))
    with driver.open("model", config=CHIP) as device:
        machine = device.transport.machine
        rng = np.random.default_rng(0)
        machine.acc[...] = rng.standard_normal(machine.acc.shape).astype(np.float32).view(np.uint32)
        machine.ub[...] = rng.integers(0x3F80, 0x4000, machine.ub.shape)
        for row, value in (setup or {}).items():
            machine.acc[row] = value
        data = rng.standard_normal(WORDS).astype(np.float32)
        result = device.run(program, {"data": data}, outputs=["data"])
        state = machine.acc.tobytes(), machine.ub.tobytes(), result["data"].tobytes()
        return state, result.cycles


def runs(blocks, places=1):
    """Blocks of one loop, written out, as runs; so many places take turns."""
    return fold_loops([Turn(tuple(tuple(op.shape for op in stage) for stage in block.stages),
                            tuple(value for op in block.operations for value in op.varying))
                       for block in blocks], blocks.__getitem__, places=places)


def map_work(rng, count, first=0):
    """Load, compute with strides, store; places alternate."""
    rows = int(rng.integers(1, 5)) * 4
    places = int(rng.integers(1, 4))
    stride = int(rng.integers(1, 3))
    at = int(rng.integers(0, 8))
    target = HALF if rng.random() < 0.7 else int(rng.integers(0, 64)) * 16
    joined = rng.random() < 0.3
    operation = VectorOp.FADD if rng.random() < 0.5 else VectorOp.FMUL
    blocks = []
    for i in range(count):
        place = at + i % places * 6 * rows
        loads = [nodes.load(Mem.ACC, DmaFormat.W32, place, 16 * rows * i + first, 2 * rows, 4,
                            16, source="map")]
        triple = (stride, 3, 0)
        work = [
            nodes.vector(operation, Dst.ACC, place + 2 * rows, rows // 2,
                         ((Src.ACC, place), (Src.ACC_ROW, 500)), n1=2, xa=triple,
                         xdst=(stride, rows, 0), source="map"),
            nodes.vector(VectorOp.FADD, Dst.ACC, place + 5 * rows, rows // 2,
                         ((Src.ACC, place + 2 * rows), (Src.ACC_LANE, 480 | 1 << 24)), n1=2,
                         xa=(stride, rows, 0), xb=(0, 0, 0), source="map",
                         reduce=Reduce.ROWS if joined else Reduce.NONE,
                         reduce_op=ReduceOp.SUM_F if joined else ReduceOp.SUM_I),
            nodes.store(Mem.ACC, DmaFormat.W32, place + 5 * rows, target + 16 * rows * i,
                        2 if joined else rows, 4, 16, source="map")]
        blocks.append(Block([loads, work]))
    return Emitted([nodes.load(Mem.ACC, DmaFormat.W32, 500, 64, 1, 4, 16, source="map")],
                   runs(blocks, places), [nodes.store(
                       Mem.ACC, DmaFormat.W32, 500, HALF - 16, 1, 4, 16, source="map")])


def product_work(rng, count, first=0):
    """Load operands, multiply, transform and store; sums and operands alternate."""
    rows = 8
    operands, sums = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    late = rng.random() < 0.5
    blocks = []
    for i in range(count):
        ub, acc = i % operands * 64, 256 + i % sums * 32
        loads = [nodes.load(Mem.UB, DmaFormat.W32, ub + 16 * k, 1024 * k + 128 * i + first, rows, 4,
                            16, source="product") for k in range(2)]
        extra = nodes.load(Mem.ACC, DmaFormat.W32, acc + 16, 128 * i, rows, 4, 16, source="product")
        products = [nodes.matmul(MatmulFormat.BF16, acc, ub + 16 * k, 400 + 4 * k, 4, 4, k > 0,
                                 n1=2, xacts=(1, 4, 0) if k else (2, 1, 0), source="product")
                    for k in range(2)]
        (products if late else loads).append(extra)
        work = [nodes.vector(VectorOp.FADD, Dst.ACC, acc, rows,
                             ((Src.ACC, acc), (Src.ACC, acc + 16)), source="product"),
                nodes.store(Mem.ACC, DmaFormat.W32, acc, HALF + 128 * i, rows, 4, 16,
                            source="product")]
        blocks.append(Block([loads, products, work]))
    return Emitted([], runs(blocks, lcm(operands, sums)), [])


def naive(items):
    """The operations of pieces of work, one after another."""
    return [op for work in items for op in work.operations]


__all__ = ["CHIP", "HALF", "WORDS", "Choose", "ReadScalar", "Repeat", "map_work", "naive",
           "product_work", "run", "runs"]
