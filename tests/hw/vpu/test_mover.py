"""Rows through the mover, with gaps in what comes and stops in what goes."""

import random

import numpy as np
import pytest

from celosia_hw.vpu.mover import Mover
from celosia_hw.vpu.moves import MoveTarget
from hw.engine import Simulator
from hw.vpu_bench import WIDE_INT8

DIM = WIDE_INT8.dim
TILE, TURN, PLAIN = MoveTarget.TRANSPOSE, MoveTarget.TURN, "plain"


def rows_of(moves):
    """Rows with their tags; a tile stands for D rows. And what comes of them."""
    rng = np.random.default_rng(1)
    rows, expected = [], []
    for move in moves:
        words = rng.integers(0, 1 << 32, (DIM if move == TILE else 1, DIM), np.uint32)
        lane, bad = int(rng.integers(DIM)), int(rng.integers(2)) if move == PLAIN else 0
        if move == PLAIN:
            move, lane = TURN, 0
        rows += [(row, move, bad, lane) for row in words.tolist()]
        if move == TILE:
            words = words.T
        elif move == TURN:
            words = np.roll(words, -lane, axis=1)
        expected += [(row, bad) for row in words.tolist()]
    return rows, expected


def move_all(moves, offers=1.0, takes=1.0):
    """Cycle in which each row goes, after checking it; 0 is that in which the first one comes."""
    mover, rng = Mover(WIDE_INT8), random.Random(2)
    rows, expected = rows_of(moves)
    cycles = []

    async def source(ctx):
        for words, move, bad, lane in rows:
            while rng.random() >= offers:
                await ctx.tick()
            ctx.set(mover.i.payload, {"words": words,
                                      "tag": {"move": move, "bad": bad, "lane": lane}})
            ctx.set(mover.i.valid, 1)
            await ctx.tick().until(mover.i.ready)
            ctx.set(mover.i.valid, 0)

    async def sink(ctx):
        cycle = 0
        while len(cycles) < len(expected):
            ctx.set(mover.o.ready, rng.random() < takes)
            _, _, valid, ready, value = await ctx.tick().sample(
                mover.o.valid, mover.o.ready, mover.o.payload.as_value())
            if valid and ready:
                words = [value >> 32 * lane & 0xFFFFFFFF for lane in range(DIM)]
                assert (words, value >> 32 * DIM) == expected[len(cycles)], len(cycles)
                cycles.append(cycle)
            cycle += 1
            assert cycle < 20 * len(expected)

    simulator = Simulator(mover)
    simulator.add_clock(1e-6)
    simulator.add_testbench(source, background=True)
    simulator.add_testbench(sink)
    simulator.run()
    return cycles


@pytest.mark.parametrize(("offers", "takes"), [(1, 1), (0.5, 1), (1, 0.4), (0.6, 0.6)])
def test_rows_leave_in_order(offers, takes):
    rng = random.Random(3)
    move_all(rng.choices([TILE, TURN, PLAIN], k=60), offers, takes)


def test_plain_and_turned_rows_pass_at_once():
    assert move_all([PLAIN, TURN] * 8) == list(range(16))


def test_tiles_follow_one_another_without_gaps():
    cycles = move_all([TILE] * 10)
    assert cycles == list(range(DIM + 1, 11 * DIM + 1))


def test_what_it_costs_to_switch():
    cycles = move_all([PLAIN, TILE, PLAIN, TURN])
    first = 1 + DIM + 1
    assert cycles == [0, *range(first, first + DIM), first + DIM, first + DIM + 1]
