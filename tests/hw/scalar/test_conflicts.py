"""Which instructions conflict, against sets of rows and bytes."""

import itertools
import random
from dataclasses import replace

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.isa import LinkUnit, Mem, Unit
from celosia_hw.scalar.conflicts import READ_SPANS, _conflict, comparators, entry_layout
from celosia_hw.scalar.dispatch import PortUnit, issue_units
from hw.simulation import World

CHIP = TpuConfig("tiny", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8)
CHIPS = {"alone": CHIP, "linked": replace(CHIP, ports=2)}


class Pair(wiring.Component):
    """`_conflict`, of two entries."""

    def __init__(self, config):
        self._config = config
        layout = entry_layout(config)
        super().__init__({"new": In(layout), "old": In(layout), "o": Out(1)})

    def elaborate(self, platform):
        m, unused = Module(), Signal()
        m.d.sync += unused.eq(0)
        m.d.comb += self.o.eq(_conflict(self._config, self.new, self.old))
        return m


def is_send(unit):
    return isinstance(unit, PortUnit) and unit.kind is LinkUnit.TX


def span(rng, used):
    low = rng.randrange(4)
    return {"used": used, "mem": rng.choice(list(Mem)), "low": low,
            "high": low + rng.choice((0, 0, 1, 2))}


def entry(rng, unit):
    """An instruction of a unit; few have spans beside the first, so that few conflict."""
    low = rng.randrange(0xFFFFFFF0, 0xFFFFFFF8)
    return {"unit": unit, "first": span(rng, rng.random() < 0.9),
            "reads": [span(rng, unit in (Unit.MXU, Unit.VPU) and rng.random() < 0.4)
                      for _ in range(READ_SPANS)],
            "low": low, "high": low + rng.choice((0, 1, 3))}


def rows(*spans):
    return {(each["mem"], row) for each in spans if each["used"]
            for row in range(each["low"], each["high"] + 1)}


def touched(item):
    """Rows that are written, rows that are read, bytes of external memory."""
    only_reads = item["unit"] == Unit.STORE or is_send(item["unit"])
    first, reads = rows(item["first"]), rows(*item["reads"])
    return (set() if only_reads else first, reads | first if only_reads else reads,
            {*range(item["low"], item["high"] + 1)}
            if item["unit"] in (Unit.LOAD, Unit.STORE) else set())


@pytest.mark.parametrize("name", CHIPS)
def test_instructions_conflict_where_one_writes_what_the_other_touches(name):
    config, rng, found = CHIPS[name], random.Random(1), set()
    world = World(Pair(config))
    dut = world.component
    # One unit has its instructions done in order, but for the vector unit's.
    pairs = [(a, b) for a, b in itertools.product(issue_units(config), repeat=2)
             if a != b or a == Unit.VPU]

    async def bench(ctx):
        for a, b in pairs * (12 if name == "alone" else 4):
            new, old = entry(rng, a), entry(rng, b)
            for port, item in ((dut.new, new), (dut.old, old)):
                ctx.set(port, item | {"unit": int(item["unit"])})
            (put_a, get_a, bytes_a), (put_b, get_b, bytes_b) = touched(new), touched(old)
            wanted = bool(put_a & (put_b | get_b) or get_a & put_b or bytes_a & bytes_b)
            assert ctx.get(dut.o) == wanted, (new, old)
            found.add((a, b, wanted))

    world.run(bench)
    assert len({each[:2] for each in found if each[2]}) > len(pairs) // 2
    assert len({each[:2] for each in found if not each[2]}) > len(pairs) // 2


@pytest.mark.parametrize(("window", "slots"), [
    (4, [range(0, 4)]), (8, [range(0, 8)]), (16, [range(0, 8), range(8, 16)])])
def test_slots_of_a_comparator(window, slots):
    assert comparators(replace(CHIP, window=window)) == slots
