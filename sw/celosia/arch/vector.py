"""The operations of the vector unit, as data: the enumerations of the ``vector`` instruction.

A row goes through four steps: the first stage makes a word of each lane of the operands a, b, c
(:class:`VectorOp`), the second stage changes that word (:class:`Post`), a reduction may join
rows or lanes (:class:`Reduce`, :class:`ReduceOp`), and the destination converts (:class:`Dst`).
"""

from enum import Enum, IntEnum
from typing import NamedTuple

from celosia.arch.memory import Mem
from celosia.arch.words import WORD_MASK

__all__ = [
    "BF16_SRCS", "COMMUTATIVE_OPS", "DIV_OPS", "FLOAT_OPS", "FLOAT_POSTS", "FLOAT_REDUCES",
    "INDEXED_OPS", "INT8_SRCS", "LANE_BITS_LSB", "LANE_ROW_SRCS", "LANE_SRCS", "MEMORY_SRCS",
    "MOVEMENT_OPS", "NEUTRAL", "OPERATIONS", "PARAM_POSTS", "ROW_SRCS", "SOURCES", "STREAM_SRCS",
    "TABLE_LIMIT", "TARGETS", "VECTOR_OPERANDS", "Dst", "Post", "Reduce", "ReduceOp",
    "SourceRows", "SourceSet", "Src", "VectorOp", "VectorRecord", "VectorSource", "VectorTarget",
    "operand_names",
]


class VectorOp(IntEnum):
    """First stage. 0..31 integer, bits and movement, 32..63 floating point.

    A comparison gives a mask: all ones where it holds, else 0.
    """

    MOV = 0
    IADD = 1
    ISUB = 2
    IMUL = 3
    IMAX = 4
    IMIN = 5
    REQUANT = 6
    AND = 8
    OR = 9
    XOR = 10
    NOT = 11
    SHL = 12
    SHR = 13
    SAR = 14
    SELECT = 15
    IEQ = 16
    INE = 17
    ILT = 18
    ILE = 19
    IGT = 20
    IGE = 21
    TRANSPOSE = 24
    ROTATE = 25
    GATHER = 26
    SCATTER = 27
    FADD = 32
    FSUB = 33
    FMUL = 34
    FFMA = 35
    FMAX = 36
    FMIN = 37
    FABS = 38
    FNEG = 39
    FEQ = 40
    FNE = 41
    FLT = 42
    FLE = 43
    FGT = 44
    FGE = 45
    ISFINITE = 46
    I2F = 47
    FMULC = 48


class Post(IntEnum):
    """Second stage. 0..2 integer, 3..15 floating point."""

    NONE = 0
    RELU_I = 1
    CLAMP_I = 2
    RELU_F = 3
    CLAMP_F = 4
    SQUARE = 5
    EXP2 = 6
    LOG2 = 7
    RECIP = 8
    RSQRT = 9
    F2I = 10
    F2I_FLOOR = 11
    F2I_TRUNC = 12
    SQRT = 13
    DIV = 14


class Reduce(IntEnum):
    """What is reduced. Groups are the n0 rows of the innermost dimension.

    ``ROWS``: the rows of a group become one row, lane by lane. ``LANES``: the lanes of a row become
    one word, which every lane of the row gets. ``COLLECT``: likewise, but the word of row i0 of a
    group goes to lane i0 of the one row that the group becomes.
    """

    NONE = 0
    ROWS = 1
    LANES = 2
    COLLECT = 3


class ReduceOp(IntEnum):
    """How two words are joined; 0..4 integer and bits, 5..7 floating point."""

    SUM_I = 0
    MAX_I = 1
    MIN_I = 2
    AND = 3
    OR = 4
    SUM_F = 5
    MAX_F = 6
    MIN_F = 7


