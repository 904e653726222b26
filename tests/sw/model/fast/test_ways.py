"""What is plain is done the fast way: the exact namesakes are asked only where they must be."""

import dataclasses
import platform

import numpy as np
import pytest

from celosia.arch.commands import Load, Matmul, Store, Vector, VectorOperand
from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import Dst, Post, Src, VectorOp
from celosia.model import Machine, vpu
from celosia.model.fast import numerics, special
from celosia.model.fast.steps import NativeSteps
from celosia.model.fast.vpu import prepare

CHIP = dataclasses.replace(PRESETS["core"], dim=4, lanes=0, ub_rows=64, acc_rows=64)
ONE, TWO, LEAST, TINY, NAN = 0x3F800000, 0x40000000, 0x00800000, 1, 0x7FC00000
#: 2**-103: what is as large has sums that are normal or zero.
COARSE = numerics.COARSE << 23


def words(*values):
    return np.array([values], np.uint32)


def asked(monkeypatch, module, name, *operands, again=None):
    """Whether an operation asks the exact one of its name, or of another."""
    calls, within = [], getattr(module, "numerics" if module is numerics else "special")
    exact = getattr(within, again or name)

    def spy(*given):
        calls.append(given)
        return exact(*given)

    with monkeypatch.context() as patch, np.errstate(all="ignore"):
        patch.setattr(within, again or name, spy)
        getattr(module, name)(*operands)
    return bool(calls)


@pytest.mark.parametrize(("name", "operands", "exactly"), [
    ("f32_add", ([ONE, 0], [TWO, 0]), False), ("f32_add", ([ONE, TINY], [TWO, 0]), True),
    ("f32_add", ([ONE], [NAN]), True), ("f32_add", ([LEAST], [LEAST]), False),
    ("f32_add", ([LEAST + 1], [LEAST | 1 << 31]), True),
    ("f32_add", ([COARSE + 1], [COARSE | 1 << 31]), False),
    ("f32_sub", ([ONE, 0], [TWO, 0]), False), ("f32_sub", ([ONE, 0], [TWO, TINY]), True),
    ("f32_sub", ([NAN], [ONE]), True), ("f32_sub", ([LEAST + 1], [LEAST]), True),
    ("f32_sub", ([COARSE + 1], [COARSE]), False),
    ("f32_mul", ([ONE, TWO], [TWO, 0]), False), ("f32_mul", ([TINY], [ONE]), True),
    ("f32_mul", ([ONE], [TINY]), True), ("f32_mul", ([ONE], [NAN]), True),
    ("f32_mul", ([LEAST], [ONE]), True), ("f32_mul", ([2 * LEAST], [ONE]), False),
    ("f32_mul", ([LEAST], [TWO]), False),
    ("f32_fma", ([ONE], [TWO], [ONE]), False), ("f32_fma", ([TINY], [TWO], [ONE]), True),
    ("f32_fma", ([ONE], [TINY], [ONE]), True), ("f32_fma", ([ONE], [TWO], [TINY]), True),
    ("f32_fma", ([ONE], [NAN], [ONE]), True), ("f32_fma", ([LEAST], [ONE], [0]), True),
    ("f32_fma", ([LEAST], [TWO], [0]), False),
    ("f32_fma", ([0x33800001], [0x3F7FFFFE], [0x3F800001]), True),
    ("f32_equal", ([ONE], [TWO]), False), ("f32_equal", ([TINY], [TWO]), True),
    ("f32_equal", ([ONE], [TINY]), True), ("f32_less", ([ONE], [NAN]), False),
    ("f32_less", ([TINY], [TWO]), True), ("f32_less", ([ONE], [TINY]), True),
    ("f32_less_equal", ([ONE], [0]), False), ("f32_less_equal", ([TINY], [TWO]), True),
    ("f32_less_equal", ([ONE], [TINY]), True),
    ("f32_max", ([ONE], [0]), False), ("f32_max", ([ONE], [NAN]), True),
    ("f32_max", ([TINY], [0]), True), ("f32_min", ([LEAST], [0]), False),
    ("f32_min", ([NAN], [0]), True), ("f32_min", ([0], [TINY]), True),
    ("relu_f", ([ONE],), False), ("relu_f", ([NAN],), True), ("relu_f", ([TINY],), True),
    ("f32_to_bf16", ([ONE],), False), ("f32_to_bf16", ([NAN],), True),
    ("f32_to_bf16", ([TINY],), True),
    ("f32_to_i32", ([0x4EFFFFFF],), False), ("f32_to_i32", ([0x4F000000],), True),
    ("f32_to_i32", ([0xCEFFFFFF],), False), ("f32_to_i32", ([0xCF000000],), True),
    ("f32_to_i32", ([NAN],), True), ("f32_to_i32", ([TINY],), False)])
def test_only_what_is_odd_is_done_exactly(monkeypatch, name, operands, exactly):
    assert asked(monkeypatch, numerics, name, *(words(*each) for each in operands)) == exactly


@pytest.mark.parametrize(("bits", "bounds", "exactly"), [
    (ONE, (0xBF80, 0x3F80), False), (TINY, (0xBF80, 0x3F80), True), (NAN, (0xBF80, 0x3F80), True),
    (ONE, (0x7FC0, 0x3F80), True), (ONE, (0xBF80, 0x0001), True), (ONE, (0, 0), False)])
