"""A vector unit between two memories, a reference for it, and random instructions."""

import random
from dataclasses import dataclass

import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.sim import Simulator

from celosia.arch import numerics as nx
from celosia.arch.config import TpuConfig
from celosia.arch.isa import FLOAT_OPS, FLOAT_POSTS, VECTOR_OPERANDS, Dst, Post, Src, VectorOp
from celosia_hw.memory.banked import BankedMemory
from celosia_hw.memory.ports import READ_LATENCY, row_bits
from celosia_hw.vpu.unit import VectorUnit

INT8 = TpuConfig("int8", dim=2, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4)
BOTH = TpuConfig("both", dim=2, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=4)
#: Rows at the end of each memory that only the bench's own traffic touches.
NOISE_ROWS = 4

CORNERS = [
    0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x80800000, 0x00800001, 0x00FFFFFF,
    0x01000000, 0x3F800000, 0xBF800000, 0x3F000000, 0x3F7FFFFF, 0x3F800001, 0x4B000000, 0x4B7FFFFF,
    0x4B000001, 0x4B800000, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F7FFFFF, 0x5F000000,
    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000, 0xFFC12345, 0x7FFFFFFF,
    0x80000002, 0xFFFFFFFF, 0x7F, 0x80, 0x7FFF, 0x8000, 0xFFFF8000, 0xFFFFFF80, 0x40200000,
    0x3FC00000, 0x40600000, 0x3EFFFFFF, 0x3F000001, 0x34000000, 0x33800000, 0x7F000000, 0x20000000,
    0x1F800000, 0x00C00000, 0x3FFFFFFF, 0x3F808000, 0x3F818000, 0x3F808001, 0x7F7F8000, 0x7F7F7FFF,
]


#: Bounds of clamps: NaN, in the wrong order, subnormal, infinite, zeros of both signs.
BOUNDS = [0x7FC03F80, 0x3F807FC0, 0xFFC1FF81, 0xBF803F80, 0x00010001, 0x80018001, 0x7F80FF80,
          0xFF807F80, 0x00008000, 0x80000000, 0x7FFF8000, 0x80007FFF]


@dataclass
class Operand:
    """An operand, or the destination, of a vector instruction."""

    kind: int = 0
    base: int = 0  # a row, or a scalar's value
    strides: tuple[int, int, int] | None = None  # None: consecutive rows

    def rows(self, counts) -> list[int]:
        if self.strides is None:
            return [self.base + i for i in range(counts[0] * counts[1] * counts[2])]
        return [self.base + i0 * self.strides[0] + i1 * self.strides[1] + i2 * self.strides[2]
                for i2 in range(counts[2]) for i1 in range(counts[1]) for i0 in range(counts[0])]


NONE = Operand()
#: Strides: rows base .. base + 15, again and again.
LOW = (1, 0, 0)


@dataclass
class Vector:
    """A vector instruction as the scoreboard hands it over."""

    op: int
    dst: Operand
    a: Operand
    b: Operand
    c: Operand
    counts: tuple[int, int, int] = (1, 1, 1)
    post: int = 0
    param: int = 0

    def payload(self, config: TpuConfig) -> dict:
        mask = (1 << row_bits(config)) - 1

        def shape(operand: Operand) -> dict:
            s0, s1, s2 = operand.strides or (0, 0, 0)
            return {"base": operand.base & mask, "linear": operand.strides is None,
                    "s0": s0, "s1": s1, "s2": s2}

        return {
            "op": self.op, "post": self.post, "dst_kind": self.dst.kind, "param": self.param,
            "dst": shape(self.dst), "counts": dict(zip(("n0", "n1", "n2"), self.counts,
                                                       strict=True)),
            **{f"{n}_kind": getattr(self, n).kind for n in "abc"},
            **{f"{n}_value": getattr(self, n).base for n in "abc"},
            **{n: shape(getattr(self, n)) for n in "abc"},
        }


