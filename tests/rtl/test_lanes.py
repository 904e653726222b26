"""The lanes against the numerics, bit for bit: every operation, second stage and reduction."""

import numpy as np
import pytest
from lane_bench import BOTH, DIM, INT8, Instruction, run

from celosia.arch import numerics as nx
from celosia.arch import special
from celosia.arch.vector import (
    DIV_OPS,
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    Dst,
    Post,
    ReduceOp,
    VectorOp,
)
from hw.vpu_bench import BOUNDS, CORNERS

ROWS = 4096
SLOW_ROUNDS = 32


def i32(x):
    return x.view(np.int32)


def s8(x):
    return (x & 255 ^ 128) - 128


def s16(x):
    return (x & 0xFFFF ^ 0x8000) - 0x8000


OPS = {
    VectorOp.IADD: lambda a, b, c, p: a + b,
    VectorOp.ISUB: lambda a, b, c, p: a - b,
    VectorOp.IMUL: lambda a, b, c, p: nx.imul(i32(a), i32(b)),
    VectorOp.IMAX: lambda a, b, c, p: np.maximum(i32(a), i32(b)),
    VectorOp.IMIN: lambda a, b, c, p: np.minimum(i32(a), i32(b)),
    VectorOp.REQUANT: lambda a, b, c, p: nx.requant(i32(a), b, i32(c), s8(p), s8(p >> 8),
                                                    s8(p >> 16)),
    VectorOp.AND: lambda a, b, c, p: a & b,
    VectorOp.OR: lambda a, b, c, p: a | b,
    VectorOp.XOR: lambda a, b, c, p: a ^ b,
    VectorOp.NOT: lambda a, b, c, p: ~a,
    VectorOp.SHL: lambda a, b, c, p: nx.shift_left(a, b),
    VectorOp.SHR: lambda a, b, c, p: nx.shift_right(a, b),
    VectorOp.SAR: lambda a, b, c, p: nx.shift_right_signed(a, b),
    VectorOp.SELECT: lambda a, b, c, p: np.where(a != 0, b, c),
    VectorOp.IEQ: lambda a, b, c, p: nx.mask(i32(a) == i32(b)),
    VectorOp.INE: lambda a, b, c, p: nx.mask(i32(a) != i32(b)),
    VectorOp.ILT: lambda a, b, c, p: nx.mask(i32(a) < i32(b)),
    VectorOp.ILE: lambda a, b, c, p: nx.mask(i32(a) <= i32(b)),
    VectorOp.IGT: lambda a, b, c, p: nx.mask(i32(a) > i32(b)),
    VectorOp.IGE: lambda a, b, c, p: nx.mask(i32(a) >= i32(b)),
    VectorOp.FADD: lambda a, b, c, p: nx.f32_add(a, b),
    VectorOp.FSUB: lambda a, b, c, p: nx.f32_sub(a, b),
    VectorOp.FMUL: lambda a, b, c, p: nx.f32_mul(a, b),
    VectorOp.FFMA: lambda a, b, c, p: nx.f32_fma(a, b, c),
    VectorOp.FMAX: lambda a, b, c, p: nx.f32_max(a, b),
    VectorOp.FMIN: lambda a, b, c, p: nx.f32_min(a, b),
    VectorOp.FABS: lambda a, b, c, p: a & np.uint32(0x7FFFFFFF),
    VectorOp.FNEG: lambda a, b, c, p: a ^ np.uint32(0x80000000),
    VectorOp.FEQ: lambda a, b, c, p: nx.f32_equal(a, b),
    VectorOp.FNE: lambda a, b, c, p: ~nx.f32_equal(a, b),
    VectorOp.FLT: lambda a, b, c, p: nx.f32_less(a, b),
    VectorOp.FLE: lambda a, b, c, p: nx.f32_less_equal(a, b),
    VectorOp.FGT: lambda a, b, c, p: nx.f32_less(b, a),
    VectorOp.FGE: lambda a, b, c, p: nx.f32_less_equal(b, a),
    VectorOp.ISFINITE: lambda a, b, c, p: nx.f32_is_finite(a),
    VectorOp.I2F: lambda a, b, c, p: nx.i32_to_f32(i32(a)),
    VectorOp.FMULC: lambda a, b, c, p: nx.f32_mul_complement(a, b),
    # The words of these are moved elsewhere.
    **{op: lambda a, b, c, p: a for op in (VectorOp.MOV, VectorOp.TRANSPOSE, VectorOp.ROTATE,
                                           *INDEXED_OPS)},
}
POSTS = {
    Post.NONE: lambda t, c, p: t,
    Post.RELU_I: lambda t, c, p: nx.relu_i(i32(t)),
    Post.CLAMP_I: lambda t, c, p: nx.clamp_i(i32(t), s16(p), s16(p >> 16)),
    Post.RELU_F: lambda t, c, p: nx.relu_f(t),
    Post.CLAMP_F: lambda t, c, p: nx.clamp_f(t, p & 0xFFFF, p >> 16),
    Post.SQUARE: lambda t, c, p: nx.f32_square(t),
    Post.EXP2: lambda t, c, p: special.f32_exp2(t),
    Post.LOG2: lambda t, c, p: special.f32_log2(t),
    Post.RECIP: lambda t, c, p: special.f32_recip(t),
    Post.RSQRT: lambda t, c, p: special.f32_rsqrt(t),
    Post.SQRT: lambda t, c, p: special.f32_sqrt(t),
    Post.DIV: lambda t, c, p: special.f32_div(t, c),
    Post.F2I: lambda t, c, p: nx.f32_to_i32(t),
    Post.F2I_FLOOR: lambda t, c, p: nx.f32_to_i32(t, np.floor),
    Post.F2I_TRUNC: lambda t, c, p: nx.f32_to_i32(t, np.trunc),
}
JOINS = {
    ReduceOp.SUM_I: lambda a, b: a + b,
    ReduceOp.MAX_I: lambda a, b: np.maximum(i32(a), i32(b)),
    ReduceOp.MIN_I: lambda a, b: np.minimum(i32(a), i32(b)),
    ReduceOp.AND: lambda a, b: a & b,
    ReduceOp.OR: lambda a, b: a | b,
    ReduceOp.SUM_F: nx.f32_add,
    ReduceOp.MAX_F: nx.f32_max,
    ReduceOp.MIN_F: nx.f32_min,
}
DSTS = {
    Dst.ACC: lambda t: t,
    Dst.UB_I8: lambda t: nx.saturate_i8(i32(t)).astype(np.int32),
    Dst.UB_BF16: lambda t: nx.f32_to_bf16(t).astype(np.uint32),
}


