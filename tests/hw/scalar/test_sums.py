"""The last addresses of streams, a term a cycle, against Python's integers."""

import random

import pytest

from celosia_hw.memory.ports import row_bits
from celosia_hw.scalar.sums import StreamSum
from hw.engine import Simulator
from hw.vpu_bench import BOTH

MASK = (1 << 32) - 1
TAGS = {"index": 3, "external": 1, "mem": 1, "stream": 1, "same_step": 1}


def number(rng, bits):
    """A number of at most so many bits, often at an edge or with few of them."""
    return rng.choice((0, 1, (1 << bits) - 1, 1 << bits - 1, rng.getrandbits(bits),
                       rng.getrandbits(rng.randrange(1, bits + 1))))


def streams_of(rng, count=60):
    """Streams: tags, a base, and terms (factor, step, zero)."""
    return [({name: rng.randint(0, most) for name, most in TAGS.items()}, number(rng, 32),
             [(number(rng, 16), number(rng, 32), rng.random() < 0.2)
              for _ in range(rng.randint(1, 4))]) for _ in range(count)]


@pytest.mark.parametrize("gaps", [0, 0.4])
def test_sums(gaps):
    rng = random.Random(int(10 * gaps))
    sums, streams = StreamSum(BOTH), streams_of(rng)
    terms = [(tags, base, term, i == 0, i == len(terms) - 1) for tags, base, terms in streams
             for i, term in enumerate(terms)]
    products, found, history = [], [], []

    async def bench(ctx):
        queue = list(terms)
        for _ in range(4 * len(terms) + 8):
            given = queue.pop(0) if queue and rng.random() >= gaps else None
            ctx.set(sums.valid, given is not None)
            history.append(given)
            if given is not None:
                tags, base, (factor, step, zero), first, final = given
                for name, value in {**tags, "base": base if first else number(rng, 32),
                                    "factor": factor, "step": step, "zero": zero, "first": first,
                                    "final": final}.items():
                    ctx.set(getattr(sums, name), value)
            await ctx.tick()
            assert ctx.get(sums.busy) == any(each is not None for each in history[-2:])
            if len(history) > 1 and history[-2] is not None:
                products.append(ctx.get(sums.product))
            if ctx.get(sums.o_valid):
                found.append((ctx.get(sums.address), ctx.get(sums.over),
                              {name: ctx.get(getattr(sums.o, name)) for name in TAGS}))

    simulator = Simulator(sums)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert products == [0 if zero else factor * (step & 0xFFFF)
                        for _, _, (factor, step, zero), _, _ in terms]
    wanted = []
    for tags, base, parts in streams:
        total = base + sum(0 if zero else factor * step for factor, step, zero in parts)
        wanted.append((total & MASK, int(total > MASK), tags))
    assert found == wanted


@pytest.mark.parametrize(("freeze", "whole", "kept"), [(1, 0, 5), (1, 1, 77), (0, 0, 77)])
def test_a_sum_is_kept_and_cleared(freeze, whole, kept):
    sums = StreamSum(BOTH)

    async def add(ctx, base):
        ctx.set(sums.valid, 1)
        ctx.set(sums.first, 1)
        ctx.set(sums.final, 1)
        ctx.set(sums.base, base)
        await ctx.tick()
        ctx.set(sums.valid, 0)
        await ctx.tick().repeat(2)
        assert ctx.get(sums.o_valid) == 1
        assert ctx.get(sums.o.base) == base & (1 << row_bits(BOTH)) - 1

    async def bench(ctx):
        await add(ctx, 5)
        ctx.set(sums.freeze, freeze)
        ctx.set(sums.whole, whole)
        await add(ctx, 77)
        assert ctx.get(sums.address) == kept
        ctx.set(sums.clear, 1)
        await ctx.tick()
        assert ctx.get(sums.address) == 0

    simulator = Simulator(sums)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