def test_bounds_are_odd_too(monkeypatch, bits, bounds, exactly):
    assert asked(monkeypatch, numerics, "clamp_f", words(bits), *bounds) == exactly


def test_the_floor_of_what_is_tiny_is_exact(monkeypatch):
    for bits, exactly in ((TINY, True), (ONE, False), (0, False)):
        assert asked(monkeypatch, numerics, "f32_to_i32", words(bits), np.floor) == exactly


@pytest.mark.parametrize(("terms", "exactly"), [
    ([ONE, TWO, ONE], False), ([ONE, 0, ONE], False), ([ONE, TINY, ONE], True),
    ([LEAST + 1, LEAST | 1 << 31, ONE], True), ([ONE, NAN, ONE], True)])
def test_terms_are_added_at_once(monkeypatch, terms, exactly):
    groups = np.array(terms, np.uint32)[np.newaxis, :, np.newaxis]
    assert asked(monkeypatch, numerics, "f32_sum", groups, again="f32_add") == exactly


@pytest.mark.parametrize(("name", "operands", "exactly"), [
    ("f32_recip", (LEAST,), False), ("f32_recip", (252 << 23,), False),
    ("f32_recip", (253 << 23,), True), ("f32_recip", (TINY,), True),
    ("f32_recip", (ONE | 1 << 31,), False),
    ("f32_rsqrt", (LEAST,), False), ("f32_rsqrt", (252 << 23,), False),
    ("f32_rsqrt", (253 << 23,), True), ("f32_rsqrt", (ONE | 1 << 31,), True),
    ("f32_rsqrt", (0,), True), ("f32_sqrt", (LEAST,), False), ("f32_sqrt", (252 << 23,), False),
    ("f32_sqrt", (253 << 23,), True), ("f32_sqrt", (0,), True),
    ("f32_div", (ONE, TWO), False), ("f32_div", (LEAST, LEAST), False),
    ("f32_div", (254 << 23, 254 << 23), False), ("f32_div", (255 << 23, ONE), True),
    ("f32_div", (ONE, 255 << 23), True), ("f32_div", (ONE, 0), True), ("f32_div", (0, ONE), True),
    ("f32_div", (1 << 23, 126 << 23), False), ("f32_div", (1 << 23, 127 << 23), True),
    ("f32_div", (126 << 23, 1 << 23), False), ("f32_div", (127 << 23, 1 << 23), True)])
def test_quotients_and_roots_of_plain_numbers_are_done_fast(monkeypatch, name, operands, exactly):
    assert asked(monkeypatch, special, name, *(words(each) for each in operands)) == exactly


def rows(first, count=4):
    return VectorOperand(Src.ACC, first, Stream.linear(first, (count, 1, 1)))


def scalar(word):
    return VectorOperand(Src.SCALAR, word, None)


def vector(op, *sources, post=Post.NONE, kind=Dst.ACC):
    return Vector(op, post, kind, Stream.linear(32, (4, 1, 1)), sources, 0, (4, 1, 1))


@pytest.mark.parametrize(("command", "function"), [
    (vector(VectorOp.IADD, rows(0), rows(8)), np.add),
    (vector(VectorOp.ISUB, rows(0), scalar(3)), np.subtract),
    (vector(VectorOp.AND, rows(0), rows(8)), np.bitwise_and),
    (vector(VectorOp.OR, rows(0), rows(8)), np.bitwise_or),
    (vector(VectorOp.XOR, rows(0), rows(8)), np.bitwise_xor),
    (vector(VectorOp.NOT, rows(0)), np.bitwise_not),
    (vector(VectorOp.SHL, rows(0), scalar(35)), np.left_shift),
    (vector(VectorOp.SHR, rows(0), scalar(35)), np.right_shift)])
def test_what_numpy_does_as_a_whole(command, function):
    on, wanted = Machine(CHIP), Machine(CHIP)
    on.acc[:] = wanted.acc[:] = np.random.default_rng(0).integers(
        0, 1 << 32, on.acc.shape, dtype=np.uint32)
    step = prepare(command, on.ub, on.acc)
    assert step.func is function
    step()
    vpu.execute(command, wanted.ub, wanted.acc)
    np.testing.assert_array_equal(on.acc, wanted.acc)


def test_commands_of_all_kinds_are_one_call_where_there_is_the_library():
    """It is C for x86-64; elsewhere each command is a call of its own."""
    made, in_c = Machine(CHIP).steps(), platform.machine() == "x86_64"
    assert isinstance(made, NativeSteps) == in_c
    made.add(Load(Mem.UB, DmaFormat.BF16, 0, 0, 4, 4, 8, 1, 4))
    made.add(Load(Mem.ACC, DmaFormat.W32, 0, 256, 4, 4, 16, 1, 4))
    made.add(Matmul(MatmulFormat.BF16, False, False, Stream.linear(8, (4, 1, 1)),
                    Stream.linear(0, (4, 1, 1)), Stream.linear(4, (4, 1, 1))))
    made.add(vector(VectorOp.IADD, rows(0), rows(8)))
    made.add(Store(Mem.ACC, DmaFormat.W32, 32, 512, 4, 4, 16, 1, 4))
    made.close()
    assert (len(made.made), made.size) == (1 if in_c else 5, 5)
