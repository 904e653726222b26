"""Hard words for the operations of the vector unit: directed ones first, then random ones."""

import itertools

import numpy as np
from numpy.typing import NDArray

U32 = NDArray[np.uint32]

SIGN = np.uint32(0x80000000)
#: fp32: both zeros, subnormals, the ends of the range and their neighbours, infinities, NaNs with
#: payloads, ones and their neighbours, halves, the ends of the integers that fp32 holds, of int8,
#: int32 and of exp2. Integers: small ones, shifts, the ends of int8, int16 and int32.
CORNERS = np.array([
    0x00000000, 0x00000001, 0x00400000, 0x007FFFFF, 0x00800000, 0x00800001, 0x00FFFFFF, 0x01000000,
    0x1F800000, 0x20000000, 0x33000000, 0x337FFFFF, 0x33800000, 0x33800001, 0x34000000, 0x3EFFFFFF,
    0x3F000000, 0x3F000001, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FBFFFFF, 0x3FC00000, 0x3FC00001,
    0x40000000, 0x40200000, 0x40490FDB, 0x42FC0000, 0x42FC0001, 0x42FE0000, 0x42FF0000, 0x43000000,
    0x4B000000, 0x4B000001, 0x4B7FFFFF, 0x4B800000, 0x4EFFFFFF, 0x4F000000, 0x4F000001, 0x5F000000,
    0x7E800000, 0x7F000000, 0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FBFFFFF,
    0x7FC00000, 0x7FFFFFFF,
    0x00000002, 0x00000003, 0x0000001F, 0x00000020, 0x0000003F, 0x0000007F, 0x00000080, 0x000000FF,
    0x00007FFF, 0x00008000, 0x0000FFFF, 0x00010000], np.uint32)
CORNERS = np.unique(np.concatenate([CORNERS, CORNERS | SIGN, -CORNERS]))


def any_bits(rng: np.random.Generator, count: int) -> U32:
    """Any words at all."""
    return rng.integers(0, 1 << 32, count, dtype=np.uint32)


def about(rng: np.random.Generator, count: int, low: int, high: int) -> U32:
    """fp32 with exponents low..high - 1 (with their bias), at times with few significant bits."""
    fraction = rng.integers(0, 1 << 23, count, dtype=np.uint32)
    kept = rng.integers(0, 24, count).astype(np.uint32)
    fraction = np.where(rng.random(count) < 0.4, fraction >> kept << kept, fraction)
    sign = rng.integers(0, 2, count, dtype=np.uint32) << np.uint32(31)
    return sign | rng.integers(low, high, count, dtype=np.uint32) << np.uint32(23) | fraction


def integers(rng: np.random.Generator, count: int) -> U32:
    """Integers of every width, of either sign."""
    width = rng.integers(0, 32, count).astype(np.uint32)
    value = any_bits(rng, count) >> width
    return np.where(rng.random(count) < 0.5, value, -value)


def bf16_ties(rng: np.random.Generator, count: int) -> U32:
    """fp32 at, just below and just above the middle between two bf16."""
    return (any_bits(rng, count) & np.uint32(0xFFFF0000)) + rng.choice(
        np.array([0x7FFF, 0x8000, 0x8001], np.uint32), count)


def integer_ties(rng: np.random.Generator, count: int) -> U32:
    """fp32 at, just below and just above the middle between two integers, and integers."""
    whole = rng.integers(0, 1 << 23, count) >> rng.integers(0, 24, count)
    exact = (whole + rng.choice([0.0, 0.5], count)).astype(np.float32).view(np.uint32)
    moved = exact + rng.choice(np.array([0, 0, 1, -1], np.int64), count).astype(np.uint32)
    return moved ^ (rng.integers(0, 2, count, dtype=np.uint32) << np.uint32(31))


def singles(rng: np.random.Generator, count: int) -> U32:
    """Words for operations of one operand."""
    parts = [CORNERS]
    left = count - len(CORNERS)
    share = left // 8
    parts += [any_bits(rng, share), about(rng, share, 90, 165), about(rng, share, 120, 135),
              integers(rng, share), bf16_ties(rng, share), integer_ties(rng, share),
              np.uint32(0x3F800000) + rng.integers(-20000, 20000, share).astype(np.uint32)]
    parts.append(any_bits(rng, count - sum(map(len, parts))))
    return np.concatenate(parts)


def pairs(rng: np.random.Generator, count: int) -> tuple[U32, U32]:
    """Words for operations of two operands: every pair of corners, then kinds of neighbours."""
    a, b = (np.array(column, np.uint32) for column in
            zip(*itertools.product(CORNERS, CORNERS), strict=True))
    left = count - len(a)
    share = left // 10
    near = about(rng, 2 * share, 20, 230)
    close = near + rng.integers(-3, 4, 2 * share).astype(np.uint32)
    flipped = rng.integers(0, 2, 2 * share, dtype=np.uint32) << np.uint32(31)
    base = about(rng, share, 30, 220)
    apart = (base & np.uint32(0x7F800000)) + (rng.integers(-26, 27, share).astype(np.uint32)
                                             << np.uint32(23))
    low = about(rng, share, 1, 200)
    # Products at both ends of the range.
    scale = (rng.choice(np.array([127, 381]), share) - (low >> np.uint32(23) & np.uint32(255))
             + rng.integers(-2, 3, share)).clip(1, 254).astype(np.uint32)
    firsts = [near, any_bits(rng, share), base, low, integers(rng, share), integers(rng, share),
              rng.choice(CORNERS, share), about(rng, share, 120, 135)]
    seconds = [close ^ flipped, any_bits(rng, share),
               apart | about(rng, share, 0, 1), scale << np.uint32(23) | about(rng, share, 0, 1),
               integers(rng, share), rng.integers(0, 64, share, dtype=np.uint32),
               any_bits(rng, share), about(rng, share, 120, 135)]
    a, b = np.concatenate([a, *firsts]), np.concatenate([b, *seconds])
    return (np.concatenate([a, any_bits(rng, count - len(a))]),
            np.concatenate([b, any_bits(rng, count - len(b))]))


def triples(rng: np.random.Generator, rows: int, lanes: int, each: int) -> tuple[U32, U32, U32]:
    """Words for operations of three operands, rows of lanes; ``each`` rows have the same third.

    A third of the sums of a product and the third operand is next to a tie, a third next to zero.
    """
    shape = (rows, lanes)
    a, b = (words.reshape(shape) for words in pairs(rng, rows * lanes))
    c = singles(rng, rows // each * lanes)
    c = rng.permutation(c).reshape(-1, lanes)
    wide = np.repeat(c, each, axis=0)
    chosen = rng.random(shape)
    with np.errstate(all="ignore"):
        third = wide.view(np.float32).astype(np.float64)
        factor = about(rng, rows * lanes, 100, 154).view(np.float32).astype(np.float64).reshape(
            shape)
        unit = np.exp2(np.floor(np.log2(np.abs(third))) - rng.integers(22, 26, shape))
        wanted = np.where(chosen < 0.33, -third, rng.choice([-1.5, -0.5, 0.5, 1.5, 2.5], shape)
                          * unit)
        other = (wanted / factor).astype(np.float32).view(np.uint32)
    made = chosen < 0.66
    a = np.where(made, factor.astype(np.float32).view(np.uint32), a)
    b = np.where(made, other + rng.integers(-1, 2, shape).astype(np.uint32), b)
    return a, b, c
