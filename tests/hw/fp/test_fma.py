import functools

import numpy as np
import pytest
from amaranth.hdl import Cat, Module, Signal

from celosia.arch import numerics
from celosia_hw.fp import fma
from celosia_hw.pipeline import Logic, Pipeline
from hw.simulation import World
from hw.vpu_bench import CORNERS

VECTORS = 3000


def fused(m, a, b, c):
    """All stages with nothing between them."""
    def multiply(a_significand, b_significand):
        return {"exact": a_significand * b_significand}

    parts = (fma.unpack, multiply, fma.compare, fma.align, fma.add, fma.bring_near,
             fma.normalise, fma.finish)
    row = Pipeline([m], [[Logic(part) for part in parts]], {"a": a, "b": b, "c": c})
    return row.value("finished", 0)


@functools.cache
def world():
    """The stages, made once: their simulator, all inputs in one, the output."""
    m = Module()
    inputs = [Signal(32, name=name) for name in "abc"]
    output = fused(m, *inputs)
    return World(m), Cat(inputs), output


def evaluate(a, b, c):
    made, inputs, output = world()
    results = []

    async def main(ctx):
        for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
            ctx.set(inputs, x | y << 32 | z << 64)
            results.append(ctx.get(output))

    made.run(main)
    return np.array(results, np.uint32)


def check(a, b, c):
    with np.errstate(all="ignore"):
        expected = numerics.f32_fma(a, b, c)
    found = evaluate(a, b, c)
    wrong = np.flatnonzero(found != expected)
    assert not len(wrong), [
        f"{a[i]:08x} * {b[i]:08x} + {c[i]:08x} = {found[i]:08x}, not {expected[i]:08x}"
        for i in wrong[:5]]


def near(rng, count, low, high):
    """Random numbers with exponents (biased) from low to high - 1."""
    exponent = rng.integers(low, high, count, np.uint32) << np.uint32(23)
    return rng.integers(0, 1 << 32, count, np.uint32) & np.uint32(0x807FFFFF) | exponent


def test_corners():
    rng = np.random.default_rng(0)
    check(*(rng.choice(np.array(CORNERS, np.uint32), VECTORS) for _ in "abc"))


def test_any_bits():
    rng = np.random.default_rng(1)
    check(*(rng.integers(0, 1 << 32, VECTORS, np.uint32) for _ in "abc"))


def test_exponents_close_together():
    rng = np.random.default_rng(2)
    check(near(rng, VECTORS, 120, 134), near(rng, VECTORS, 120, 134), near(rng, VECTORS, 118, 140))


@pytest.mark.parametrize("step", [0, 1 << 23])
def test_cancellation(step):
    rng = np.random.default_rng(3)
    a, b = near(rng, VECTORS, 100, 150), near(rng, VECTORS, 100, 150)
    product = numerics.f32_mul(a, b) ^ np.uint32(0x80000000)
    offset = rng.integers(-3, 4, VECTORS) + step * rng.integers(-3, 4, VECTORS)
    check(a, b, product + offset.astype(np.int32).view(np.uint32))


def test_results_about_the_smallest_number():
    rng = np.random.default_rng(4)
    a = near(rng, VECTORS, 1, 126)
    b = near(rng, VECTORS, 0, 1) | (
        (np.uint32(127) - (a >> np.uint32(23) & np.uint32(255))
         + rng.integers(0, 4, VECTORS, np.uint32)) << np.uint32(23))
    # Significands of ones: products that round up to 2**-126.
    ones = rng.random(VECTORS) < 0.3
    a, b = (np.where(ones, x | np.uint32(0x7FFFF0), x).astype(np.uint32) for x in (a, b))
    c = np.where(rng.random(VECTORS) < 0.5, near(rng, VECTORS, 0, 4),
                 np.uint32(0x80000000)).astype(np.uint32)
    check(a, b, c)


def test_results_about_the_largest_number():
    rng = np.random.default_rng(5)
    a, b = near(rng, VECTORS, 180, 200), near(rng, VECTORS, 180, 200)
    check(a, b, near(rng, VECTORS, 240, 256))
