"""Numbers that short forms of functions may fall over, and how far off results are."""

import numpy as np

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = 2.0**-126
SPECIAL = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, LARGEST, -LARGEST, SMALLEST, -SMALLEST,
                      3e38, -3e38, 2.0**127, -2.0**127, 2.0**126, 2.0**64, 2.0**-64, 1.0, -1.0,
                      np.nextafter(np.float32(1), np.float32(2)), 1.5, 3e-38, 3.0, 7.0, 0.1])


def binades(shape, seed=0, low=-126, high=128):
    """Return numbers of both signs of all binades from ``low`` to below ``high``."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(1 << 23, 1 << 24, shape) * 2.0**(rng.integers(low, high, shape) - 23)
    return (numbers * rng.choice([-1.0, 1.0], shape)).astype(np.float32)


def with_special(numbers):
    """Return numbers, the first of which are `SPECIAL`."""
    numbers = numbers.copy()
    numbers.reshape(-1)[:len(SPECIAL)] = SPECIAL[:numbers.size]
    return numbers


def flushed(numbers):
    """Return float64 as exact results are: the subnormal ones are zeros of their sign."""
    return np.where(np.abs(numbers) < SMALLEST, np.copysign(0.0, numbers), numbers)


def units(numbers):
    """Return the unit in the last place of fp32 at each number of float64."""
    size = np.clip(np.abs(np.nan_to_num(numbers, posinf=LARGEST, neginf=LARGEST)), 0, LARGEST)
    return np.ldexp(1.0, np.clip(np.frexp(size)[1] - 1, -126, 127) - 23)


def ulps(got, want):
    """Return how far fp32 results are off, in units of the last place of float64 ``want``.

    An infinity is next to the largest number; what is subnormal may be 0 or the smallest normal
    number. NaN for a number, or a number for it or for an infinity, is off by infinity.
    """
    got, want = np.broadcast_arrays(got.astype(np.float64), want)
    with np.errstate(all="ignore"):
        far = np.clip(want, -2.0**128, 2.0**128)
        near = np.where(np.isinf(got), np.copysign(2.0**128, got), got)
        off = np.abs(near - far) / units(far)
        # What is subnormal, or would be a few units below, may be flushed.
        off = np.where((np.abs(far) < SMALLEST * (1 + 2.0**-21)) & (np.abs(got) <= SMALLEST * (
            1 + 2.0**-21)), 0.0, off)
        off = np.where(np.isinf(want) & (got != want), np.inf, off)
    return np.where(np.isnan(got) | np.isnan(want),
                    np.where(np.isnan(got) & np.isnan(want), 0.0, np.inf), off)
