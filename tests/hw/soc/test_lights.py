import pytest
from amaranth.hdl import Module, Signal

from celosia_hw.soc.lights import add_lights
from hw.engine import Simulator


@pytest.mark.parametrize(("clock_hz", "quarter"), [(4, 2), (8, 2), (20, 5), (23, 5)])
def test_lights(clock_hz, quarter):
    """The heartbeat turns in the first cycle and each quarter of a second; a cycle with work is
    seen until the second turn after it.
    """
    m, active, heartbeat, busy = Module(), Signal(), Signal(), Signal()
    add_lights(m, clock_hz, active, heartbeat, busy)
    work = {0, 3 * quarter, 3 * quarter + 1, 10 * quarter + 1}
    seen = []

    async def bench(ctx):
        for cycle in range(14 * quarter):
            ctx.set(active, cycle in work)
            await ctx.tick()
            seen.append((ctx.get(heartbeat), ctx.get(busy)))

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()

    turns = {cycle for cycle in range(14 * quarter) if cycle % quarter == 0}
    beat, left, wanted = 0, 0, []
    for cycle in range(14 * quarter):
        beat ^= cycle in turns
        left = 2 if cycle in work else left - 1 if left and cycle in turns else left
        wanted.append((beat, int(left > 0)))
    assert seen == wanted