class Src(IntEnum):
    """Where a vector operand comes from.

    ``*_row`` is one row used for every row of the stream. ``*_lane`` is a stream of rows of which
    one lane is used for every lane; ``*_lane_row`` is one lane of one row. The operand word of a
    kind with a lane holds the row in bits 0..23 and the lane in bits 24..31. ``lane_index`` is the
    operand word plus the number of the lane, ``row_index`` the operand word plus the number of the
    row (0, 1, ... in the order of the stream), both mod 2**32.
    """

    NONE = 0
    ACC = 1
    UB_I8 = 2
    UB_BF16 = 3
    ACC_ROW = 4
    UB_I8_ROW = 5
    UB_BF16_ROW = 6
    SCALAR = 7
    LANE_INDEX = 8
    ACC_LANE = 9
    UB_I8_LANE = 10
    UB_BF16_LANE = 11
    ACC_LANE_ROW = 12
    UB_I8_LANE_ROW = 13
    UB_BF16_LANE_ROW = 14
    ROW_INDEX = 15


class Dst(IntEnum):
    """Where a vector result goes; int8 saturates an int32, bf16 rounds an fp32."""

    ACC = 0
    UB_I8 = 1
    UB_BF16 = 2


class SourceRows(Enum):
    """How many rows of a memory a vector operand reads: none, one, or one for each row."""

    NONE = "none"
    ONCE = "once"
    STREAM = "stream"


class VectorSource(NamedTuple):
    """What a vector operand reads: of which memory, elements of which format (None: words of 32
    bits), how many rows, and whether one lane of a row goes to all lanes.
    """

    mem: Mem | None = None
    fmt: str | None = None
    repeat: SourceRows = SourceRows.NONE
    lane: bool = False


class VectorTarget(NamedTuple):
    """Where a vector result goes, and in which format (None: words of 32 bits)."""

    mem: Mem
    fmt: str | None = None


SOURCES: dict[Src, VectorSource] = {
    Src.NONE: VectorSource(),
    Src.ACC: VectorSource(Mem.ACC, None, SourceRows.STREAM),
    Src.UB_I8: VectorSource(Mem.UB, "int8", SourceRows.STREAM),
    Src.UB_BF16: VectorSource(Mem.UB, "bf16", SourceRows.STREAM),
    Src.ACC_ROW: VectorSource(Mem.ACC, None, SourceRows.ONCE),
    Src.UB_I8_ROW: VectorSource(Mem.UB, "int8", SourceRows.ONCE),
    Src.UB_BF16_ROW: VectorSource(Mem.UB, "bf16", SourceRows.ONCE),
    Src.SCALAR: VectorSource(),
    Src.LANE_INDEX: VectorSource(),
    Src.ACC_LANE: VectorSource(Mem.ACC, None, SourceRows.STREAM, lane=True),
    Src.UB_I8_LANE: VectorSource(Mem.UB, "int8", SourceRows.STREAM, lane=True),
    Src.UB_BF16_LANE: VectorSource(Mem.UB, "bf16", SourceRows.STREAM, lane=True),
    Src.ACC_LANE_ROW: VectorSource(Mem.ACC, None, SourceRows.ONCE, lane=True),
    Src.UB_I8_LANE_ROW: VectorSource(Mem.UB, "int8", SourceRows.ONCE, lane=True),
    Src.UB_BF16_LANE_ROW: VectorSource(Mem.UB, "bf16", SourceRows.ONCE, lane=True),
    Src.ROW_INDEX: VectorSource(),
}
TARGETS: dict[Dst, VectorTarget] = {
    Dst.ACC: VectorTarget(Mem.ACC), Dst.UB_I8: VectorTarget(Mem.UB, "int8"),
    Dst.UB_BF16: VectorTarget(Mem.UB, "bf16"),
}


def _sources(*repeats: SourceRows, lane: bool | None = None) -> frozenset[Src]:
    return frozenset(src for src, each in SOURCES.items() if each.repeat in repeats
                     and lane in (None, each.lane))


#: First bit of the lane in the operand word of a kind with a lane.
LANE_BITS_LSB = 24
#: Sources that read one lane of a row.
LANE_SRCS = _sources(SourceRows.STREAM, lane=True)
LANE_ROW_SRCS = _sources(SourceRows.ONCE, lane=True)
#: Sources that read a row for each row of the walk.
STREAM_SRCS = _sources(SourceRows.STREAM)
#: Sources that read one row.
ROW_SRCS = _sources(SourceRows.ONCE)
#: Sources that read a memory.
MEMORY_SRCS = STREAM_SRCS | ROW_SRCS
#: Sources that read int8, and those that read bf16.
INT8_SRCS = frozenset(src for src, each in SOURCES.items() if each.fmt == "int8")
BF16_SRCS = frozenset(src for src, each in SOURCES.items() if each.fmt == "bf16")

