"""The numerics against exact rational arithmetic."""

import itertools
import math
import random
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import exactfloat as xf
from celosia.arch import numerics

CORNERS = [
    0x00000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x00800001, 0x00FFFFFF, 0x01000000,
    0x1F800000, 0x20000000, 0x33800000, 0x34000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001,
    0x3FFFFFFF, 0x40000000, 0x4B000001, 0x4B7FFFFF, 0x5F000000, 0x7E800000, 0x7F000000, 0x7F7FFFFF,
    0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF,
]
CORNERS += [x | xf.SIGN for x in CORNERS]


def draw(count: int, seed: int) -> list[int]:
    """fp32 bit patterns: any, close to each other, with few significant bits, corners."""
    rng = random.Random(seed)
    near = rng.randrange(30, 220)

    def about(low: int, high: int) -> int:
        return rng.choice((0, xf.SIGN)) | rng.randrange(low, high) << 23 | rng.getrandbits(23)

    kinds = (
        lambda: rng.getrandbits(32),
        lambda: about(near - 26, near + 27),
        lambda: rng.getrandbits(32) & 0xFFFF8000,
        lambda: about(1, 4),
        lambda: rng.choice(CORNERS),
    )
    return [rng.choice(kinds)() for _ in range(count)]


def compare(function, exact, *columns: list[int]) -> None:
    arrays = [np.array(column, np.uint32) for column in columns]
    got = np.asarray(function(*arrays)).astype(np.uint32)
    for i, row in enumerate(zip(*columns, strict=True)):
        assert int(got[i]) == exact(*row) & 0xFFFFFFFF, [hex(x) for x in row]


TWO = [(numerics.f32_add, xf.add), (numerics.f32_mul, xf.mul),
       (numerics.f32_sub, lambda a, b: xf.add(a, b ^ xf.SIGN)),
       (numerics.f32_max, xf.maximum), (numerics.f32_min, xf.minimum)]


@pytest.mark.parametrize(("function", "exact"), TWO, ids=lambda f: f.__name__)
def test_two_operands(function, exact):
    pairs = list(itertools.product(CORNERS, CORNERS))
    compare(function, exact, [a for a, _ in pairs], [b for _, b in pairs])
    compare(function, exact, draw(4000, 1), draw(4000, 1)[::-1])


def test_fma_corners():
    some = CORNERS[::3] + [0x7FC00000, 0x80000000, 0xFF800000]
    triples = list(itertools.product(some, some, some))
    compare(numerics.f32_fma, xf.fma, *[[t[i] for t in triples] for i in range(3)])


def test_fma_random():
    compare(numerics.f32_fma, xf.fma, draw(8000, 2), draw(8000, 3), draw(8000, 4))


def test_fma_rounds_once():
    """Sums next to a tie of the 24 bits, decided by a bit far below, which float64 would lose."""
    rng, rows = random.Random(5), []
    for _ in range(4000):
        a = 0x3F800000 | rng.getrandbits(23) | 1
        b = 0x3F800000 | rng.getrandbits(23) | 1
        product = xf.value(a) * xf.value(b)
        tie = Fraction(rng.randrange(1 << 23, 1 << 24) * 2 + 1, 2) * 2 ** rng.randrange(0, 30)
        c = xf.rounded(tie - product)
        rows.append((a, b, c))
        rows.append((a, b ^ xf.SIGN, xf.rounded(product) ^ rng.choice((0, 1))))
        scale = rng.randrange(100) << 23
        rows.append((a - scale, b, 0x3F800000 + rng.choice((0, 1, 0x400000)) | xf.SIGN))
    compare(numerics.f32_fma, xf.fma, *[[row[i] for row in rows] for i in range(3)])


def test_underflow_boundary():
    """Results around the smallest normal number round before they are flushed."""
    rows = []
    for low in range(-40, 41):
        a = 0x3F800000 + low
        for b in (0x00800000, 0x00800001, 0x00FFFFFF, 0x007FFFFF, 0x80800000):
            rows.append((a, b))
            rows.append((b, 0x3F000000 + low))
    compare(numerics.f32_mul, xf.mul, [a for a, _ in rows], [b for _, b in rows])
    compare(numerics.f32_fma, xf.fma, [a for a, _ in rows], [b for _, b in rows],
            [0x00000000] * len(rows))


def test_flush():
    compare(numerics.flush, xf.flush, CORNERS)


