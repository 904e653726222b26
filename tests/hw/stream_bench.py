"""Elements through a component with a stream in and a stream out."""

import numpy as np

from hw.engine import Simulator


def pass_through(component, offer: float, take: float) -> tuple[int, int]:
    """Send 100 elements, offered and taken with these chances a cycle; they must come in order.

    Return the most that were inside, and the cycles.
    """
    rng = np.random.default_rng(4)
    sent = list(range(1000, 1100))
    received, most, cycles = [], 0, 0

    async def bench(ctx):
        nonlocal most, cycles
        waiting = list(sent)
        offering = False
        while len(received) < len(sent):
            offering = offering or (waiting and rng.random() < offer)
            ctx.set(component.i.valid, bool(offering))
            if offering:
                ctx.set(component.i.payload, waiting[0])
            ctx.set(component.o.ready, rng.random() < take)
            _, _, i_ready, o_valid, o_ready, payload = await ctx.tick().sample(
                component.i.ready, component.o.valid, component.o.ready, component.o.payload)
            if offering and i_ready:
                waiting.pop(0)
                offering = False
            if o_valid and o_ready:
                received.append(payload)
            most = max(most, len(sent) - len(waiting) - len(received))
            cycles += 1

    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert received == sent
    return most, cycles