#: Rows of the table of a gather or a scatter are at most this many.
TABLE_LIMIT = (1 << 16) - 1


class SourceSet(NamedTuple):
    """Sources that an operand may be, and what they are called."""

    sources: frozenset[Src]
    text: str


_WHOLE_ROWS = SourceSet(STREAM_SRCS - LANE_SRCS, "a stream of whole rows")
_A_SCALAR = SourceSet(frozenset({Src.SCALAR}), "a scalar")
_INDEX_ROWS = SourceSet(frozenset({Src.ACC}), "rows of indexes in the accumulators")


class VectorRecord(NamedTuple):
    """What there is to know of an operation; its value is `celosia.model`'s.

    Parameters
    ----------
    operands
        How many of a, b, c it takes; the others must be ``none``.
    means
        Its value in words.
    commutes
        Its first two operands may change places.
    moves
        It moves words and carries them unchanged.
    indexed
        Its rows come from, or go to, places that rows of indexes name.
    takes_param
        It uses ``param``.
    final
        No second stage follows.
    a, b
        What these may be, where not everything will do.
    """

    operands: int
    means: str
    commutes: bool = False
    moves: bool = False
    indexed: bool = False
    takes_param: bool = False
    final: bool = False
    a: SourceSet | None = None
    b: SourceSet | None = None