def compute(op: int, post: int, dst: int, param: int, a, b, c):
    """Words that a row of words gives, as celosia.arch.numerics has it (uint32 arrays)."""
    def i32(x):
        return x.view(np.int32)

    def s8(x):
        return ((x & 255) ^ 128) - 128

    ops = {
        VectorOp.MOV: lambda: a,
        VectorOp.IADD: lambda: a + b, VectorOp.ISUB: lambda: a - b,
        VectorOp.IMUL: lambda: nx.imul(i32(a), i32(b)),
        VectorOp.IMAX: lambda: np.maximum(i32(a), i32(b)),
        VectorOp.IMIN: lambda: np.minimum(i32(a), i32(b)),
        VectorOp.REQUANT: lambda: nx.requant(i32(a), b, i32(c), s8(param), s8(param >> 8),
                                             s8(param >> 16)),
        VectorOp.I2F: lambda: nx.i32_to_f32(i32(a)),
        VectorOp.FADD: lambda: nx.f32_add(a, b), VectorOp.FSUB: lambda: nx.f32_sub(a, b),
        VectorOp.FMUL: lambda: nx.f32_mul(a, b), VectorOp.FFMA: lambda: nx.f32_fma(a, b, c),
        VectorOp.FMAX: lambda: nx.f32_max(a, b), VectorOp.FMIN: lambda: nx.f32_min(a, b),
        VectorOp.F2I: lambda: nx.f32_to_i32(a),
    }
    low, high = param & 0xFFFF, param >> 16
    posts = {
        Post.NONE: lambda t: t,
        Post.RELU_I: lambda t: nx.relu_i(i32(t)),
        Post.CLAMP_I: lambda t: nx.clamp_i(i32(t), (low ^ 0x8000) - 0x8000,
                                           (high ^ 0x8000) - 0x8000),
        Post.RELU_F: nx.relu_f,
        Post.CLAMP_F: lambda t: nx.clamp_f(t, low, high),
    }
    t = posts[Post(post)](ops[VectorOp(op)]().view(np.uint32)).view(np.uint32)
    if dst == Dst.UB_I8:
        return nx.saturate_i8(t.view(np.int32)).astype(np.int32).view(np.uint32)
    if dst == Dst.UB_BF16:
        return nx.f32_to_bf16(t).astype(np.uint32)
    return t


def widen(kind: int, words):
    """Words of 32 bits from the lanes of a row of ``kind``."""
    if kind in (Src.ACC, Src.ACC_ROW):
        return words
    if kind in (Src.UB_I8, Src.UB_I8_ROW):
        return words.astype(np.uint8).view(np.int8).astype(np.int32).view(np.uint32)
    return (words << np.uint32(16)).astype(np.uint32)


class Memories:
    """Both memories as arrays of lanes."""

    def __init__(self, config: TpuConfig, rng: np.random.Generator):
        self.config = config
        self.ub = rng.integers(0, 1 << config.lane_bits, (config.ub_rows, config.dim), np.uint32)
        self.acc = rng.integers(0, 1 << 32, (config.acc_rows, config.dim), np.uint32)
        corners = rng.random(self.acc.shape) < 0.5
        self.acc = np.where(corners, rng.choice(CORNERS, self.acc.shape), self.acc)
        self.acc = self.acc.astype(np.uint32)
        self.ub[rng.random(len(self.ub)) < 0.2] = 0x80

    def run(self, vector: Vector) -> None:
        values = []
        count = vector.counts[0] * vector.counts[1] * vector.counts[2]
        for operand in (vector.a, vector.b, vector.c):
            memory = self.acc if operand.kind in (Src.ACC, Src.ACC_ROW) else self.ub
            if operand.kind in (Src.NONE, Src.SCALAR):
                rows = np.full((count, self.config.dim), operand.base, np.uint32)
            elif operand.kind >= Src.ACC_ROW:
                rows = widen(operand.kind, memory[[operand.base] * count])
            else:
                rows = widen(operand.kind, memory[operand.rows(vector.counts)])
            values.append(rows)
        with np.errstate(over="ignore"):
            result = compute(vector.op, vector.post, vector.dst.kind, vector.param, *values)
        memory = self.acc if vector.dst.kind == Dst.ACC else self.ub
        lane_mask = 0xFFFFFFFF if vector.dst.kind == Dst.ACC else (1 << self.config.lane_bits) - 1
        for row, words in zip(vector.dst.rows(vector.counts), result, strict=True):
            memory[row] = words & np.uint32(lane_mask)


