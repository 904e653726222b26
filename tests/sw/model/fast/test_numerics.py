"""The fast operations return what the numerics return, whatever is among the operands."""

import itertools

import numpy as np
import pytest

from celosia.arch import numerics
from celosia.model.fast import numerics as fast

NAMES = {"f32_add": 2, "f32_sub": 2, "f32_mul": 2, "f32_fma": 3, "f32_max": 2, "f32_min": 2,
         "f32_equal": 2, "f32_less": 2, "f32_less_equal": 2, "relu_f": 1, "f32_to_bf16": 1}
ODD = [0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF,
       0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0x3F800000, 0x3F800001, 0x4B800000]


def calm(rng: np.random.Generator, spread: int, size: tuple[int, ...]) -> np.ndarray:
    bits = rng.integers(0, 1 << 32, size, dtype=np.uint32) & np.uint32(0x807FFFFF)
    return bits | rng.integers(127 - spread, 128 + spread, size, dtype=np.uint32) << np.uint32(23)


def check(name: str, *operands: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        got = getattr(fast, name)(*operands)
    np.testing.assert_array_equal(got, getattr(numerics, name)(*operands), strict=True)


@pytest.mark.parametrize(("name", "taken"), NAMES.items())
def test_calm_operands(name, taken):
    rng = np.random.default_rng(taken)
    for spread in (1, 4, 12, 40, 62):
        check(name, *(calm(rng, spread, (64, 8)) for _ in range(taken)))


@pytest.mark.parametrize(("name", "taken"), NAMES.items())
def test_one_odd_operand(name, taken):
    rng = np.random.default_rng(taken)
    for odd in ODD:
        for place in range(taken):
            operands = [calm(rng, 3, (2, 4)) for _ in range(taken)]
            operands[place][1, 2] = odd
            check(name, *operands)


@pytest.mark.parametrize(("name", "taken"), NAMES.items())
def test_every_combination_of_odd_operands_alone(name, taken):
    for operands in itertools.product(ODD, repeat=taken):
        check(name, *(np.array([[odd]], np.uint32) for odd in operands))


@pytest.mark.parametrize(("name", "taken"), NAMES.items())
def test_many_odd_operands(name, taken):
    rng = np.random.default_rng(taken)
    for share in (0.01, 0.2, 1.0):
        for _ in range(8):
            operands = [calm(rng, 126, (16, 8)) for _ in range(taken)]
            check(name, *(np.where(rng.random((16, 8)) < share,
                                   rng.choice(np.array(ODD, np.uint32), (16, 8)), operand)
                          for operand in operands))


@pytest.mark.parametrize(("name", "taken"), NAMES.items())
def test_views_of_a_memory(name, taken):
    """Operands that are not contiguous."""
    rng = np.random.default_rng(taken)
    check(name, *(calm(rng, 20, (8, 12)).T[::2, 1::3] for _ in range(taken)))


@pytest.mark.parametrize("terms", [1, 2, 9])
@pytest.mark.parametrize("odd", [None, *ODD])
def test_sums_of_rows(terms, odd):
    rng = np.random.default_rng(terms)
    groups = calm(rng, 20, (3, terms, 4))
    if odd is not None:
        groups[1, terms // 2, 2] = odd
    expected = groups[:, 0]
    for i in range(1, terms):
        expected = numerics.f32_add(expected, groups[:, i])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(fast.f32_sum(groups), expected)


def test_sums_of_rows_that_are_subnormal_on_the_way():
    groups = np.array([[[0x00800001], [0x80800000], [0x3F800000]],
                       [[0x00800001], [0x80800000], [0x80000000]]], np.uint32)
    assert fast.f32_sum(groups).tolist() == [[0x3F800000], [0]]


@pytest.mark.parametrize(("name", "taken"), NAMES.items())
def test_broadcasting(name, taken):
    rng = np.random.default_rng(taken)
    shapes = [(5, 4), (1, 4), (1, 1)]
    check(name, *(calm(rng, 3, shapes[i]) for i in range(taken)))


@pytest.mark.parametrize("name", ["f32_mul", "f32_fma", "f32_add", "f32_sub"])
def test_results_at_both_ends(name):
    """Results around the smallest normal number and around overflow."""
    near = np.arange(0x3F7FFFF0, 0x3F800010, dtype=np.uint32)
    others = [np.uint32(x) for x in (0x00800000, 0x00800001, 0x00FFFFFF, 0x7F7FFFFF, 0x7F000000)]
    for other in others:
        for one in near:  # alone, so that no neighbour decides for it
            operands = [np.array([[one]]), np.array([[other]]), np.array([[0]], np.uint32)]
            if name in ("f32_add", "f32_sub"):
                operands[0] = np.array([[other ^ (one & 0xF)]], np.uint32)
            check(name, *operands[:NAMES[name]])


def test_multiply_add_on_a_tie():
    """c + 2**-24 (1 - 2**-46): to 53 bits it is a tie, which would go to even, and up."""
    a, b, c = (np.array([[x]], np.uint32) for x in (0x33800001, 0x3F7FFFFE, 0x3F800001))
    assert fast.f32_fma(a, b, c).tolist() == [[0x3F800001]]
    check("f32_fma", a, b, c)
    check("f32_fma", a, b, c - np.uint32(1))
    check("f32_fma", a, b ^ np.uint32(1 << 31), c)


@pytest.mark.parametrize("rounding", [np.rint, np.floor, np.trunc])
@pytest.mark.parametrize("odd", [None, *ODD, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001])
def test_integers(rounding, odd):
    bits = calm(np.random.default_rng(5), 20, (6, 8))
    if odd is not None:
        bits[3, 4] = odd
    with np.errstate(all="ignore"):
        got = fast.f32_to_i32(bits, rounding)
        expected = numerics.f32_to_i32(bits, rounding)
    np.testing.assert_array_equal(got.view(np.int32), expected, strict=True)


@pytest.mark.parametrize("bounds", [
    (0xBF80, 0x3F80), (0x8000, 0x0000), (0x3F80, 0xBF80), (0x7FC0, 0x3F80), (0xFF80, 0x7F80),
    (0x0001, 0x3F80), (0xC300, 0x42FE)])
@pytest.mark.parametrize("odd", [None, *ODD])
def test_clamp(bounds, odd):
    bits = calm(np.random.default_rng(6), 10, (6, 8))
    if odd is not None:
        bits[3, 4] = odd
    with np.errstate(all="ignore"):
        got, expected = (module.clamp_f(bits, *bounds) for module in (fast, numerics))
    np.testing.assert_array_equal(got, expected, strict=True)