OPERATIONS: dict[VectorOp, VectorRecord] = {
    VectorOp.MOV: VectorRecord(1, "a"),
    VectorOp.IADD: VectorRecord(2, "a + b mod 2**32", commutes=True),
    VectorOp.ISUB: VectorRecord(2, "a - b mod 2**32"),
    VectorOp.IMUL: VectorRecord(2, "a * b mod 2**32", commutes=True),
    VectorOp.IMAX: VectorRecord(2, "the larger of a and b, signed", commutes=True),
    VectorOp.IMIN: VectorRecord(2, "the smaller of a and b, signed", commutes=True),
    VectorOp.REQUANT: VectorRecord(
        3,
        "t = a + c mod 2**32; r = (t * m + half) >> s in 64 bits with m = bits 0..15 of"
        " b, s = bits 16..21 of b, half = 2**(s-1), or 0 where s is 0; min(max(r + zp, "
        "lo), hi)", takes_param=True, final=True),
    VectorOp.AND: VectorRecord(2, "a & b", commutes=True),
    VectorOp.OR: VectorRecord(2, "a | b", commutes=True),
    VectorOp.XOR: VectorRecord(2, "a ^ b", commutes=True),
    VectorOp.NOT: VectorRecord(1, "~a"),
    VectorOp.SHL: VectorRecord(2, "a << (b & 31) mod 2**32"),
    VectorOp.SHR: VectorRecord(2, "a >> (b & 31), zeros in"),
    VectorOp.SAR: VectorRecord(2, "a >> (b & 31), signs in"),
    VectorOp.SELECT: VectorRecord(3, "b where any bit of a is set, else c"),
    VectorOp.IEQ: VectorRecord(2, "mask of a == b"),
    VectorOp.INE: VectorRecord(2, "mask of a != b"),
    VectorOp.ILT: VectorRecord(2, "mask of a < b, signed"),
    VectorOp.ILE: VectorRecord(2, "mask of a <= b, signed"),
    VectorOp.IGT: VectorRecord(2, "mask of a > b, signed"),
    VectorOp.IGE: VectorRecord(2, "mask of a >= b, signed"),
    VectorOp.TRANSPOSE: VectorRecord(
        1,
        "a, in groups of D rows of the walk: lane i of row j of a group is lane j of "
        "its row i; n0 must be a multiple of D", moves=True, a=_WHOLE_ROWS),
    VectorOp.ROTATE: VectorRecord(
        2, "lane j is lane (j + b) mod D of a", moves=True, a=_WHOLE_ROWS, b=_A_SCALAR),
    VectorOp.GATHER: VectorRecord(
        2,
        "row a + k of a table of `param` consecutive rows from a on; for row i0 of a "
        "group of n0 <= D rows k is lane i0 of the group's row of b, unsigned; b walks "
        "n1 and n2 alone",
        moves=True, indexed=True, takes_param=True, a=_WHOLE_ROWS, b=_INDEX_ROWS),
    VectorOp.SCATTER: VectorRecord(
        2,
        "a, which goes to row dst + k of a table of `param` consecutive rows; k from b "
        "as in gather; of two rows to one place the later stays",
        moves=True, indexed=True, takes_param=True, a=_WHOLE_ROWS, b=_INDEX_ROWS),
    VectorOp.FADD: VectorRecord(2, "a + b", commutes=True),
    VectorOp.FSUB: VectorRecord(2, "a - b"),
    VectorOp.FMUL: VectorRecord(2, "a * b", commutes=True),
    VectorOp.FFMA: VectorRecord(3, "a * b + c, rounded once", commutes=True),
    VectorOp.FMAX: VectorRecord(
        2, "the larger of a and b; NaN if either is; -0 is below +0", commutes=True),
    VectorOp.FMIN: VectorRecord(
        2, "the smaller of a and b; NaN if either is; -0 is below +0", commutes=True),
    VectorOp.FABS: VectorRecord(1, "a with bit 31 cleared, all else as it is"),
    VectorOp.FNEG: VectorRecord(1, "a with bit 31 flipped, all else as it is"),
    VectorOp.FEQ: VectorRecord(2, "mask of a == b; -0 equals +0"),
    VectorOp.FNE: VectorRecord(2, "mask of a != b; set where either is NaN"),
    VectorOp.FLT: VectorRecord(2, "mask of a < b"),
    VectorOp.FLE: VectorRecord(2, "mask of a <= b"),
    VectorOp.FGT: VectorRecord(2, "mask of a > b"),
    VectorOp.FGE: VectorRecord(2, "mask of a >= b"),
    VectorOp.ISFINITE: VectorRecord(1, "mask of a that is neither infinite nor NaN"),
    VectorOp.I2F: VectorRecord(1, "int32 a as fp32, nearest even"),
    VectorOp.FMULC: VectorRecord(2, "a * (1 - b), rounded once"),
}
#: Operands (a, b, c) that each operation takes; the others must be ``none``.
VECTOR_OPERANDS: dict[VectorOp, int] = {op: each.operands for op, each in OPERATIONS.items()}
#: Operations whose rows come from, or go to, places that an index row names.
INDEXED_OPS = frozenset(op for op, each in OPERATIONS.items() if each.indexed)
#: Operations that move words and carry them unchanged.
MOVEMENT_OPS = frozenset(op for op, each in OPERATIONS.items() if each.moves)
#: Operations whose first two operands may change places.
COMMUTATIVE_OPS = frozenset(op for op, each in OPERATIONS.items() if each.commutes)
#: Operations that `Post.DIV` may follow: they leave c alone, which is its numerator.
DIV_OPS = frozenset(op for op, each in OPERATIONS.items() if each.operands < 3) - MOVEMENT_OPS

#: Operations, second stages and reductions that need a chip with bf16.
FLOAT_OPS = frozenset(op for op in VectorOp if op >= VectorOp.FADD)
FLOAT_POSTS = frozenset(post for post in Post if post >= Post.RELU_F)
FLOAT_REDUCES = frozenset(op for op in ReduceOp if op >= ReduceOp.SUM_F)
#: The word that, joined with another, gives that one: -0 for sums of fp32.
NEUTRAL = {ReduceOp.SUM_I: 0, ReduceOp.MAX_I: 0x80000000, ReduceOp.MIN_I: 0x7FFFFFFF,
           ReduceOp.AND: WORD_MASK, ReduceOp.OR: 0, ReduceOp.SUM_F: 0x80000000,
           ReduceOp.MAX_F: 0xFF800000, ReduceOp.MIN_F: 0x7F800000}
#: Second stages that use ``param``.
PARAM_POSTS = frozenset({Post.CLAMP_I, Post.CLAMP_F})


def operand_names(op: VectorOp, post: Post = Post.NONE) -> str:
    """Return which of a, b, c an instruction takes; the others must be ``none``."""
    return "abc"[:VECTOR_OPERANDS[op]] + ("c" if post == Post.DIV else "")