def memories(config: TpuConfig, seed: int = 1) -> Memories:
    """Memories of random contents and corners."""
    return Memories(config, np.random.default_rng(seed))


def random_vector(config: TpuConfig, rng: random.Random, sources=None, target=None) -> Vector:
    """Legal instruction; streams read the lower half of a memory and write the upper half."""
    op = rng.choice([op for op in VectorOp if config.bf16 or op not in FLOAT_OPS])
    post = Post.NONE if op == VectorOp.REQUANT else rng.choice(
        [post for post in Post if config.bf16 or post not in FLOAT_POSTS])
    counts = rng.choice([(rng.randint(1, 12), 1, 1), (1, 1, 1), (3, 2, 2), (2, 1, 4), (1, 5, 1)])
    kinds = [kind for kind in Src if kind != Src.NONE
             and (config.bf16 or kind not in (Src.UB_BF16, Src.UB_BF16_ROW))]
    while True:
        chosen = [rng.choice(kinds) for _ in range(VECTOR_OPERANDS[op])]
        if sum(kind in (Src.ACC, Src.UB_I8, Src.UB_BF16) for kind in chosen) <= 2:
            break
    span = min(config.ub_rows, config.acc_rows) // 2

    def stream(kind: int, first: int) -> Operand:
        strides = rng.choice([None, (1, counts[0], counts[0] * counts[1]), (2, 1, 0), (0, 3, 5)])
        if first and strides is not None:
            strides = (1, counts[0] + 1, (counts[0] + 1) * counts[1])
        last = sum((n - 1) * s for n, s in zip(counts, strides or (0, 0, 0), strict=True)) \
            if strides else counts[0] * counts[1] * counts[2] - 1
        return Operand(kind, first + rng.randrange(span - last - (NOISE_ROWS if first else 0)),
                       strides)

    operands = []
    for kind in chosen:
        if kind == Src.SCALAR:
            operands.append(Operand(kind, rng.choice([*CORNERS, rng.getrandbits(32)])))
        elif kind >= Src.ACC_ROW:
            operands.append(Operand(kind, rng.randrange(span)))
        else:
            operands.append(stream(kind, 0))
    operands += [Operand()] * (3 - len(operands))
    dst = stream(rng.choice([dst for dst in Dst if config.bf16 or dst != Dst.UB_BF16]), span)
    param = rng.choice([0, rng.getrandbits(32), rng.getrandbits(32), rng.choice(BOUNDS)])
    return Vector(op, dst, *operands, counts, post, param)


class Bench(wiring.Component):
    """The unit and both memories; read port 0 and write port 0 of each belong to the test."""

    def __init__(self, config: TpuConfig):
        super().__init__({})
        bits = row_bits(config)
        self.config = config
        self.unit = VectorUnit(config)
        self.ub = BankedMemory(config.ub_rows, bits, config.ub_row_bits, 3, 2)
        self.acc = BankedMemory(config.acc_rows, bits, config.acc_row_bits, 3, 2)

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit = unit = self.unit
        m.submodules.ub = self.ub
        m.submodules.acc = self.acc
        for memory, p, q, write in ((self.ub, unit.ub_p, unit.ub_q, unit.ub_write),
                                    (self.acc, unit.acc_p, unit.acc_q, unit.acc_write)):
            wiring.connect(m, p, memory.read[1])
            wiring.connect(m, q, memory.read[2])
            wiring.connect(m, write, memory.write[1])
        return m


@dataclass
class Result:
    """What a run left behind and how long it took."""

    ub: np.ndarray
    acc: np.ndarray
    cycles: int
    activities: list[int]
    done: list[int]


