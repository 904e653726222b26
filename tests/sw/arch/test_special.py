"""exp2, log2, quotients and roots: bit for bit as stated, and as near to the truth as promised."""

import random

import numpy as np
import pytest

import exactfloat as xf
import exactspecial as xs
from celosia.arch import special

FUNCTIONS = {"exp2": special.f32_exp2, "recip": special.f32_recip, "rsqrt": special.f32_rsqrt,
             "sqrt": special.f32_sqrt, "log2": special.f32_log2}
EXACT = {"exp2": np.exp2, "recip": lambda x: 1 / x, "rsqrt": lambda x: 1 / np.sqrt(x),
         "sqrt": np.sqrt, "log2": np.log2}
#: Bits: both zeros, subnormals, smallest and largest numbers, infinities, NaNs, one and its
#: neighbours, 1.5 and its, the ends of exp2.
CORNERS = [0, 1, 0x7FFFFF, 0x800000, 0x800001, 0x7F7FFFFF, xf.INF, 0x7F800001, xf.NAN, 0x7FFFFFFF,
           0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FBFFFFF, 0x3FC00000, 0x3FC00001, 0x42FBFFFF,
           0x42FC0000, 0x42FC0001, 0x42FFFFFF, 0x43000000, 0x43000001, 0x33800000, 0x32800000]
CORNERS += [x | xf.SIGN for x in CORNERS]