def test_bf16_widens_exhaustively():
    halves = np.arange(1 << 16, dtype=np.uint16)
    np.testing.assert_array_equal(numerics.bf16_to_f32(halves),
                                  np.arange(1 << 16, dtype=np.uint32) << 16)


def test_bf16_survives_the_round_trip():
    halves = np.arange(1 << 16, dtype=np.uint16)
    back = numerics.f32_to_bf16(numerics.bf16_to_f32(halves))
    exponent, nan = halves & 0x7F80, (halves & 0x7FFF) > 0x7F80
    expected = np.where(nan, numerics.BF16_NAN, np.where(exponent == 0, halves & 0x8000, halves))
    np.testing.assert_array_equal(back, expected)


def test_bf16_rounds():
    """Every bf16 with the tails that decide: below, at and above the tie."""
    rng = random.Random(6)
    words = [high << 16 | tail for high in rng.sample(range(1 << 16), 1200)
             for tail in (1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)]
    words += [0x7F7F8000, 0x7F7F7FFF, 0xFF7FFFFF, 0x007FFFFF, 0x00808000, 0x7F800001, *CORNERS]
    compare(numerics.f32_to_bf16, xf.to_bf16, words)


def test_bf16_rounding_is_that_of_ml_dtypes():
    words = np.random.default_rng(7).integers(0, 1 << 32, 100_000, dtype=np.uint32)
    normal = ((words >> 23 & 255) > 0) & ((words >> 23 & 255) < 255)
    words = words[normal]
    expected = words.view(np.float32).astype(ml_dtypes.bfloat16).view(np.uint16)
    np.testing.assert_array_equal(numerics.f32_to_bf16(words), expected)


def test_integers_to_floats():
    rng = random.Random(8)
    values = [0, 1, -1, (1 << 31) - 1, -(1 << 31), (1 << 24) + 1, -(1 << 24) - 3, (1 << 25) + 2]
    values += [rng.getrandbits(rng.randrange(1, 32)) * rng.choice((1, -1)) for _ in range(3000)]
    got = np.asarray(numerics.i32_to_f32(np.array(values, np.int32)))
    assert [int(x) for x in got] == [xf.from_int(x) for x in values]


def test_floats_to_integers():
    words = draw(4000, 9) + CORNERS
    words += [0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x3F000000, 0x3FC00000, 0x40200000,
              0xBF000000]
    words += [(127 + e) << 23 | m << 13 for e in range(-2, 33) for m in range(0, 1024, 37)]
    got = np.asarray(numerics.f32_to_i32(np.array(words, np.uint32)))
    assert [int(x) for x in got] == [xf.to_int(x) for x in words]


@pytest.mark.parametrize(("rounding", "exact"), [(np.floor, math.floor), (np.trunc, math.trunc)])
def test_floats_to_integers_rounded_otherwise(rounding, exact):
    words = draw(3000, 17) + CORNERS + [0xBF000000, 0xBF800001, 0x4F000000, 0xCF000000, 0xCF000001]
    words += [s | (127 + e) << 23 | m << 13 for s in (0, xf.SIGN) for e in range(-2, 33)
              for m in range(0, 1024, 37)]
    got = np.asarray(numerics.f32_to_i32(np.array(words, np.uint32), rounding))
    assert [int(x) for x in got] == [xf.to_int(x, exact) for x in words]


COMPARES = [(numerics.f32_equal, (0,)), (numerics.f32_less, (-1,)),
            (numerics.f32_less_equal, (-1, 0))]


@pytest.mark.parametrize(("function", "holds"), COMPARES, ids=lambda f: getattr(f, "__name__", ""))
def test_comparisons(function, holds):
    pairs = list(itertools.product(CORNERS, CORNERS))
    pairs += list(zip(draw(3000, 18), draw(3000, 18)[::-1], strict=True))
    compare(function, lambda a, b: -(xf.compare(a, b) in holds), [a for a, _ in pairs],
            [b for _, b in pairs])


def test_finite_and_square():
    words = draw(3000, 19) + CORNERS
    compare(numerics.f32_is_finite, lambda x: -(not xf.is_inf(x) and not xf.is_nan(x)), words)
    compare(numerics.f32_square, lambda x: xf.mul(x, x), words)


def test_shifts():
    a, b = draw(2000, 20), [*range(64), *draw(1936, 21)]
    compare(numerics.shift_left, lambda x, n: x << n % 32, a, b)
    compare(numerics.shift_right, lambda x, n: x >> n % 32, a, b)
    compare(numerics.shift_right_signed, lambda x, n: signed(x) >> n % 32, a, b)


