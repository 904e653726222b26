"""Fast reciprocals and roots return what the numerics return, whatever is among the operands."""

import numpy as np
import pytest

from celosia.arch import special
from celosia.model.fast import special as fast_special

NAMES = ("f32_recip", "f32_rsqrt", "f32_sqrt")
ODD = [0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x80800000, 0x7E000000,
       0x7E800000, 0x7F000000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF]


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
