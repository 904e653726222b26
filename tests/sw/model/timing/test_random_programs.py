"""Cycles of programs at random are as they were, in memories of every kind.

How near they are to the RTL is a test of the RTL, within some per cent: that leaves room for what
is wrong in a few places only. Where a change of the estimate is meant, or programs are others (see
tests/sw/sim/test_seeds.py), the new numbers are for review.
"""

from dataclasses import replace

import pytest

from celosia.arch.config import preset
from celosia.model import Machine, Timing
from celosia_sim.randprog import random_program

CHIPS = {name: preset(name) for name in ("pico", "nano", "edge", "core4", "core", "v2")}
CHIPS |= {"edge, folded": replace(CHIPS["edge"], lanes=2),
          "core, folded": replace(CHIPS["core"], lanes=4),
          "core, narrow": replace(CHIPS["core"], bus_bytes=4, window=2)}
MEMORIES = {
    "fast": Timing(read_latency=10, write_latency=1), "usual": Timing(),
    "few bursts": Timing(read_latency=90, outstanding=2, bank_conflicts=False, ahead=5),
    "SDRAM": Timing(read_latency=14, outstanding=3, beat_cycles=2, shared=True, turn_cycles=5.5,
                    page_bytes=1024, page_cycles=6, refresh_interval=500, refresh_cycles=20)}
SEEDS = range(3)
#: Cycles by chip, memory and seed.
CYCLES = {
    "pico": {
        "fast": [1008, 1896, 3281],
        "usual": [1170, 2088, 3379],
        "few bursts": [2342, 4940, 6085],
        "SDRAM": [2229, 3728, 6970],
    },
    "nano": {
        "fast": [1291, 1937, 7011],
        "usual": [1419, 2086, 7207],
        "few bursts": [3512, 3170, 11122],
        "SDRAM": [2843, 4110, 16539],
    },
    "edge": {
        "fast": [1630, 2400, 2005],
        "usual": [1747, 2667, 2232],
        "few bursts": [4840, 4615, 4072],
        "SDRAM": [2466, 4375, 4989],
    },
    "core4": {
        "fast": [1423, 1140, 2480],
        "usual": [1545, 1586, 2636],
        "few bursts": [2165, 3623, 5971],
        "SDRAM": [2513, 1876, 5922],
    },
    "core": {
        "fast": [1383, 799, 917],
        "usual": [1491, 875, 1025],
        "few bursts": [10892, 7299, 8485],
        "SDRAM": [2371, 1581, 1851],
    },
    "v2": {
        "fast": [5871, 4397, 5375],
        "usual": [6492, 4469, 5555],
        "few bursts": [23353, 6542, 8352],
        "SDRAM": [8423, 5008, 6113],
    },
    "edge, folded": {
        "fast": [2161, 2578, 2095],
        "usual": [2283, 2843, 2286],
        "few bursts": [5372, 4889, 4110],
        "SDRAM": [2980, 4679, 5081],
    },
    "core, folded": {
        "fast": [2506, 1483, 1601],
        "usual": [2614, 1544, 1709],
        "few bursts": [11922, 7836, 9077],
        "SDRAM": [3481, 2239, 2531],
    },
    "core, narrow": {
        "fast": [3897, 5703, 4281],
        "usual": [4023, 6153, 4438],
        "few bursts": [9684, 9245, 12270],
        "SDRAM": [7569, 8420, 8349],
    },
}


@pytest.mark.parametrize("chip", CHIPS)
def test_cycles_are_as_they_were(chip):
    programs = [random_program(CHIPS[chip], seed, 100) for seed in SEEDS]
    found = {name: [program.run(Machine(CHIPS[chip], timing=timing)).cycles
                    for program in programs] for name, timing in MEMORIES.items()}
    assert found == CYCLES[chip]