def expected(i: Instruction, a, b, c):
    def u32(x):
        return np.asarray(x).view(np.uint32)

    c = c[:, np.newaxis]
    words = u32(POSTS[Post(i.post)](u32(OPS[VectorOp(i.op)](a, b, c, i.param)), c, i.param)).copy()
    if i.reduce:
        for row in range(len(words)):
            if row % i.group:
                words[row] = u32(JOINS[ReduceOp(i.reduce_op)](words[row - 1], words[row]))
    return u32(DSTS[Dst(i.dst)](words))


def floats(rng, shape, low, high):
    """Of exponents low..high, half of them with few bits set: ties, exact results."""
    bits = rng.integers(0, 1 << 32, shape, np.uint32)
    sparse = rng.choice(np.array([0x7FFFFF, 0x7FF000, 0x700001, 0x7FFFFE, 0x400000, 0], np.uint32),
                        shape)
    exponent = rng.integers(low, high + 1, shape).astype(np.uint32)
    return bits & (sparse | np.uint32(0x80000000)) | exponent << np.uint32(23)


def operands(seed, rows=ROWS):
    """Words a, b (rows x DIM) and c (rows): corners, any bits, floats near each other, integers."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 1 << 32, (2, rows, DIM), np.uint32)
    c = rng.integers(0, 1 << 32, rows, np.uint32)
    eighth = rows // 8
    corner = [rng.choice(np.array(CORNERS, np.uint32), (2, eighth, DIM)), eighth]
    kinds = [corner]
    for low, high in ((118, 160), (95, 136), (0, 3), (250, 255), (60, 68), (186, 194)):
        kinds.append([floats(rng, (2, eighth, DIM), low, high), eighth])
    for index, (words, count) in enumerate(kinds):
        part = slice(index * count, (index + 1) * count)
        a[part], b[part] = words
        c[part] = rng.choice(np.concatenate([words.ravel()[:64], np.array(CORNERS, np.uint32)]),
                             count)
    # Some of b equal to a, or to a but for a sign or the last bit; of c close to -a * b.
    same = rng.random(a.shape) < 0.1
    b = np.where(same, a ^ rng.choice(np.array([0, 1, 0x80000000], np.uint32), a.shape), b)
    near = rng.random(rows) < 0.2
    product = nx.f32_mul(a[:, 0], b[:, 0]) ^ np.uint32(0x80000000)
    c = np.where(near, product ^ rng.integers(0, 4, rows, np.uint32), c)
    return a, b.astype(np.uint32), c.astype(np.uint32)


def check(config, instruction, a, b, c):
    got, wanted = run(config, instruction, a, b, c), expected(instruction, a, b, c)
    if instruction.dst == Dst.UB_I8:  # the other bits go nowhere
        got, wanted = (words & np.uint32((1 << config.lane_bits) - 1) for words in (got, wanted))
    wrong = np.argwhere(got != wanted)
    assert not len(wrong), "\n".join(
        f"{instruction}: {a[k, n]:08x} {b[k, n]:08x} {c[k]:08x}: {got[k, n]:08x}, not "
        f"{wanted[k, n]:08x} ({len(wrong)} differ)" for k, n in wrong[:5])


@pytest.mark.parametrize("op", list(VectorOp), ids=lambda op: op.name)
def test_operation(op):
    check(BOTH, Instruction(op, param=0x7F8005), *operands(int(op)))
    if op not in FLOAT_OPS:
        check(INT8, Instruction(op, param=0x7F8005), *operands(int(op), 256))


@pytest.mark.parametrize("post", list(Post), ids=lambda post: post.name)
def test_second_stage(post):
    for k, param in enumerate([0x7FFF8000, 0x00100003, *BOUNDS]):
        rows = ROWS if not k else 64
        check(BOTH, Instruction(VectorOp.MOV, post, param=param), *operands(int(post) + k, rows))
        if post not in FLOAT_POSTS:
            check(INT8, Instruction(VectorOp.MOV, post, param=param), *operands(k, 64))


@pytest.mark.parametrize("op", sorted(DIV_OPS), ids=lambda op: op.name)
def test_quotient_by_the_first_stage(op):
    check(BOTH, Instruction(op, Post.DIV), *operands(3000 + int(op), 512))


@pytest.mark.parametrize("op", list(ReduceOp), ids=lambda op: op.name)
@pytest.mark.parametrize("group", [1, 2, 7, 64])
def test_reduced_rows(op, group):
    a, b, c = operands(int(op), 512)
    a = np.random.default_rng(group).permutation(a)  # groups of rows of different kinds
    check(BOTH, Instruction(VectorOp.MOV, reduce=1, reduce_op=op, group=group), a, b, c)
    if op not in FLOAT_REDUCES:
        check(INT8, Instruction(VectorOp.MOV, reduce=1, reduce_op=op, group=group), a, b, c)


@pytest.mark.parametrize("dst", list(Dst), ids=lambda dst: dst.name)
def test_everything_in_one_instruction(dst):
    for k, (op, post, join) in enumerate([
            (VectorOp.FSUB, Post.SQUARE, ReduceOp.SUM_F),
            (VectorOp.FFMA, Post.EXP2, ReduceOp.MAX_F), (VectorOp.FADD, Post.DIV, ReduceOp.SUM_F),
            (VectorOp.I2F, Post.RECIP, ReduceOp.MIN_F), (VectorOp.FADD, Post.F2I, ReduceOp.SUM_I),
            (VectorOp.IMUL, Post.RELU_I, ReduceOp.MIN_I)]):
        check(BOTH, Instruction(op, post, dst, 0, 1, join, 5), *operands(k, 1024))


@pytest.mark.slow
@pytest.mark.parametrize("op", sorted(FLOAT_OPS), ids=lambda op: op.name)
def test_floating_point_operation_on_millions(op):
    for seed in range(SLOW_ROUNDS):
        check(BOTH, Instruction(op), *operands(1000 + seed, 2 * ROWS))


@pytest.mark.slow
@pytest.mark.parametrize("post", sorted(FLOAT_POSTS), ids=lambda post: post.name)
def test_second_stage_on_every_significand(post):
    words = np.arange(1 << 23, dtype=np.uint32).reshape(-1, DIM)
    unused = np.zeros(len(words), np.uint32)
    for exponent in (126, 127, 128):
        a = words | np.uint32(exponent << 23)
        check(BOTH, Instruction(VectorOp.MOV, post, param=0x40003F80), a, a, unused)
    for seed in range(SLOW_ROUNDS):
        check(BOTH, Instruction(VectorOp.MOV, post, param=0x40003F80),
              *operands(2000 + seed, 2 * ROWS))
