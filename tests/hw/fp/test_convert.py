import numpy as np
import pytest
from amaranth.hdl import Cat, Const, Module, Signal

from celosia.arch import numerics
from celosia_hw.fp import compare, convert
from hw.simulation import World
from hw.vpu_bench import CORNERS


def to_i32(floor, trunc):
    return lambda m, a, b: convert.f32_to_i32_round(
        m, a, convert.f32_to_i32_shift(m, a, "s"), Const(floor, 1), Const(trunc, 1), "f")


FUNCTIONS = {
    "flush": (lambda m, a, b: convert.f32_flush(m, a, "f"), lambda a, b: numerics.flush(a)),
    "to_bf16": (lambda m, a, b: convert.f32_to_bf16(m, a, "f"),
                lambda a, b: numerics.f32_to_bf16(a)),
    "to_i32": (to_i32(0, 0), lambda a, b: numerics.f32_to_i32(a).view(np.uint32)),
    "to_i32_floor": (to_i32(1, 0),
                     lambda a, b: numerics.f32_to_i32(a, np.floor).view(np.uint32)),
    "to_i32_trunc": (to_i32(0, 1),
                     lambda a, b: numerics.f32_to_i32(a, np.trunc).view(np.uint32)),
    "max": (lambda m, a, b: compare.f32_max(m, a, b, "f"), numerics.f32_max),
}


def values(seed):
    rng = np.random.default_rng(seed)
    corners = np.array(CORNERS, np.uint32)
    pairs = np.array(np.meshgrid(corners, corners), np.uint32).reshape(2, -1)
    bits = rng.integers(0, 1 << 32, (2, 3000), np.uint32)
    # Exponents of about 1 to 2**32, and significands with few bits: ties.
    some = bits & np.uint32(0x807FFFFF) | (
        rng.integers(120, 162, (2, 3000), np.uint32) << np.uint32(23))
    ties = some & ~np.uint32(0x7FFF) | np.uint32(0x8000)
    halves = numerics.i32_to_f32(rng.integers(-1 << 20, 1 << 20, (2, 3000)))
    halves = halves - (np.uint32(1 << 23) * (halves != 0))
    # Every bit of a significand alone, and all, at the ends of the exponents.
    alone = np.array([sign << 31 | exponent << 23 | fraction for sign in (0, 1)
                      for exponent in (0, 1, 2, 126, 127, 128, 253, 254, 255)
                      for fraction in (0, 0x7FFFFF, *(1 << bit for bit in range(23)))], np.uint32)
    alone = np.stack([alone, alone[::-1]])
    return np.concatenate([pairs, bits, some, ties, halves.astype(np.uint32), alone], axis=1)


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_function_equals_the_numerics(name):
    hardware, model = FUNCTIONS[name]
    a, b = values(len(name))
    m = Module()
    inputs = Signal(32, name="a"), Signal(32, name="b")
    output, operands = hardware(m, *inputs), Cat(inputs)
    results = []

    async def main(ctx):
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            ctx.set(operands, x | y << 32)
            results.append(ctx.get(output))

    World(m).run(main)
    expected = model(a, b)
    wrong = np.flatnonzero(np.array(results, np.uint32) != expected)
    assert not len(wrong), [f"{a[i]:08x} {b[i]:08x}: {results[i]:08x}, not {expected[i]:08x}"
                            for i in wrong[:5]]
