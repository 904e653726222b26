"""The operations of the vector unit, as data: the enumerations of the ``vector`` instruction.

A row goes through four steps: the first stage makes a word of each lane of the operands a, b, c
(:class:`VectorOp`), the second stage changes that word (:class:`Post`), a reduction may join
rows or lanes (:class:`Reduce`, :class:`ReduceOp`), and the destination converts (:class:`Dst`).
"""

from enum import IntEnum

__all__ = [
    "COMMUTATIVE_OPS", "DIV_OPS", "FLOAT_OPS", "FLOAT_POSTS", "FLOAT_REDUCES", "INDEXED_OPS",
    "LANE_BITS_LSB",
    "LANE_ROW_SRCS", "LANE_SRCS", "MEMORY_SRCS", "MOVEMENT_OPS", "NEUTRAL", "PARAM_POSTS",
    "ROW_SRCS", "STREAM_SRCS", "TABLE_LIMIT", "VECTOR_OPERANDS", "Dst", "Post", "Reduce",
    "ReduceOp", "Src", "VectorOp", "operand_names",
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


#: First bit of the lane in the operand word of a kind with a lane.
LANE_BITS_LSB = 24
#: Sources that read one lane of a row.
LANE_SRCS = frozenset({Src.ACC_LANE, Src.UB_I8_LANE, Src.UB_BF16_LANE})
LANE_ROW_SRCS = frozenset({Src.ACC_LANE_ROW, Src.UB_I8_LANE_ROW, Src.UB_BF16_LANE_ROW})
#: Sources that read a row for each row of the walk.
STREAM_SRCS = frozenset({Src.ACC, Src.UB_I8, Src.UB_BF16}) | LANE_SRCS
#: Sources that read one row.
ROW_SRCS = frozenset({Src.ACC_ROW, Src.UB_I8_ROW, Src.UB_BF16_ROW}) | LANE_ROW_SRCS
#: Sources that read a memory.
MEMORY_SRCS = STREAM_SRCS | ROW_SRCS

#: Operations whose rows come from, or go to, places that an index row names.
INDEXED_OPS = frozenset({VectorOp.GATHER, VectorOp.SCATTER})
#: Operations that move words and carry them unchanged.
MOVEMENT_OPS = frozenset({VectorOp.TRANSPOSE, VectorOp.ROTATE}) | INDEXED_OPS
#: Rows of the table of a gather or a scatter are at most this many.
TABLE_LIMIT = (1 << 16) - 1

_UNARY = (VectorOp.MOV, VectorOp.NOT, VectorOp.I2F, VectorOp.FABS, VectorOp.FNEG,
          VectorOp.ISFINITE, VectorOp.TRANSPOSE)
_TERNARY = (VectorOp.REQUANT, VectorOp.FFMA, VectorOp.SELECT)
#: Operands (a, b, c) that each operation takes; the others must be ``none``.
VECTOR_OPERANDS: dict[VectorOp, int] = {
    op: 1 if op in _UNARY else 3 if op in _TERNARY else 2 for op in VectorOp}
#: Operations that `Post.DIV` may follow: they leave c alone, which is its numerator.
DIV_OPS = frozenset(op for op in VectorOp if VECTOR_OPERANDS[op] < 3) - MOVEMENT_OPS

#: Operations whose first two operands may change places.
COMMUTATIVE_OPS = frozenset({
    VectorOp.FADD, VectorOp.FMUL, VectorOp.FFMA, VectorOp.FMAX, VectorOp.FMIN, VectorOp.IADD,
    VectorOp.IMUL, VectorOp.IMAX, VectorOp.IMIN, VectorOp.AND, VectorOp.OR, VectorOp.XOR})

#: Operations, second stages and reductions that need a chip with bf16.
FLOAT_OPS = frozenset(op for op in VectorOp if op >= VectorOp.FADD)
FLOAT_POSTS = frozenset(post for post in Post if post >= Post.RELU_F)
FLOAT_REDUCES = frozenset(op for op in ReduceOp if op >= ReduceOp.SUM_F)
#: The word that, joined with another, gives that one: -0 for sums of fp32.
NEUTRAL = {ReduceOp.SUM_I: 0, ReduceOp.MAX_I: 0x80000000, ReduceOp.MIN_I: 0x7FFFFFFF,
           ReduceOp.AND: 0xFFFFFFFF, ReduceOp.OR: 0, ReduceOp.SUM_F: 0x80000000,
           ReduceOp.MAX_F: 0xFF800000, ReduceOp.MIN_F: 0x7F800000}
#: Second stages that use ``param``.
PARAM_POSTS = frozenset({Post.CLAMP_I, Post.CLAMP_F})


def operand_names(op: VectorOp, post: Post = Post.NONE) -> str:
    """Return which of a, b, c an instruction takes; the others must be ``none``."""
    return "abc"[:VECTOR_OPERANDS[op]] + ("c" if post == Post.DIV else "")