def run(config: TpuConfig, memories: Memories, vectors: list[Vector], *, noise: float = 0,
        ordered: bool = False, seed: int = 0) -> Result:
    """Run ``vectors`` on the hardware.

    ``noise`` is how often each of the test's ports asks; ``ordered`` offers an instruction only
    when the one before has finished.
    """
    bench = Bench(config)
    unit, rng = bench.unit, random.Random(seed)
    result = Result(np.zeros_like(memories.ub), np.zeros_like(memories.acc), 0, [], [])
    over = False

    def pack(row, bits):
        return sum(int(word) << (bits * i) for i, word in enumerate(row))

    async def main(ctx):
        nonlocal over
        for memory, rows, bits in ((bench.ub, memories.ub, config.lane_bits),
                                   (bench.acc, memories.acc, 32)):
            port = memory.write[0]
            for row, words in enumerate(rows):
                ctx.set(port.addr, row)
                ctx.set(port.data, pack(words, bits))
                ctx.set(port.valid, 1)
                await ctx.tick()
            ctx.set(port.valid, 0)
        begin = len(result.activities)
        command = unit.port.command
        for sent, vector in enumerate(vectors):
            while ordered and len(result.done) < sent:
                await ctx.tick()
            ctx.set(command.payload, vector.payload(config))
            ctx.set(command.valid, 1)
            await ctx.tick().until(command.ready)
            ctx.set(command.valid, 0)
        for _ in range(10_000):
            if len(result.done) == len(vectors):
                break
            await ctx.tick()
        assert len(result.done) == len(vectors)
        result.cycles = result.done[-1] - begin
        over = True
        await ctx.tick().repeat(2)
        assert ctx.get(unit.port.activity).value == 0
        for memory, rows, bits in ((bench.ub, result.ub, config.lane_bits),
                                   (bench.acc, result.acc, 32)):
            port = memory.read[0]
            ctx.set(port.valid, 1)
            for row in range(len(rows) + READ_LATENCY - 1):
                ctx.set(port.addr, min(row, len(rows) - 1))
                await ctx.tick()
                data = ctx.get(port.data)
                if row >= READ_LATENCY - 1:
                    rows[row - READ_LATENCY + 1] = [data >> (bits * i) & ((1 << bits) - 1)
                                                    for i in range(config.dim)]

    async def monitor(ctx):
        cycle = 0
        async for _, reset, done, error, activity in ctx.tick().sample(
                unit.port.done, unit.port.error, unit.port.activity):
            assert not reset
            assert not error
            result.activities.append(activity.value)
            if done:
                result.done.append(cycle)
            cycle += 1

    async def traffic(ctx):
        await ctx.tick().repeat(max(config.ub_rows, config.acc_rows) * 2)
        while not over:
            for memory, rows in ((bench.ub, config.ub_rows), (bench.acc, config.acc_rows)):
                for port in (memory.read[0], memory.write[0]):
                    ctx.set(port.addr, rows - 1 - rng.randrange(NOISE_ROWS))
                    ctx.set(port.valid, rng.random() < noise)
            await ctx.tick()
        for memory in (bench.ub, bench.acc):
            ctx.set(memory.read[0].valid, 0)
            ctx.set(memory.write[0].valid, 0)

    simulator = Simulator(bench)
    simulator.add_clock(1e-6)
    simulator.add_testbench(main)
    simulator.add_testbench(monitor, background=True)
    if noise:
        simulator.add_testbench(traffic, background=True)
    simulator.run()
    return result


def check(config: TpuConfig, memories: Memories, vectors: list[Vector], **options) -> Result:
    """Run on hardware and reference and compare every row."""
    result = run(config, memories, vectors, **options)
    for vector in vectors:
        memories.run(vector)
    for name in ("ub", "acc"):
        got, wanted = getattr(result, name)[:-NOISE_ROWS], getattr(memories, name)[:-NOISE_ROWS]
        wrong = np.argwhere(got != wanted)
        assert not len(wrong), (
            f"{name} row {wrong[0][0]} lane {wrong[0][1]}: {got[tuple(wrong[0])]:#x}, "
            f"not {wanted[tuple(wrong[0])]:#x}; {len(wrong)} lanes differ")
    return result
