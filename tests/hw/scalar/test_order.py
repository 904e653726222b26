"""Slots of a unit's instructions, entered and done at random, against a list."""

import random

import pytest

from celosia_hw.scalar.order import UnitOrder
from hw.engine import Simulator

WINDOW, COUNT = 8, 3


@pytest.mark.parametrize("seed", range(3))
def test_the_oldest_are_told_in_order(seed):
    rng = random.Random(seed)
    order = UnitOrder(WINDOW, COUNT)
    slots, numbers, number = [], {}, 0

    async def bench(ctx):
        nonlocal number
        for _ in range(300):
            enter = len(slots) < WINDOW and rng.random() < .6
            done = bool(slots) and rng.random() < .5
            free = rng.choice([slot for slot in range(WINDOW) if slot not in slots] or [0])
            ctx.set(order.enter, enter)
            ctx.set(order.slot, free)
            ctx.set(order.done, done)
            await ctx.tick()
            if done:
                slots.pop(0)
            if enter:
                slots.append(free)
                numbers[number % WINDOW] = free
                number += 1
            oldest = [ctx.get(order.oldest[k]) for k in range(COUNT)]
            assert oldest[:len(slots)] == slots[:COUNT]
            assert ctx.get(order.first) == 1 << oldest[0]
            for each, slot in numbers.items():
                ctx.set(order.number, each)
                assert ctx.get(order.numbered) == slot

    simulator = Simulator(order)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert number > 100
