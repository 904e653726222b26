"""Instructions of the vector unit, what they do to two memories, and random ones."""

import random
from dataclasses import dataclass

import numpy as np

from celosia.arch import commands
from celosia.arch.config import TpuConfig
from celosia.arch.streams import Stream
from celosia.arch.vector import (
    DIV_OPS,
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    LANE_BITS_LSB,
    LANE_ROW_SRCS,
    LANE_SRCS,
    PARAM_POSTS,
    ROW_SRCS,
    STREAM_SRCS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
    operand_names,
)
from celosia.model import vpu
from celosia_hw.memory.ports import row_bits

#: Rows at the end of each memory that only the bench's own traffic touches.
NOISE_ROWS = 4
#: Rows of the accumulators that are filled with small indexes.
INDEX_ROWS = range(20, 28)
#: Most indexes are below this.
TABLE = 8

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

_BF16 = frozenset(src for src in Src if src.name.startswith("UB_BF16"))
_GROUPED = (Reduce.ROWS, Reduce.COLLECT)


@dataclass(frozen=True)
class Operand:
    """An operand, or the destination, of a vector instruction."""

    kind: int = 0
    base: int = 0  # a row, or a value
    strides: tuple[int, int, int] | None = None  # None: consecutive rows
    lane: int = 0

    def stream(self, counts: tuple[int, int, int]) -> Stream:
        if self.strides is None:
            return Stream.linear(self.base, counts)
        return Stream(self.base, counts, self.strides)

    @property
    def word(self) -> int:
        return self.base | self.lane << LANE_BITS_LSB


NONE = Operand()
#: Strides: rows base .. base + 15, again and again.
LOW = (1, 0, 0)


@dataclass
class Vector:
    """A vector instruction as the scoreboard hands it over."""

    op: int
    dst: Operand
    a: Operand
    b: Operand = NONE
    c: Operand = NONE
    counts: tuple[int, int, int] = (1, 1, 1)
    post: int = 0
    param: int = 0
    reduce: int = 0
    reduce_op: int = 0

    def payload(self, config: TpuConfig) -> dict:
        mask = (1 << row_bits(config)) - 1

        def shape(operand: Operand) -> dict:
            s0, s1, s2 = operand.strides or (0, 0, 0)
            return {"base": operand.base & mask, "linear": operand.strides is None,
                    "s0": s0, "s1": s1, "s2": s2}

        return {
            **{name: getattr(self, name) for name in ("op", "post", "param", "reduce",
                                                      "reduce_op")},
            "dst_kind": self.dst.kind, "dst": shape(self.dst),
            "counts": dict(zip(("n0", "n1", "n2"), self.counts, strict=True)),
            **{f"{n}_kind": getattr(self, n).kind for n in "abc"},
            **{f"{n}_value": getattr(self, n).word for n in "abc"},
            **{f"{n}_lane": getattr(self, n).lane for n in "abc"},
            **{n: shape(getattr(self, n)) for n in "abc"},
        }

    def command(self, config: TpuConfig) -> commands.Vector:
        """The same for the model."""
        groups = (1, *self.counts[1:])
        sources = []
        for name in operand_names(VectorOp(self.op), Post(self.post)):
            operand = getattr(self, name)
            stream, lane = None, None
            if operand.kind in STREAM_SRCS:
                indexes = self.op in INDEXED_OPS and operand is self.b
                stream = operand.stream(groups if indexes else self.counts)
            elif operand.kind in ROW_SRCS:
                stream = Stream(operand.base, (1, 1, 1), (1, 1, 1))
            if operand.kind in LANE_SRCS | LANE_ROW_SRCS:
                lane = operand.lane
            sources.append(commands.VectorOperand(Src(operand.kind), operand.base, stream, lane))
        return commands.Vector(
            VectorOp(self.op), Post(self.post), Dst(self.dst.kind),
            self.dst.stream(groups if self.reduce in _GROUPED else self.counts), tuple(sources),
            self.param, self.counts, Reduce(self.reduce), ReduceOp(self.reduce_op))


class Memories:
    """Both memories as arrays of lanes."""

    def __init__(self, config: TpuConfig, rng: np.random.Generator):
        self.config = config
        self.ub = rng.integers(0, 1 << config.lane_bits, (config.ub_rows, config.dim), np.uint16)
        self.acc = rng.integers(0, 1 << 32, (config.acc_rows, config.dim), np.uint32)
        corners = rng.random(self.acc.shape) < 0.5
        self.acc = np.where(corners, rng.choice(CORNERS, self.acc.shape), self.acc)
        self.acc = self.acc.astype(np.uint32)
        self.ub[rng.random(len(self.ub)) < 0.2] = 0x80
        self.ub = self.ub.astype(np.uint16 if config.bf16 else np.uint8)
        self.acc[INDEX_ROWS.start:INDEX_ROWS.stop] = rng.integers(
            0, TABLE, (len(INDEX_ROWS), config.dim))

    def run(self, vector: Vector) -> int | None:
        """Execute with the model; the first bad index."""
        with np.errstate(over="ignore"):
            return vpu.execute(vector.command(self.config), self.ub, self.acc)


