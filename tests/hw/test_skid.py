import pytest
from amaranth.hdl import Module
from amaranth.sim import Simulator

from celosia_hw.skid import SkidBuffer
from hw.stream_bench import pass_through


@pytest.mark.parametrize(("offer", "take"), [(1, 1), (0.3, 1), (1, 0.3), (0.5, 0.5)])
def test_order_and_rate(offer, take):
    most, cycles = pass_through(SkidBuffer(16), offer, take)
    assert most <= 1
    if take < offer:
        assert most == 1
    if offer == take == 1:
        assert cycles == 100


def test_ready_is_out_of_a_flip_flop():
    m = Module()
    m.submodules.skid = skid = SkidBuffer(4)

    async def bench(ctx):
        ctx.set(skid.i.valid, 1)
        await ctx.tick()
        assert ctx.get(skid.i.ready) == 0
        ctx.set(skid.o.ready, 1)
        assert ctx.get(skid.i.ready) == 0
        await ctx.tick()
        assert ctx.get(skid.i.ready) == 1

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
