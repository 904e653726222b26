import pytest
from amaranth.hdl import Module, Signal

from celosia_hw.vpu.moves import pick, rotate
from hw.engine import Simulator


@pytest.mark.parametrize("dim", [2, 8])
def test_rotate_and_pick(dim):
    words = [0x80000000 + 7 * lane for lane in range(dim)]
    row, amount = Signal(32 * dim), Signal(range(dim))
    m = Module()
    turned, picked = rotate(m, row, amount, "turned"), pick(m, row, amount, "picked")
    seen = []

    async def bench(ctx):
        ctx.set(row, sum(word << 32 * lane for lane, word in enumerate(words)))
        for k in range(dim):
            ctx.set(amount, k)
            value = ctx.get(turned)
            seen.append([value >> 32 * lane & 0xFFFFFFFF for lane in range(dim)])
            assert ctx.get(picked) == words[k]

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == [words[k:] + words[:k] for k in range(dim)]
