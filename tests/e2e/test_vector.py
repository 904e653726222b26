"""Every operation of the vector unit on the RTL, bit for bit what the golden model's lanes make.

Operands of 16 bits are tried out exhaustively; of 32 bits, the slow tier takes a million words for
each operation, directed and random, the others every pair of corners.
"""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from celosia import driver
from celosia.arch import numerics
from celosia.arch.config import preset
from celosia.arch.vector import (
    MOVEMENT_OPS,
    PARAM_POSTS,
    VECTOR_OPERANDS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    VectorOp,
    operand_names,
)
from celosia.model.lanes import JOINS, PLAIN
from celosia.program.asm import assemble
from e2e.vector_words import CORNERS, U32, integers, pairs, singles, triples

CORE = preset("core")
DIM = CORE.dim
#: Rows of half a round of a program's loop, and rows that share a row of c.
HALF, EACH = 256, 16
#: Rows of a million words, and of all pairs of corners and more.
MILLION = pytest.param(65536, marks=pytest.mark.slow, id="million")
SOME = pytest.param((len(CORNERS)**2 // DIM // (2 * HALF) + 1) * 2 * HALF, id="corners")
#: Likewise where both words of a pair are in one operand.
TWICE = pytest.param((2 * len(CORNERS)**2 // DIM // (2 * HALF) + 1) * 2 * HALF, id="corners")
COMPUTING = [op for op in VectorOp if op not in MOVEMENT_OPS]
PARAMS = {Post.NONE: 0, Post.CLAMP_I: 0x12348765, Post.CLAMP_F: 0x7F00C2F0}
REQUANT = 0x007F8005


@pytest.fixture(scope="module")
def device():
    with driver.open("rtl", CORE.name, quiet=True) as device:
        yield device


def named(member) -> str:
    return member.name.lower()


def streamed(rows: int, streams: int, instructions: Callable[[int], list[str]], out: int = 1,
             shared: bool = False, fmt: str = "w32") -> str:
    """Return a program that loads operands, computes and stores, HALF rows at a time.

    Parameters
    ----------
    rows
        Rows of each operand, a multiple of 2 * HALF.
    streams
        Operands a, b; c has a row for EACH of theirs where ``shared``.
    instructions
        From the first accumulator row of a half (operands HALF apart, the result behind the third)
        to what computes it.
    out
        Rows of the operands for each row of the result.
    """
    names = "ab"[:streams]
    size = {"w32": 4, "bf16": 2, "i8": 1}[fmt]
    results = rows // out
    text = [f".buffer {name}, int32[{rows}, {DIM}], input" for name in names]
    text += [f".buffer c, int32[{rows // EACH}, {DIM}], input"] * shared
    text += [f".buffer y, int8[{results}, {DIM * size}], output"]
    text += [f"mov r{i}, @{name}" for i, name in enumerate([*names, "c"][:streams + shared], 1)]
    text += ["mov r4, @y", f"loop {rows // (2 * HALF)}, done"]
    for base in (0, 4 * HALF):
        for i in range(streams):
            text += [(f"load acc[{base + i * HALF}], r{i + 1}, fmt=w32, rows={HALF}, cols={DIM}, "
                     f"pitch={4 * DIM}"), f"add r{i + 1}, r{i + 1}, {HALF * 4 * DIM}"]
        if shared:
            few = HALF // EACH
            text += [(f"load acc[{base + streams * HALF}], r{streams + 1}, fmt=w32, rows={few}, "
                     f"cols={DIM}, pitch={4 * DIM}"),
                     f"add r{streams + 1}, r{streams + 1}, {few * 4 * DIM}"]
        text += instructions(base)
        memory = f"acc[{base + 3 * HALF}]" if fmt == "w32" else f"ub[{base}]"
        text += [(f"store {memory}, r4, fmt={fmt}, rows={HALF // out}, cols={DIM}, "
                 f"pitch={DIM * size}"), f"add r4, r4, {HALF // out * DIM * size}"]
    return "\n".join([*text, "done: halt"])


def run(device: driver.Device, text: str, operands: dict[str, U32], kind: type = np.uint32
        ) -> NDArray:
    """Run a program; return y in rows of DIM."""
    inputs = {name: words.reshape(-1, DIM).view(np.int32) for name, words in operands.items()}
    return device.run(assemble(text, CORE), inputs)["y"].view(kind).reshape(-1, DIM)


def compare(got: NDArray, wanted: NDArray, **operands: U32) -> None:
    wrong = np.argwhere(got != wanted)
    if len(wrong):
        at = tuple(wrong[0])
        shown = {name: f"{int(words[at]):#010x}" for name, words in operands.items()}
        raise AssertionError(f"{len(wrong)} of {got.size} words differ; of {shown} the chip must "
                             f"make {int(wanted[at]):#010x}, not {int(got[at]):#010x}")


def operation(op: VectorOp, base: int, post: Post = Post.NONE, param: int = 0) -> list[str]:
    """Return the instructions for a half: c is a row for EACH rows, b the numerator of div."""
    tail = f"post={named(post)}" + (f", param={param}" if param else "")
    a, b, c, y = (base + i * HALF for i in range(4))
    names = operand_names(op, post)
    if len(names) < 3:
        sources = [f"{'c=' * (name == 'c')}acc[{row}]"
                   for name, row in zip(names, (a, b), strict=False)]
        return [f"vector {named(op)}, acc[{y}], {', '.join(sources)}, {tail}, n0={HALF}"]
    return [f"vector {named(op)}, acc[{y + i * EACH}], acc[{a + i * EACH}], acc[{b + i * EACH}], "
            f"acc_row[{c + i}], {tail}, n0={EACH}" for i in range(HALF // EACH)]


@pytest.mark.parametrize("rows", [SOME, MILLION])
@pytest.mark.parametrize("op", COMPUTING, ids=named)
def test_operation(device, op, rows):
    rng = np.random.default_rng([op, rows])
    taken = VECTOR_OPERANDS[op]
    param = REQUANT if op == VectorOp.REQUANT else 0
    shared = {}
    if taken == 1:
        operands = {"a": singles(rng, rows * DIM)}
    elif taken == 2:
        operands = dict(zip("ab", pairs(rng, rows * DIM), strict=True))
    else:
        a, b, c = triples(rng, rows, DIM, EACH)
        if op == VectorOp.SELECT:  # masks, and words that are almost none
            a = np.where(rng.random(a.shape) < 0.5, a, rng.choice(
                np.array([0, 0xFFFFFFFF, 1, 0x80000000], np.uint32), a.shape))
        elif op == VectorOp.REQUANT:
            a, c = integers(rng, a.size), integers(rng, c.size).reshape(c.shape)
        operands, shared = {"a": a, "b": b}, {"c": c}
    text = streamed(rows, min(taken, 2), lambda base: operation(op, base, param=param),
                    shared=bool(shared))
    operands = {name: words.reshape(-1, DIM) for name, words in operands.items()}
    got = run(device, text, operands | shared)
    wide = {name: np.repeat(words, EACH, axis=0) for name, words in shared.items()}
    compare(got, PLAIN.first(op, [*operands.values(), *wide.values()], param), **operands, **wide)


@pytest.mark.parametrize("rows", [SOME, MILLION])
@pytest.mark.parametrize("post", [post for post in Post if post != Post.NONE], ids=named)
def test_second_stage(device, post, rows):
    rng, param = np.random.default_rng([post, rows]), PARAMS.get(post, 0)
    words = pairs(rng, rows * DIM) if post == Post.DIV else [singles(rng, rows * DIM)]
    operands = {name: word.reshape(-1, DIM) for name, word in zip("ab", words, strict=False)}
    got = run(device, streamed(rows, len(operands),
                               lambda base: operation(VectorOp.MOV, base, post, param)), operands)
    a, *numerator = operands.values()
    compare(got, PLAIN.second(post, a, param, *numerator), **operands)


def reduction(reduce: Reduce, op: ReduceOp, base: int) -> list[str]:
    return [(f"vector mov, acc[{base + 3 * HALF}], acc[{base}], reduce={named(reduce)}, "
            f"reduce_op={named(op)}, n0=4, n1={HALF // 4}")]


@pytest.mark.parametrize("rows", [TWICE, MILLION])
@pytest.mark.parametrize("reduce", [Reduce.ROWS, Reduce.LANES, Reduce.COLLECT], ids=named)
@pytest.mark.parametrize("op", ReduceOp, ids=named)
def test_reduction(device, op, reduce, rows):
    rng = np.random.default_rng([op, reduce, rows])
    # Neighbours, in a row and in a lane, are the hard pairs.
    pair = np.stack(pairs(rng, rows * DIM // 2), axis=-1)
    a = pair.reshape(-1, DIM) if reduce != Reduce.ROWS else (
        pair.reshape(-1, DIM, 2).transpose(0, 2, 1).reshape(-1, DIM))
    got = run(device, streamed(rows, 1, lambda base: reduction(reduce, op, base),
                               1 if reduce == Reduce.LANES else 4), {"a": a.copy()})
    join = JOINS[op]
    if reduce == Reduce.ROWS:
        groups = a.reshape(-1, 4, DIM)
        wanted = groups[:, 0]
        for i in range(1, 4):
            wanted = join(wanted, groups[:, i])
    else:
        words = numerics.lane_tree(join, a)
        wanted = np.repeat(words, DIM).reshape(-1, DIM) if reduce == Reduce.LANES else (
            np.pad(words.reshape(-1, 4), ((0, 0), (0, DIM - 4))))
    compare(got, wanted)


@pytest.mark.parametrize("rows", [SOME, MILLION])
@pytest.mark.parametrize(("dst", "fmt"), [(Dst.UB_I8, "i8"), (Dst.UB_BF16, "bf16")])
def test_destination(device, dst, fmt, rows):
    a = singles(np.random.default_rng([dst, rows]), rows * DIM).reshape(-1, DIM)

    def instructions(base: int) -> list[str]:
        return [f"vector mov, {named(dst)}[{base}], acc[{base}], n0={HALF}"]

    got = run(device, streamed(rows, 1, instructions, fmt=fmt), {"a": a},
              np.int8 if fmt == "i8" else np.uint16)
    wanted = (numerics.saturate_i8(a.view(np.int32)) if dst == Dst.UB_I8
              else numerics.f32_to_bf16(a))
    compare(got, wanted, a=a)


#: Every bf16, and every pair of int8.
HALVES = np.arange(1 << 16, dtype=np.uint16).reshape(-1, DIM)


def exhaustive(head: str, pieces: list[str]) -> str:
    """Return a program that computes from the unified buffer, 1,024 rows at a time.

    ``head`` declares and loads buffers; ``pieces``: instructions, where {row} is the first row of
    a piece and {acc} that of its result.
    """
    text = [head, ".buffer y, int32[4096, 16], output"]
    for i in range(4):
        text += [piece.format(row=1024 * i, acc=1024 * (i % 2)) for piece in pieces]
        text += [(f"store acc[{1024 * (i % 2)}], @y + {1024 * i * 64}, fmt=w32, rows=1024, "
                  f"cols=16, pitch=64")]
    return "\n".join([*text, "halt"])


UNARY = [(op, Post.NONE) for op in COMPUTING if VECTOR_OPERANDS[op] == 1] + [
    (VectorOp.MOV, post) for post in Post if post not in (Post.NONE, Post.DIV)]


@pytest.mark.parametrize(("op", "post"), UNARY, ids=named)
def test_every_bf16(device, op, post):
    param = PARAMS[post] if post in PARAM_POSTS else 0
    head = (".buffer x, bfloat16[4096, 16], input\n"
            "load ub[0], @x, fmt=bf16, rows=4096, cols=16, pitch=32")
    text = exhaustive(head, [
        (f"vector {named(op)}, acc[{{acc}}], ub_bf16[{{row}}], post={named(post)}, param={param}, "
        f"n0=1024")])
    got = device.run(assemble(text, CORE), {"x": HALVES.view(ml_dtypes.bfloat16)})["y"]
    a = np.asarray(numerics.bf16_to_f32(HALVES))
    compare(got.view(np.uint32), PLAIN.second(post, PLAIN.first(op, [a], 0), param), a=a)


@pytest.mark.parametrize("op", [op for op in COMPUTING
                                if VECTOR_OPERANDS[op] == 2 and op < VectorOp.FADD], ids=named)
def test_every_pair_of_int8(device, op):
    head = "\n".join(
        f".buffer {name}, int8[4096, 16], input\n"
        f"load ub[{row}], @{name}, fmt=i8, rows=4096, cols=16, pitch=16"
        for name, row in (("p", 0), ("q", 4096)))
    text = exhaustive(head, [
        "add r1, r0, {row}", "add r2, r1, 4096",
        f"vector {named(op)}, acc[{{acc}}], ub_i8[r1], ub_i8[r2], n0=1024"])
    a, b = (half.astype(np.uint8).view(np.int8) for half in (HALVES >> 8, HALVES & 255))
    got = device.run(assemble(text, CORE), {"p": a, "q": b})["y"]
    wide = [x.astype(np.int32).view(np.uint32) for x in (a, b)]
    compare(got.view(np.uint32), PLAIN.first(op, wide, 0), a=wide[0], b=wide[1])
