"""The stages of the multiplier with nothing between them, against Python's integers."""

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import data

from celosia_hw.vpu import product
from hw.engine import Simulator
from hw.vpu_bench import BOTH, INT8

EDGES = (0, 1, 2, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF0000, 0x00FFFFFF)


def words(seed, count=60):
    return [*EDGES, *map(int, np.random.default_rng(seed).integers(0, 1 << 32, count))]


def evaluate(config, rows):
    """Return factor, sum and shifted sum of rows: word, top, b, and what is set of the fields."""
    m = Module()
    word, top = Signal(32), Signal()
    b, step = Signal(32), Signal(data.StructLayout({"power": 1, "down": 1, "whole": 1}))
    y = product.factor(m, b, step)["y"]
    total = Signal(product.PRODUCT_BITS)
    exact = product.total(m, config, **product.partial(m, config, word, top, y))["exact"]
    m.d.comb += total.eq(exact)
    shifted = product.shift(m, total, **product.distance(b, step))["shifted"]
    outputs = [Signal(32), total, Signal(33)]
    m.d.comb += [outputs[0].eq(y), outputs[2].eq(shifted)]
    found = []

    async def bench(ctx):
        for value, sign, factor, fields in rows:
            ctx.set(word, value)
            ctx.set(top, sign)
            ctx.set(b, factor)
            ctx.set(step, {name: name in fields for name in ("power", "down", "whole")})
            found.append([ctx.get(output) for output in outputs])

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    return found


def pairs(seed):
    rng = np.random.default_rng(seed)
    return [(word, int(rng.choice(words(seed)))) for word in words(seed)]


@pytest.mark.parametrize("config", [INT8, BOTH], ids=lambda config: config.name)
def test_products_of_words(config):
    rows = [(word, word >> 31, b, {"whole"}) for word, b in pairs(1)]
    for (word, _, b, _), (y, total, _) in zip(rows, evaluate(config, rows), strict=True):
        assert y == b
        assert total & 0xFFFFFFFF == word * b & 0xFFFFFFFF


@pytest.mark.parametrize("config", [INT8, BOTH], ids=lambda config: config.name)
def test_products_of_signed_33_bits_and_16(config):
    rows = [(word, sign, b, set()) for sign in (0, 1) for word, b in pairs(2)]
    for (word, sign, b, _), (y, total, _) in zip(rows, evaluate(config, rows), strict=True):
        assert y == b & 0xFFFF
        assert total == (word - (sign << 32)) * y & (1 << product.PRODUCT_BITS) - 1


def test_products_of_significands():
    rows = [(word & 0xFFFFFF, 0, b & 0xFFFFFF, {"whole"}) for word, b in pairs(3)]
    for (word, _, b, _), (_, total, _) in zip(rows, evaluate(BOTH, rows), strict=True):
        assert total & (1 << 48) - 1 == word * b


@pytest.mark.parametrize("config", [INT8, BOTH], ids=lambda config: config.name)
def test_shifts(config):
    left = [(word, word >> 31, n | 0xABCD00E0, {"power"}) for word in words(4, 9)
            for n in range(32)]
    for (word, _, n, _), (y, total, _) in zip(left, evaluate(config, left), strict=True):
        assert y == 1 << n % 32
        assert total & 0xFFFFFFFF == word << n % 32 & 0xFFFFFFFF
    right = [(word, sign, n | 0xABCD00E0, {"power", "down"}) for word in words(5, 9)
             for sign in (0, 1) for n in range(32)]
    for (word, sign, n, _), (_, _, shifted) in zip(right, evaluate(config, right), strict=True):
        assert shifted == 2 * (word - (sign << 32)) >> n % 32 & (1 << 33) - 1
