# amaranth: UnusedElaboratable=no
import numpy as np
import pytest
from amaranth.sim import Simulator

from celosia_hw.queue import Queue


@pytest.mark.parametrize("depth", [2, 8])
@pytest.mark.parametrize(("offer", "take"), [(1, 1), (0.3, 1), (1, 0.3), (0.5, 0.5)])
def test_order_and_rate(depth, offer, take):
    queue, rng = Queue(16, depth), np.random.default_rng(4)
    sent = list(range(1000, 1100))
    received, most, cycles = [], 0, 0

    async def bench(ctx):
        nonlocal most, cycles
        waiting = list(sent)
        offering = False
        while len(received) < len(sent):
            offering = offering or (waiting and rng.random() < offer)
            ctx.set(queue.i.valid, bool(offering))
            if offering:
                ctx.set(queue.i.payload, waiting[0])
            ctx.set(queue.o.ready, rng.random() < take)
            _, _, i_ready, o_valid, o_ready, payload = await ctx.tick().sample(
                queue.i.ready, queue.o.valid, queue.o.ready, queue.o.payload)
            if offering and i_ready:
                waiting.pop(0)
                offering = False
            if o_valid and o_ready:
                received.append(payload)
            most = max(most, len(sent) - len(waiting) - len(received))
            cycles += 1

    simulator = Simulator(queue)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert received == sent
    assert most <= depth
    if take < offer:
        assert most == depth
    if offer == take == 1:
        assert cycles == len(sent) + 1


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_depth_is_checked(depth):
    message = f"^depth must be a power of two, at least 2, not {depth}$"
    with pytest.raises(ValueError, match=message):
        Queue(8, depth)
