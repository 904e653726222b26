import functools

import numpy as np
import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch import numerics
from celosia_hw.fp.add import f32_add
from hw.engine import Simulator
from hw.simulation import World

# Zeros, subnormals, ends of the normal range, powers of two and their neighbours, infinities, NaNs.
CORNERS = [sign | bits for sign in (0, 0x80000000) for bits in (
    0x00000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x00800001, 0x00FFFFFF, 0x01000000, 0x01000001,
    0x33800000, 0x33800001, 0x34000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x40000000, 0x4B7FFFFF,
    0x4B800000, 0x4B800001, 0x7F000000, 0x7F7FFFFE, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000,
    0x7FFFFFFF)]


class Adder(wiring.Component):
    def __init__(self, cycles):
        self._cycles = cycles
        super().__init__({"a": In(32), "b": In(32), "o": Out(32)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(f32_add(m, self.a, self.b, name="add", cycles=self._cycles))
        return m


@functools.cache
def world() -> World:
    """The adder, made once."""
    return World(Adder(1))


def add(a, b):
    dut, sums = world().component, []
    operands = Cat(dut.a, dut.b)

    async def bench(ctx):
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            ctx.set(operands, x | y << 32)
            sums.append(ctx.get(dut.o))

    world().run(bench)
    return np.array(sums, np.uint32)


def check(a, b):
    expected = numerics.f32_add(a, b)
    wrong = np.flatnonzero(add(a, b) != expected)
    assert not wrong.size, f"{a[wrong[0]]:08x} + {b[wrong[0]]:08x} must be {expected[wrong[0]]:08x}"


@pytest.mark.parametrize("cycles", [2, 4])
def test_a_sum_a_cycle_some_cycles_later(cycles):
    rng = np.random.default_rng(2)
    a, b = (np.concatenate([rng.choice(np.array(CORNERS, np.uint32), 300),
                            rng.integers(0, 1 << 32, 100, np.uint32)]) for _ in range(2))
    made, sums = Adder(cycles), []

    async def bench(ctx):
        for x, y in [*zip(a.tolist(), b.tolist(), strict=True), *[(0, 0)] * (cycles - 1)]:
            ctx.set(made.a, x)
            ctx.set(made.b, y)
            sums.append(ctx.get(made.o))
            await ctx.tick()

    simulator = Simulator(made)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert sums[cycles - 1:] == numerics.f32_add(a, b).tolist()


def test_corners():
    a, b = np.meshgrid(np.array(CORNERS, np.uint32), np.array(CORNERS, np.uint32))
    check(a.ravel(), b.ravel())


def test_random_patterns():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 1 << 32, (2, 2000), np.uint64).astype(np.uint32)
    check(a, b)


def test_near_exponents_cancel_round_and_carry():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 1 << 32, (2, 4000), np.uint64).astype(np.uint32)
    exponent = rng.integers(0, 255, a.shape)
    apart = rng.integers(-28, 29, a.shape)
    exponents = exponent, np.clip(exponent + apart, 0, 254)
    # Significands with few bits set make ties and full cancellation likely.
    sparse = rng.integers(0, 3, (2, *a.shape))
    masks = np.array([0x7FFFFF, 0x700001, 0x7FFFFE], np.uint32)[sparse]
    a, b = ((x & (np.uint32(0x80000000) | mask)) | (e.astype(np.uint32) << np.uint32(23))
            for x, e, mask in zip((a, b), exponents, masks, strict=True))
    check(a, b)


def test_full_cancellation_is_plus_zero():
    rng = np.random.default_rng(3)
    a = rng.integers(0x00800000, 0x7F800000, 500).astype(np.uint32)
    assert not add(a, a ^ np.uint32(0x80000000)).any()
