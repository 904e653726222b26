"""Fast reciprocals, quotients and roots return what the numerics do, whatever is among operands."""

import numpy as np
import pytest

from celosia.arch import special
from celosia.model.fast import special as fast_special

NAMES = ("f32_recip", "f32_rsqrt", "f32_sqrt")
ODD = [0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x80800000, 0x7E000000,
       0x7E800000, 0x7F000000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF]


def check_div(x: np.ndarray, numerator: np.ndarray) -> None:
    np.testing.assert_array_equal(fast_special.f32_div(x, numerator),
                                  special.f32_div(x, numerator), strict=True)


def check(name: str, x: np.ndarray) -> None:
    np.testing.assert_array_equal(getattr(fast_special, name)(x), getattr(special, name)(x),
                                  strict=True)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sign", [0, 1 << 31])
def test_every_exponent(name, sign):
    rng = np.random.default_rng(1)
    for exponent in range(256):
        fractions = rng.integers(0, 1 << 23, (8, 8), dtype=np.uint32)
        fractions[0] = [0, 1, 2, (1 << 23) - 1, 1 << 22, (1 << 22) - 1, 1 << 16, (1 << 16) - 1]
        check(name, fractions | np.uint32(exponent << 23 | sign))


@pytest.mark.parametrize("name", NAMES)
def test_every_segment(name):
    """Both ends of the segments, for an even and an odd exponent."""
    starts = np.arange(0x3F800000, 0x40800001, 1 << 16, dtype=np.uint32)[:, np.newaxis]
    check(name, np.concatenate([starts - np.uint32(1), starts, starts + np.uint32(1)], axis=1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("odd", ODD)
def test_one_odd_operand(name, odd):
    x = np.random.default_rng(2).integers(0x3F000000, 0x41000000, (4, 4), dtype=np.uint32)
    x[1, 2] = odd
    check(name, x)
    check(name, x[1:2, 2:3])


def test_quotients_of_every_difference_of_exponents():
    rng = np.random.default_rng(3)
    for above in range(256):
        x, numerator = rng.integers(0, 1 << 23, (2, 256, 8), dtype=np.uint32)
        x |= np.arange(256, dtype=np.uint32)[:, np.newaxis] << np.uint32(23)
        numerator |= np.uint32(above << 23 | above % 2 << 31)
        check_div(x, numerator)
        for row in range(0, 256, 5):
            check_div(x[row], numerator[row])


@pytest.mark.parametrize("odd", ODD)
def test_quotients_with_one_odd_operand(odd):
    x, other = np.random.default_rng(4).integers(0x3F000000, 0x41000000, (2, 4, 4), dtype=np.uint32)
    x[1, 2] = odd
    check_div(x, other)
    check_div(other, x)
    check_div(x, other[:1])
    check_div(other[:, :1], x)
    check_div(x, x)