def memories(config: TpuConfig, seed: int = 1) -> Memories:
    """Memories of random contents and corners."""
    return Memories(config, np.random.default_rng(seed))


def widen(kind: int, words):
    """Words of 32 bits from the lanes of a row of ``kind``."""
    if kind in (Src.ACC, Src.ACC_ROW):
        return words
    if kind in (Src.UB_I8, Src.UB_I8_ROW):
        return words.astype(np.uint8).view(np.int8).astype(np.int32).view(np.uint32)
    return (words << np.uint32(16)).astype(np.uint32)


def random_vector(config: TpuConfig, rng: random.Random, op: int | None = None,
                  reduce: int | None = None) -> Vector:
    """Legal instruction; streams read the lower half of a memory and write the upper half."""
    def pick(items, floating=()):
        return rng.choice([item for item in items if config.bf16 or item not in floating])

    op = pick(VectorOp, FLOAT_OPS) if op is None else VectorOp(op)
    if op == VectorOp.SCATTER:
        reduce = Reduce.NONE
    if reduce is None:
        reduce = rng.choice([*Reduce, *[Reduce.NONE] * 3])
    posts = [post for post in Post if not (op in INDEXED_OPS and post in PARAM_POSTS)
             and (post != Post.DIV or op in DIV_OPS)]
    post = Post.NONE if op == VectorOp.REQUANT else pick(posts, FLOAT_POSTS)
    counts = _counts(config.dim, op, reduce, rng)
    span = min(config.ub_rows, config.acc_rows) // 2

    def stream(kind: int, first: int, rows: int, counts, choices) -> Operand:
        """Stream inside ``rows`` rows from ``first`` on."""
        fitting = [(strides, operand.last) for strides in choices
                   if (operand := Operand(0, 0, strides).stream(counts)).last < rows]
        strides, last = rng.choice(fitting)
        lane = rng.randrange(config.dim) if kind in LANE_SRCS and first == 0 else 0
        return Operand(kind, first + rng.randrange(rows - last), strides, lane)

    def source(kind: int) -> Operand:
        if kind in STREAM_SRCS:
            return stream(kind, 0, span, counts,
                          [None, (1, counts[0], counts[0] * counts[1]), (2, 1, 0), (0, 3, 5)])
        if kind in ROW_SRCS:
            return Operand(kind, rng.randrange(span), None,
                           rng.randrange(config.dim) if kind in LANE_ROW_SRCS else 0)
        return Operand(kind, rng.choice([*CORNERS, rng.getrandbits(32)]))

    groups = (1, *counts[1:])
    written = groups if reduce in _GROUPED else counts
    gaps = (1, written[0] + 1, (written[0] + 1) * written[1])
    dst = stream(pick(Dst, {Dst.UB_BF16}), span, span - NOISE_ROWS, written, [None, gaps])
    param = 0
    if op == VectorOp.REQUANT or post in PARAM_POSTS:
        param = rng.choice([0, rng.getrandbits(32), rng.getrandbits(32), rng.choice(BOUNDS)])
    moved = pick((Src.ACC, Src.UB_I8, Src.UB_BF16), _BF16)
    if op in INDEXED_OPS:
        b = stream(Src.ACC, INDEX_ROWS.start, len(INDEX_ROWS), groups, [None, (0, 1, 2)])
        param = rng.choice([TABLE, TABLE, TABLE + 2, TABLE - 1])
        if op == VectorOp.GATHER:
            a = Operand(moved, rng.randrange(span - param))
        else:
            a, dst = source(moved), Operand(dst.kind, span + rng.randrange(span - param - 4))
        operands = [a, b]
    elif op == VectorOp.TRANSPOSE:
        operands = [source(moved)]
    elif op == VectorOp.ROTATE:
        operands = [source(moved), source(Src.SCALAR)]
    else:
        kinds = [kind for kind in Src if kind != Src.NONE]
        names = operand_names(op, post)
        chosen = [pick(kinds, _BF16) for _ in names]
        while sum(kind in STREAM_SRCS for kind in chosen) > 2:
            chosen = [pick(kinds, _BF16) for _ in chosen]
        found = dict(zip(names, map(source, chosen), strict=True))
        operands = [found.get(name, NONE) for name in "abc"]
    operands += [NONE] * (3 - len(operands))
    return Vector(op, dst, *operands, counts, post, param, reduce,
                  pick(ReduceOp, FLOAT_REDUCES) if reduce else 0)


def _counts(dim: int, op: int, reduce: int, rng: random.Random) -> tuple[int, int, int]:
    if op == VectorOp.TRANSPOSE:
        choices = [(dim, 1, 1), (2 * dim, 1, 1), (dim, 2, 1), (dim, 1, 2)]
    else:
        choices = [(rng.randint(1, 12), 1, 1), (1, 1, 1), (3, 2, 2), (2, 1, 4), (1, 5, 1)]
    if op in INDEXED_OPS or reduce == Reduce.COLLECT:
        choices = [choice for choice in choices if choice[0] <= dim]
    return rng.choice(choices)
