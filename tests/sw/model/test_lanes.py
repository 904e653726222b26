"""Every operation, second stage and join on words that are hard, against exact arithmetic."""

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest

import exactlanes as xl
from celosia.arch.vector import (
    COMMUTATIVE_OPS,
    MOVEMENT_OPS,
    VECTOR_OPERANDS,
    Post,
    ReduceOp,
    VectorOp,
)
from celosia.model.fast.lanes import FAST
from celosia.model.lanes import PLAIN, Lanes

#: fp32: both zeros, subnormals, the ends of the range, infinities, NaNs, ones, halves, the ends of
#: int32; integers: small ones, the ends of int8, int16 and int32.
WORDS = [0x00000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x00FFFFFF, 0x3F000000, 0x3F7FFFFF,
         0x3F800000, 0x3F800001, 0x3FC00000, 0x40200000, 0x4B000001, 0x4EFFFFFF, 0x4F000000,
         0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF,
         0x00000002, 0x0000001F, 0x00000020, 0x0000007F, 0x00000080, 0x00007FFF, 0x00008000]
WORDS += [word | 0x80000000 for word in WORDS[:19]] + [-word & xl.WORD for word in WORDS[19:]]
PARAMS = (0, 0x007F8000, 0x00FF8005, 0x3F80BF80, 0x7FFF8000, 0x80007FFF, 0x7FC00000, 0xFFFFFFFF)


def compare(got: np.ndarray, exact: Callable, *columns: list[int]) -> None:
    for i, words in enumerate(zip(*columns, strict=True)):
        assert int(got[i]) == exact(*words) & xl.WORD, [hex(word) for word in words]


def arrays(columns: list[list[int]]) -> list[np.ndarray]:
    return [np.array(column, np.uint32) for column in columns]


def triples() -> list[list[int]]:
    rng = random.Random(3)
    rows = [tuple(rng.choice(WORDS) for _ in range(3)) for _ in range(1500)]
    rows += [tuple(rng.getrandbits(32) for _ in range(3)) for _ in range(500)]
    return [list(column) for column in zip(*rows, strict=True)]


@pytest.fixture(params=[PLAIN, FAST], ids=["plain", "fast"])
def lanes(request: pytest.FixtureRequest) -> Lanes:
    return request.param


@pytest.mark.parametrize("op", VectorOp, ids=lambda op: op.name.lower())
def test_operation(lanes, op):
    taken = 1 if op in MOVEMENT_OPS else VECTOR_OPERANDS[op]
    columns = [WORDS] if taken == 1 else triples() if taken == 3 else [
        list(column) for column in zip(*itertools.product(WORDS, WORDS), strict=True)]
    for param in PARAMS if op == VectorOp.REQUANT else (0,):
        got = lanes.first(op, arrays(columns), param)
        compare(got, lambda *words, p=param: xl.first(op, list(words), p), *columns)


@pytest.mark.parametrize("post", Post, ids=lambda post: post.name.lower())
def test_second_stage(lanes, post):
    rng = random.Random(4)
    columns = [WORDS + [rng.getrandbits(32) for _ in range(500)]]
    if post == Post.DIV:
        columns = [list(column) for column in zip(*itertools.product(WORDS, WORDS), strict=True)]
    for param in PARAMS if post in (Post.CLAMP_I, Post.CLAMP_F) else (0,):
        word, *numerator = arrays(columns)
        got = lanes.second(post, word, param, *numerator)
        compare(got, lambda t, *c, p=param: xl.second(post, t, p, *c), *columns)


@pytest.mark.parametrize("op", [VectorOp.MOV, VectorOp.FADD], ids=lambda op: op.name.lower())
def test_both_stages_with_a_numerator(lanes, op):
    columns = triples()[:VECTOR_OPERANDS[op] + 1]
    got = lanes.compute(op, Post.DIV, arrays(columns), 0)
    compare(got, lambda *words: xl.second(Post.DIV, xl.first(op, list(words[:-1]), 0), 0,
                                          words[-1]), *columns)


@pytest.mark.parametrize("op", ReduceOp, ids=lambda op: op.name.lower())
def test_join(lanes, op):
    columns = [list(column) for column in zip(*itertools.product(WORDS, WORDS), strict=True)]
    pairs = np.stack(arrays(columns), axis=1)
    compare(lanes.join_rows(op, pairs[..., np.newaxis])[:, 0], xl.JOINS[op], *columns)
    compare(lanes.join_lanes(op, pairs), xl.JOINS[op], *columns)


@pytest.mark.parametrize("op", sorted(COMMUTATIVE_OPS), ids=lambda op: op.name)
def test_operands_of_commutative_operations_may_change_places(op):
    a, b, c = arrays(triples())
    rest = [c] if VECTOR_OPERANDS[op] == 3 else []
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(PLAIN.first(op, [b, a, *rest], 0),
                                      PLAIN.first(op, [a, b, *rest], 0))