def words(values) -> np.ndarray:
    return np.asarray(values, np.uint32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits(name):
    rng = random.Random(name)
    drawn = [rng.getrandbits(32) for _ in range(1500)]
    drawn += [rng.randrange(110, 136) << 23 | rng.getrandbits(23) | rng.choice((0, xf.SIGN))
              for _ in range(2500)]
    drawn += [0x3F800000 + rng.randrange(-5000, 5000) for _ in range(500)]
    # The first and the last place of every segment.
    drawn += [e << 23 | s << 16 | low for e in (126, 127, 128) for s in range(128)
              for low in (0, 0xFFFF)]
    got = FUNCTIONS[name](words(CORNERS + drawn))
    for x, y in zip(CORNERS + drawn, got.tolist(), strict=True):
        assert y == getattr(xs, name)(x), hex(x)


@pytest.mark.parametrize("step", [37, pytest.param(11, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_in_units_in_the_last_place(name, step):
    """At most two, of the root one: dense from 0.5 to 4, and any exponent."""
    fraction = np.arange(0, 1 << 23, step, dtype=np.uint32)
    x = [fraction | np.uint32(e << 23) for e in (126, 127, 128)]
    rng = np.random.default_rng(1)
    x.append(rng.integers(0x00800000, 0x7F800000, 4_400_000 // step, dtype=np.uint32))
    if name in ("exp2", "recip"):
        x += [part | np.uint32(xf.SIGN) for part in x]
    bits = np.concatenate(x)
    with np.errstate(over="ignore"):
        exact = EXACT[name](bits.view(np.float32).astype(np.float64))
    normal = (np.abs(exact) >= 2.0**-126) & (np.abs(exact) <= float(np.finfo(np.float32).max))
    got = FUNCTIONS[name](bits).view(np.float32).astype(np.float64)
    unit = np.exp2(np.floor(np.log2(np.abs(exact[normal]))) - 23)
    assert np.max(np.abs(got[normal] - exact[normal]) / unit) <= (1 if name == "sqrt" else 2)
    assert np.count_nonzero(normal) > 0.6 * bits.size


@pytest.mark.parametrize(("name", "exponent", "limit"), [
    ("sqrt", 127, 0.92), ("sqrt", 128, 1), ("rsqrt", 127, 1.31), ("rsqrt", 128, 1)])
def test_error_of_roots_where_it_is_largest(name, exponent, limit):
    """Every number of the first three segments."""
    bits = np.arange(3 << 17, dtype=np.uint32) | np.uint32(exponent << 23)
    exact = EXACT[name](bits.view(np.float32).astype(np.float64))
    unit = np.exp2(np.floor(np.log2(exact)) - 23)
    got = FUNCTIONS[name](bits).view(np.float32).astype(np.float64)
    assert np.max(np.abs(got - exact) / unit) < limit


def test_roots_of_all_binades_are_alike():
    fraction = np.arange(0, 1 << 23, 4099, dtype=np.uint32)
    for odd in (0, 1):
        wanted = special.f32_sqrt(fraction | np.uint32(127 + odd << 23))
        for exponent in range(1 + odd, 255, 2):
            got = special.f32_sqrt(fraction | np.uint32(exponent << 23))
            shift = (exponent - 127 - odd) // 2
            np.testing.assert_array_equal(got.astype(np.int64), wanted + np.int64(shift * 2**23))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_powers_of_two_are_exact(name):
    powers = np.exp2(np.arange(-126, 127, dtype=np.float64)).astype(np.float32)
    if name == "exp2":
        x, wanted = np.log2(powers), powers
    elif name in ("rsqrt", "sqrt"):
        x = powers[::2]
        wanted = EXACT[name](x)
    else:
        x, wanted = powers, EXACT[name](powers)
    np.testing.assert_array_equal(FUNCTIONS[name](x.view(np.uint32)), wanted.view(np.uint32))


@pytest.mark.parametrize(("name", "pairs"), [
    ("exp2", {0: 1.0, xf.SIGN: 1.0, xf.INF: np.inf, xf.INF | xf.SIGN: 0.0, 0x43000000: np.inf,
              0xC2FC0001: 0.0, 0x00000001: 1.0}),
    ("recip", {0: np.inf, xf.SIGN: -np.inf, 1: np.inf, xf.INF: 0.0, xf.INF | xf.SIGN: -0.0,
               0x7F7FFFFF: 0.0}),
    ("rsqrt", {0: np.inf, xf.SIGN: -np.inf, xf.SIGN | 1: -np.inf, xf.INF: 0.0,
               xf.INF | xf.SIGN: np.nan, 0xBF800000: np.nan}),
    ("sqrt", {0: 0.0, xf.SIGN: -0.0, 1: 0.0, 0x7FFFFF: 0.0, xf.SIGN | 1: -0.0, xf.INF: np.inf,
              xf.INF | xf.SIGN: np.nan, 0xBF800000: np.nan, xf.SIGN | 0x800000: np.nan,
              0x800000: 2.0**-63, 0x3F800000: 1.0}),
    ("log2", {0: -np.inf, xf.SIGN: -np.inf, xf.INF: np.inf, xf.INF | xf.SIGN: np.nan,
              0xBF800000: np.nan, 0x3F800000: 0.0}),
])
def test_special_values(name, pairs):
    pairs = {**pairs, xf.NAN: np.nan, 0xFFFFFFFF: np.nan, 0x7F800001: np.nan}
    wanted = [xf.NAN if np.isnan(y) else int(np.float32(y).view(np.uint32)) for y in pairs.values()]
    assert FUNCTIONS[name](words(list(pairs))).tolist() == wanted


def test_coefficients_fit_their_widths():
    for table in special.tables():
        assert len(table) == special.SEGMENTS
        for c0, c1, c2 in table:
            assert 0 <= c0 < 1 << special.C0_BITS
            assert -(1 << special.C1_BITS - 1) <= c1 < 1 << special.C1_BITS - 1
            assert -(1 << special.C2_BITS - 1) <= c2 < 1 << special.C2_BITS - 1


@pytest.mark.parametrize("size", [1 << 11, pytest.param(1 << 16, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "rises"), [("exp2", True), ("log2", True), ("recip", False),
                                             ("rsqrt", False), ("sqrt", True)])
def test_monotone_but_for_one_unit(name, rises, size):
    """From each number to the next the result goes the right way, or back by one unit at most:
    where a segment ends, and the first ones of each, or all.
    """
    segments = np.arange(0x3F7C0000, 0x40040000, 1 << 16, dtype=np.uint32)
    starts = np.concatenate([segments - np.uint32(size // 2), segments])
    bits = starts[:, None] + np.arange(size + 1, dtype=np.uint32)
    result = FUNCTIONS[name](bits.ravel()).view(np.float32)
    order = result.view(np.int32).astype(np.int64)
    order = np.where(order < 0, -(order & 0x7FFFFFFF), order).reshape(bits.shape)
    assert (np.diff(order) if rises else -np.diff(order)).min() >= -1


def test_bits_of_quotients():
    rng = random.Random(5)
    pairs = [(x, y) for x in CORNERS for y in CORNERS]
    pairs += [(rng.getrandbits(32), rng.getrandbits(32)) for _ in range(3000)]
    # Quotients about the least and the largest number.
    for power in (-127, -126, 127, 128):
        for _ in range(500):
            above = rng.randrange(max(1, power + 1), min(254, 254 + power) + 1)
            pairs.append(((above - power) << 23 | rng.getrandbits(23),
                          above << 23 | rng.getrandbits(23)))
    x, numerator = map(words, zip(*pairs, strict=True))
    got = special.f32_div(x, numerator)
    for pair, y in zip(pairs, got.tolist(), strict=True):
        assert y == xs.div(*pair), [hex(word) for word in pair]


def test_specials_of_quotients():
    zero, one, inf, nan = 0, 0x3F800000, xf.INF, xf.NAN
    wanted = {(zero, zero): nan, (inf, inf): nan, (zero, one): inf, (one, zero): zero,
              (inf, one): zero, (one, inf): inf, (zero, inf): inf, (inf, zero): zero}
    for (divisor, numerator), y in wanted.items():
        for s in (0, xf.SIGN):
            for t in (0, xf.SIGN):
                sign = 0 if y == nan else s ^ t
                assert special.f32_div(words([divisor | s]), words([numerator | t])) == y | sign
    for y in (zero, one, inf, nan):
        assert special.f32_div(words([nan, y]), words([y, 0xFFFFFFFF])).tolist() == [nan, nan]


#: Of so many numbers one is taken: 1,700 of each segment, or, slowly, all.
steps = pytest.mark.parametrize("step", [37, pytest.param(1, marks=pytest.mark.slow)])


def off_by(x: np.ndarray, numerator: np.ndarray) -> float:
    """Largest error of normal quotients in units in the last place."""
    worst, count = 0.0, 0
    # In pieces that the cache of a processor holds.
    for divisors, numerators in zip(*(np.array_split(word.ravel(), word.size >> 15)
                                      for word in (x, numerator)), strict=True):
        n, d = (word.view(np.float32).astype(np.longdouble) for word in (numerators, divisors))
        exact = np.abs(n / d)
        normal = (exact >= 2.0**-126) & (exact < 2.0**128 - 2.0**103)
        got = special.f32_div(divisors, numerators).view(np.float32).astype(np.longdouble)
        unit = np.ldexp(np.longdouble(1), np.frexp(exact)[1] - 24)
        errors = (np.abs(np.abs(got) - exact) / unit)[normal]
        worst, count = max(worst, float(np.max(errors, initial=0))), count + errors.size
    assert count > 0.4 * x.size
    return worst


@steps
def test_error_of_quotients(step):
    """Of divisors of a binade, and of every pair of binades: 0.5 from the rounding."""
    rng = np.random.default_rng(6)
    fraction = np.arange(0, 1 << 23, step, dtype=np.uint32)
    numerator = rng.integers(0, 1 << 23, fraction.size, np.uint32)
    assert off_by(fraction | np.uint32(0x3F800000), numerator | np.uint32(0x3F800000)) < 0.88
    binades = np.arange(1, 255, dtype=np.uint32) << np.uint32(23)
    count = 8 if step == 1 else 2
    x, numerator = (rng.integers(0, 1 << 23, (254, 254, count), np.uint32) for _ in range(2))
    assert off_by(x | binades[:, None, None], numerator | binades[None, :, None]) < 0.88


@steps
def test_quotients_that_are_fp32_are_exact(step):
    rng = np.random.default_rng(7)
    d = rng.integers(1, 1 << 12, 1 << 18).astype(np.float32)
    q = rng.integers(1, 1 << 12, 1 << 18).astype(np.float32)
    q *= np.exp2(rng.integers(-100, 100, 1 << 18)).astype(np.float32)
    np.testing.assert_array_equal(special.f32_div(d.view(np.uint32), (q * d).view(np.uint32)),
                                  q.view(np.uint32))
    x = np.arange(0x3F800000, 0x40000000, step, dtype=np.uint32)
    assert (special.f32_div(x, x) == 0x3F800000).all()
    assert (special.f32_div(words([0x3F800000]), x) == x).all()