def test_lanes_are_joined_as_a_tree():
    letters = np.array([list("abcdefgh")], object)
    joined = numerics.lane_tree(lambda a, b: "(" + a + b + ")", letters)
    assert joined.tolist() == ["(((ab)(cd))((ef)(gh)))"]


def test_clamp_and_relu_of_floats():
    words = draw(2000, 10) + CORNERS
    for lo, hi in ((0, 0x40C0), (0xBF80, 0x3F80), (0x7FC0, 0), (0x3F80, 0xBF80), (0x8000, 0x0001)):
        compare(lambda x, lo=lo, hi=hi: numerics.clamp_f(x, lo, hi),
                lambda x, lo=lo, hi=hi: xf.minimum(xf.maximum(x, lo << 16), hi << 16), words)
    compare(numerics.relu_f, lambda x: xf.maximum(x, 0), words)


def signed(value: int) -> int:
    return (value & 0xFFFFFFFF ^ 1 << 31) - (1 << 31)


def integers(count: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    corners = (0, 1, -1, 127, -128, 128, -129, (1 << 31) - 1, -(1 << 31))
    return [rng.choice((signed(rng.getrandbits(32)), rng.randrange(-300, 300), rng.choice(corners)))
            for _ in range(count)]


def test_integer_operations():
    a, b = integers(4000, 11), integers(4000, 12)
    x, y = np.array(a, np.int32), np.array(b, np.int32)
    assert numerics.imul(x, y).tolist() == [signed(p * q) for p, q in zip(a, b, strict=True)]
    assert numerics.relu_i(x).tolist() == [max(p, 0) for p in a]
    assert numerics.clamp_i(x, -7, 99).tolist() == [min(max(p, -7), 99) for p in a]
    assert numerics.clamp_i(x, 5, -5).tolist() == [-5 for _ in a]
    assert numerics.saturate_i8(x).tolist() == [min(max(p, -128), 127) for p in a]


def test_requant():
    rng = random.Random(13)
    x, bias = integers(5000, 14), integers(5000, 15)
    scale = [rng.getrandbits(32) for _ in x]
    zp, lo, hi = -3, -100, 127
    expected = []
    for value, word, add in zip(x, scale, bias, strict=True):
        multiplier, shift = word & 0xFFFF, word >> 16 & 63
        half = 1 << shift - 1 if shift else 0
        scaled = (signed(value + add) * multiplier + half) >> shift
        expected.append(min(max(scaled + zp, lo), hi))
    got = numerics.requant(np.array(x, np.int32), np.array(scale, np.uint32),
                           np.array(bias, np.int32), zp, lo, hi)
    assert np.asarray(got).tolist() == expected


def test_requant_rounds_ties_up():
    scale = np.uint32(1 | 1 << 16)  # one half
    got = numerics.requant(np.array([-3, -2, -1, 0, 1, 2, 3], np.int32), scale, np.int32(0),
                           0, -128, 127)
    assert np.asarray(got).tolist() == [-1, -1, 0, 0, 1, 1, 2]


def test_requant_scale_is_close():
    rng = random.Random(16)
    for _ in range(2000):
        scale = 2.0 ** rng.uniform(-46.9, 14.9)
        word = numerics.requant_scale(scale)
        encoded = Fraction(word & 0xFFFF, 1 << (word >> 16))
        assert word < 1 << 22
        assert abs(encoded / Fraction(scale) - 1) <= Fraction(1, 1 << 16)


def test_requant_scale_of_the_bounds():
    assert numerics.requant_scale(2.0**-47) == 0x8000 | 62 << 16
    assert numerics.requant_scale(1.0) == 0x8000 | 15 << 16
    assert numerics.requant_scale(65535.0) == 0xFFFF
    # Rounding the significand up to the next power of two
    assert numerics.requant_scale(1 - 2.0**-30) == 0x8000 | 15 << 16


@pytest.mark.parametrize(("scale", "message"), [
    (0.0, "requantise scale must be finite and positive, not 0.0"),
    (-1.0, "requantise scale must be finite and positive, not -1.0"),
    (float("inf"), "requantise scale must be finite and positive, not inf"),
    (65536.0, "requantise scale must be from 2**-47 to 2**15, not 65536.0"),
    (2.0**-50, f"requantise scale must be from 2**-47 to 2**15, not {2.0**-50!r}"),
])
def test_requant_scale_errors(scale, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is compared whole
        numerics.requant_scale(scale)
    assert str(error.value) == message
