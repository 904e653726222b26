"""Requantise in the lane's stages, against its Python model: every shift, every bit."""

import numpy as np
import pytest
from amaranth.hdl import Module, Signal, signed

from celosia.arch.numerics import requant
from celosia_hw.vpu import product
from celosia_hw.vpu.product import PRODUCT_BITS
from celosia_hw.vpu.requant import coarse, edges, fine, finish
from hw.engine import Simulator

#: Zero point, bounds.
PARAMS = ((0, -128, 127), (-128, -128, 127), (127, -128, 127), (5, -3, 9))


def products():
    """Sums and multipliers whose products have one bit above the lowest 16, of each sign.

    The complement of a negative one has too.
    """
    for bit in range(46):
        multiplier = 1 << max(bit - 30, 0)
        for total in (1 << min(bit, 30), (1 << min(bit, 30)) + 1):
            yield total, multiplier
            yield -total, multiplier
    yield from ((0, 0xFFFF), (0x7FFFFFFF, 0xFFFF), (-1 << 31, 0xFFFF), (-1 << 31, 0x8000),
                (-1 << 31, 0x8001), (-1, 1))


@pytest.mark.parametrize("param", PARAMS)
def test_as_the_model_has_it(param):
    m, word, scale = Module(), Signal(signed(PRODUCT_BITS)), Signal(6)
    bounds = Signal(24, init=sum((value & 0xFF) << 8 * k for k, value in enumerate(param)))
    shifted = product.shift(m, word, scale[4:])["shifted"]
    quotient = fine(m, **coarse(m, word, shifted, scale[4:], scale[:4]))
    result = Signal(signed(8))
    m.d.comb += result.eq(
        finish(m, **quotient, **edges(bounds), param=bounds)["requantised"])
    cases = [(total, multiplier, shift) for total, multiplier in products()
             for shift in range(64)]
    found = []

    async def bench(ctx):
        for total, multiplier, shift in cases:
            ctx.set(word, total * multiplier)
            ctx.set(scale, shift)
            await ctx.delay(1e-9)
            found.append(ctx.get(result))

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    totals, multipliers, shifts = np.array(cases).T
    wanted = requant(totals.astype(np.int32), (multipliers | shifts << 16).astype(np.uint32),
                     np.int32(0), *param)
    assert found == wanted.tolist()
