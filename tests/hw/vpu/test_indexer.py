"""Indexes in, walks and places out, with gaps and stops everywhere."""

import random

import pytest

from celosia_hw.memory.beats import RowKind
from celosia_hw.vpu.indexer import Indexer
from hw.engine import Simulator
from hw.vpu_bench import WIDE_INT8

DIM = WIDE_INT8.dim
ROW_MASK = WIDE_INT8.ub_rows - 1


def random_tables(rng):
    """Commands (scatter, kind, base, rows, indexes) and their rows of indexes."""
    tables = []
    for _ in range(40):
        rows = rng.choice([1, 5, 8, 65535])
        limits = [rows, rows + 2, 1 << 32] if rng.random() < 0.3 else [rows]
        indexes = [[rng.randrange(rng.choice(limits)) for _ in range(DIM)]
                   for _ in range(rng.randint(1, 3))]
        tables.append(((rng.randrange(2), rng.choice(list(RowKind)[:3]), rng.randrange(32), rows,
                        rng.randint(1, DIM)), indexes))
    return tables


def results_of(tables):
    results, detail = [], 0
    for (scatter, kind, base, rows, count), lines in tables:
        for index in (index for line in lines for index in line[:count]):
            bad = index >= rows
            detail = detail or (index if bad else 0)
            results.append((scatter, None if scatter else RowKind.ZERO if bad else kind,
                            None if bad else base + index & ROW_MASK, int(bad)))
    return results, detail


def index_all(tables, offers=1.0, takes=1.0):
    """What comes of the tables' indexes, the cycle of each, and the detail."""
    indexer, rng = Indexer(WIDE_INT8), random.Random(6)
    wanted = len(results_of(tables)[0])
    found, cycles, detail = [], [], []

    async def commands(ctx):
        for (scatter, kind, base, rows, count), _ in tables:
            ctx.set(indexer.i.payload, {"scatter": scatter, "kind": kind, "base": base,
                                        "rows": rows, "indexes": count})
            ctx.set(indexer.i.valid, 1)
            await ctx.tick().until(indexer.i.ready)
        ctx.set(indexer.i.valid, 0)

    async def rows(ctx):
        lines = [(line, i == len(lines)) for _, lines in tables for i, line in enumerate(lines, 1)]
        while lines:
            line, last = lines[0]
            ctx.set(indexer.index.valid, rng.random() < offers)
            ctx.set(indexer.index.payload, {"word": line[ctx.get(indexer.lane)], "last": last})
            _, _, valid, ready, over = await ctx.tick().sample(
                indexer.index.valid, indexer.index.ready, indexer.over)
            if valid and ready and over:
                lines.pop(0)
        ctx.set(indexer.index.valid, 0)

    async def sink(ctx):
        cycle = 0
        walk, place = indexer.walk, indexer.place
        while len(found) < wanted:
            for port in (walk, place):
                ctx.set(port.ready, rng.random() < takes)
            gathering = ctx.get(indexer.gathering)
            for scatter, port in enumerate((walk, place)):
                if not (ctx.get(port.valid) and ctx.get(port.ready)):
                    continue
                assert gathering != scatter
                if scatter:
                    kind, row, bad = None, ctx.get(place.payload.row), ctx.get(place.payload.bad)
                else:
                    payload = ctx.get(walk.payload)
                    assert payload.ones == 0b111
                    kind, row, bad = payload.kind, payload.stream.base, payload.tag.bad
                found.append((scatter, kind, None if bad else row, bad))
                cycles.append(cycle)
            await ctx.tick()
            cycle += 1
            assert cycle < 30 * wanted
        detail.append(ctx.get(indexer.detail))

    simulator = Simulator(indexer)
    simulator.add_clock(1e-6)
    simulator.add_testbench(commands, background=True)
    simulator.add_testbench(rows, background=True)
    simulator.add_testbench(sink)
    simulator.run()
    return found, cycles, detail[0]


@pytest.mark.parametrize(("offers", "takes"), [(1, 1), (0.5, 1), (1, 0.5), (0.7, 0.7)])
def test_results_are_in_order_and_the_first_bad_index_is_kept(offers, takes):
    tables = random_tables(random.Random(5))
    found, _, detail = index_all(tables, offers, takes)
    assert (found, detail) == results_of(tables)
    assert detail


def test_an_index_a_cycle_and_one_cycle_between_commands():
    table = ((0, RowKind.ACC, 3, 8, DIM), [[1, 2, 3, 4]] * 3)
    _, cycles, _ = index_all([table, table])
    gaps = [after - before for before, after in zip(cycles, cycles[1:], strict=False)]
    assert gaps == [2 if i == 3 * DIM - 1 else 1 for i in range(6 * DIM - 1)]
