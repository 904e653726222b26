"""Rows that loads have not written yet, as the matrix unit sees them."""

import functools
import random
from collections import deque

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia_hw.commands import dma_layout
from celosia_hw.dma.progress import LoadProgress
from celosia_hw.follow import FOLLOWED, rises
from hw.simulation import World

CONFIG = TpuConfig("tiny", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=32, bus_bytes=8,
                   window=8)


@functools.cache
def world() -> World:
    """The component, made once."""
    return World(LoadProgress(CONFIG, CONFIG.window))


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_coming_until_they_are_written(seed):
    """Of the oldest loads, exactly the rows that are left; a load's first row comes late enough."""
    dut, rng = world().component, random.Random(seed)
    compared = 0

    async def bench(ctx):
        nonlocal compared
        loads = deque()  # of each: cycle in which it was taken, whether it is followed, rows left
        done = False
        for cycle in range(1500):
            taken = len(loads) < CONFIG.window and rng.random() < 0.3
            wrote = bool(loads) and cycle >= loads[0][0] + 6 and rng.random() < 0.8
            settled = [load for load in loads if load[0] + 3 <= cycle][:FOLLOWED]
            if len(settled) == min(len(loads), FOLLOWED) and not done:
                rows = {row for _, follow, left in settled if follow for row in left}
                found = set()
                for i in range(FOLLOWED):
                    span = dut.coming[i]
                    if ctx.get(span.valid):
                        found.update(range(ctx.get(span.low), ctx.get(span.high) + 1))
                assert found == rows, cycle
                compared += bool(rows)
            row, rows, follow = rng.randrange(40), rng.randint(1, 9), rng.random() < 0.8
            for name, value in (("taken", taken), ("row", row), ("rows", rows),
                                ("follow", follow), ("wrote", wrote), ("done", done)):
                ctx.set(getattr(dut, name), value)
            done = False
            if wrote:
                loads[0][2].popleft()
                if not loads[0][2]:
                    loads.popleft()
                    done = True
            if taken:
                loads.append((cycle, follow, deque(range(row, row + rows))))
            await ctx.tick()

    world().run(bench)
    assert compared > 300


@pytest.mark.parametrize(("change", "wanted"), [
    ({}, 1), ({"cols": 5}, 0), ({"cols": 1}, 1), ({"row_step": 2}, 0), ({"mem": Mem.ACC}, 0),
    ({"cols": 8}, 0), ({"rows": 1}, 1), ({"group_step": 3}, 1)])
def test_which_loads_write_row_after_row(change, wanted):
    command = {"mem": Mem.UB, "fmt": DmaFormat.I8, "row": 3, "addr": 0, "rows": 7, "cols": 4,
               "pitch": 4, "row_step": 1, "group_step": 0} | change
    layout = dma_layout(CONFIG)

    class Bench(wiring.Component):
        """`rises`, of a command."""

        i: data.View
        o: Signal

        def __init__(self):
            super().__init__({"i": In(layout), "o": Out(1)})

        def elaborate(self, platform):
            m = Module()
            m.d.comb += self.o.eq(rises(CONFIG, self.i))
            return m

    component = Bench()

    async def bench(ctx):
        ctx.set(component.i, command)
        assert ctx.get(component.o) == wanted

    World(component).run(bench)
