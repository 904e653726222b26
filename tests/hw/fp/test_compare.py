"""Comparisons of words, against NumPy; the maximum is in test_convert.py."""

import numpy as np
import pytest
from amaranth.hdl import Const, Module, Signal

from celosia_hw.fp.compare import compare
from hw.engine import Simulator
from hw.vpu_bench import CORNERS


def pairs():
    rng = np.random.default_rng(0)
    near = [0, 1, 0x7FFFFF, 0x800000, 0x80000000, 0x80000001, 0x807FFFFF, 0x80800000, 0x7F800000,
            0x7F800001, 0xFF800000, 0xFFC00000, 0x3F800000, 0xBF800000, 0x3F800001, 0xBF800001]
    words = np.array([*near, *CORNERS], np.uint32)
    drawn = np.concatenate([rng.choice(words, (1500, 2)),
                            rng.integers(0, 1 << 32, (300, 2)).astype(np.uint32)])
    close = drawn[:400, 0] ^ rng.integers(0, 4, 400, np.uint32)
    return np.concatenate([drawn, np.stack([drawn[:400, 0], close], 1)])


@pytest.mark.parametrize("floating", [0, 1])
def test_compare(floating):
    m, a, b = Module(), Signal(32), Signal(32)
    found = compare(m, a, b, Const(floating, 1), "f")
    outputs = [Signal() for _ in range(4)]
    m.d.comb += [output.eq(getattr(found, name)) for output, name in zip(
        outputs, ("below", "a_zero", "b_zero", "nan"), strict=True)]
    seen, words = [], pairs()

    async def bench(ctx):
        for x, y in words.tolist():
            ctx.set(a, x)
            ctx.set(b, y)
            seen.append([ctx.get(output) for output in outputs])

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    below, a_zero, b_zero, nan = np.array(seen, bool).T
    if not floating:
        x, y = words.view(np.int32).T
        np.testing.assert_array_equal(below, x < y)
        assert not (a_zero | b_zero | nan).any()
        return
    values = words.view(np.float32)
    flushed = np.where(np.abs(values) < np.float32(2.0**-126), 0, values)
    x, y = flushed.T
    signs = words >> np.uint32(31)
    wanted = (x < y) | ((x == 0) & (y == 0) & (signs[:, 0] > signs[:, 1]))
    np.testing.assert_array_equal(nan, np.isnan(values).any(axis=1))
    np.testing.assert_array_equal(below[~nan], wanted[~nan])
    np.testing.assert_array_equal(a_zero[~nan], (x == 0)[~nan])
    np.testing.assert_array_equal(b_zero[~nan], (y == 0)[~nan])
