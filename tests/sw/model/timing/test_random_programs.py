"""Cycles of programs at random are as they were, in memories of every kind.

How near they are to the RTL is a test of the RTL, within some per cent: that leaves room for what
is wrong in a few places only. Where a change of the estimate is meant, or programs are others (see
tests/sw/sim/test_seeds.py), the new numbers are for review.
"""

from dataclasses import replace

import pytest

from celosia.arch.config import preset
from celosia.model import Machine, Timing, control
from celosia.model.timing import Timeline, cost, estimator
from celosia_sim.randprog import random_program

CHIPS = {name: preset(name) for name in ("pico", "nano", "edge", "core4", "core", "v2")}
CHIPS |= {"nano, folded": replace(CHIPS["nano"], lanes=2),
          "edge, folded": replace(CHIPS["edge"], lanes=2),
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
    "nano, folded": {
        "fast": [1329, 1968, 7033],
        "usual": [1449, 2108, 7248],
        "few bursts": [3557, 3221, 11126],
        "SDRAM": [2857, 4134, 16557],
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


#: Of all commands, by chip and memory: the sum of each entry of `Cost`.
COSTS = {
    "pico": {
        "fast": [1480, 671, 2491, 74, 3, 49.867, 38, 138.733, 305, 471, 0.0],
        "usual": [1480, 671, 3211, 74, 3, 49.867, 38, 138.733, 305, 597, 0.0],
        "few bursts": [1480, 7789, 9655, 74, 3, 49.867, 214, 128.436, 305, 597, 0.0],
        "SDRAM": [1480, 1245, 3023, 74, 3, 205.033, 47, 138.243, 824, 471, 19.983],
    },
    "nano": {
        "fast": [1432, 1073, 3480, 140, 0, 143.939, 31, 135.0, 705, 892, 0.0],
        "usual": [1432, 1073, 6095, 140, 0, 143.939, 31, 135.0, 705, 969, 0.0],
        "few bursts": [1432, 12102, 14792, 140, 0, 143.939, 336, 90.532, 705, 969, 0.0],
        "SDRAM": [1432, 2399, 4654, 140, 0, 542.237, 59, 134.107, 1955, 892, 26.813],
    },
    "edge": {
        "fast": [1924, 1475, 4722, 448, 0, 84.0, 57, 177.0, 716, 549, 0.0],
        "usual": [1924, 1475, 6048, 448, 0, 84.0, 57, 177.0, 716, 633, 0.0],
        "few bursts": [1924, 9713, 13366, 448, 0, 84.0, 453, 154.979, 716, 633, 0.0],
        "SDRAM": [1924, 2544, 5713, 448, 0, 297.044, 95, 176.154, 1719, 549, 34.254],
    },
    "core4": {
        "fast": [1634, 810, 3536, 136, 10, 94.333, 45, 152.667, 347, 777, 0.0],
        "usual": [1634, 810, 5195, 136, 10, 94.333, 45, 152.667, 347, 924, 0.0],
        "few bursts": [1634, 8660, 11761, 136, 10, 94.333, 395, 127.101, 347, 924, 0.0],
        "SDRAM": [1634, 1656, 4289, 136, 10, 381.147, 80, 153.186, 1132, 777, 31.167],
    },
    "core": {
        "fast": [1611, 1810, 5241, 288, 0, 125.833, 26, 150.25, 1002, 851, 0.0],
        "usual": [1611, 1810, 6787, 288, 0, 125.833, 26, 150.25, 1002, 1047, 0.0],
        "few bursts": [1611, 25694, 29356, 288, 0, 125.833, 202, 127.09, 1002, 1047, 0.0],
        "SDRAM": [1611, 3781, 7128, 288, 0, 479.49, 36, 150.117, 2711, 851, 35.246],
    },
    "v2": {
        "fast": [1874, 6779, 21741, 5248, 516, 171.857, 19, 169.0, 1608, 704, 0.0],
        "usual": [1874, 6779, 23083, 5248, 516, 171.857, 19, 169.0, 1608, 858, 0.0],
        "few bursts": [1874, 29277, 44772, 5248, 516, 171.857, 190, 149.739, 1608, 858, 0.0],
        "SDRAM": [1874, 9987, 24883, 5248, 516, 668.307, 36, 169.0, 4816, 704, 0.0],
    },
    "nano, folded": {
        "fast": [1432, 1317, 4050, 140, 0, 143.939, 31, 135.0, 705, 903, 0.0],
        "usual": [1432, 1317, 6665, 140, 0, 143.939, 31, 135.0, 705, 980, 0.0],
        "few bursts": [1432, 12341, 15351, 140, 0, 143.939, 336, 90.532, 705, 980, 0.0],
        "SDRAM": [1432, 2643, 5224, 140, 0, 542.237, 59, 134.107, 1955, 903, 26.813],
    },
    "edge, folded": {
        "fast": [1924, 2639, 6486, 448, 0, 84.0, 57, 177.0, 716, 561, 0.0],
        "usual": [1924, 2639, 7812, 448, 0, 84.0, 57, 177.0, 716, 645, 0.0],
        "few bursts": [1924, 10853, 15099, 448, 0, 84.0, 453, 154.979, 716, 645, 0.0],
        "SDRAM": [1924, 3708, 7477, 448, 0, 297.044, 95, 176.154, 1719, 561, 34.254],
    },
    "core, folded": {
        "fast": [1611, 3283, 9430, 288, 0, 125.833, 26, 150.25, 1002, 879, 0.0],
        "usual": [1611, 3283, 10976, 288, 0, 125.833, 26, 150.25, 1002, 1075, 0.0],
        "few bursts": [1611, 27152, 33506, 288, 0, 125.833, 202, 127.09, 1002, 1075, 0.0],
        "SDRAM": [1611, 5254, 11317, 288, 0, 479.49, 36, 150.117, 2711, 879, 35.246],
    },
    "core, narrow": {
        "fast": [2416, 7665, 12894, 512, 289, 753.0, 62, 230.0, 5929, 978, 0.0],
        "usual": [2416, 7665, 14301, 512, 289, 753.0, 62, 230.0, 5929, 1251, 0.0],
        "few bursts": [2416, 24994, 30732, 512, 289, 753.0, 266, 214.09, 5929, 1251, 0.0],
        "SDRAM": [2416, 14800, 19966, 512, 289, 1899.91, 113, 230.0, 13064, 978, 28.22],
    },
}


@pytest.fixture
def commands(monkeypatch):
    """Return a call that runs a program and gives the tensor instructions of it."""
    def call(program, config):
        found = []
        monkeypatch.setattr(estimator, "cost", lambda command, *rest: (
            found.append(command), cost(command, *rest))[1])
        program.run(Machine(config))
        return found

    return call


def sums(found, config, timing):
    each = zip(*(cost(command, config, timing) for command in found), strict=True)
    return [round(sum(column), 3) for column in each]


@pytest.mark.parametrize("chip", CHIPS)
def test_costs_of_commands_are_as_they_were(commands, chip):
    """By themselves: in a program much is hidden by what is slower."""
    found = [command for seed in SEEDS
             for command in commands(random_program(CHIPS[chip], seed, 100), CHIPS[chip])]
    assert {name: sums(found, CHIPS[chip], timing)
            for name, timing in MEMORIES.items()} == COSTS[chip]


#: Of what is noted of all instructions, by chip and memory: the sum of each column.
NOTED = {
    "pico": {
        "fast": [520, 1234, 376, 183914, 188161, 120, 59, 181032, 415, 1089, 7221,
                 262, 185252, 578, 291],
        "SDRAM": [520, 1234, 309, 393928, 401786, 125, 172, 389021, 1326, 2574, 7221,
                  248, 397434, 578, 291],
    },
    "nano": {
        "fast": [649, 2648, 1464, 294131, 328370, 184, 640, 286716, 7300, 8373, 6075,
                 426, 317590, 629, 206],
        "SDRAM": [649, 2648, 1902, 694123, 777116, 256, 1328, 673109, 18801, 21200,
                  6075, 482, 753661, 629, 206],
    },
    "edge": {
        "fast": [1143, 5892, 2026, 213782, 239583, 112, -91, 209984, 1894, 3369,
                 8897, 506, 232967, 1221, 370],
        "SDRAM": [1143, 5892, 2161, 442640, 506071, 127, -60, 435915, 5673, 8217,
                  8897, 528, 494685, 1221, 370],
    },
    "core4": {
        "fast": [609, 2663, 1943, 164659, 184872, 126, -58, 161401, 1776, 2596, 9094,
                 531, 179550, 764, 282],
        "SDRAM": [609, 2663, 2040, 390081, 446470, 136, 161, 383484, 6107, 7773, 9094,
                  543, 436064, 764, 282],
    },
    "core": {
        "fast": [1111, 28739, 3907, 73546, 104168, 156, -55, 71036, 20, 1830, 8359,
                 744, 98907, 1609, 295],
        "SDRAM": [1111, 28739, 3902, 164333, 239106, 176, 81, 157266, 238, 4019, 8359,
                  743, 231740, 1609, 295],
    },
    "v2": {
        "fast": [6554, 202271, 4291, 253492, 379641, 185, 891, 244803, 0, 7295, 6097,
                 845, 357384, 5451, 349],
        "SDRAM": [6554, 202271, 4291, 418836, 603563, 197, 1014, 402235, 51, 10554,
                  6097, 869, 578113, 5451, 349],
    },
    "nano, folded": {
        "fast": [649, 2648, 1710, 294911, 329815, 190, 710, 287463, 7323, 8640, 6075,
                 459, 318442, 629, 206],
        "SDRAM": [649, 2648, 2109, 694720, 778139, 259, 1375, 673553, 18784, 21427,
                  6075, 510, 754131, 629, 206],
    },
    "edge, folded": {
        "fast": [1143, 5892, 4583, 222081, 260343, 155, 521, 217798, 1812, 4451,
                 8897, 787, 252045, 1221, 370],
        "SDRAM": [1143, 5892, 4622, 458464, 535055, 164, 569, 450995, 5701, 9409,
                  8897, 788, 521877, 1221, 370],
    },
    "core, folded": {
        "fast": [1111, 28739, 3909, 96759, 159531, 207, 756, 92703, 30, 3313, 8359,
                 741, 150071, 1609, 295],
        "SDRAM": [1111, 28739, 3909, 186687, 292683, 230, 871, 178228, 69, 5323, 8359,
                  741, 281297, 1609, 295],
    },
    "core, narrow": {
        "fast": [1385, 25054, 8398, 770092, 794013, 417, 6130, 753545, 0, 7954, 9910,
                 754, 780830, 3103, 505],
        "SDRAM": [1385, 25054, 8600, 1384558, 1427419, 427, 6363, 1355551, 932, 16021,
                  9910, 758, 1406232, 3103, 505],
    },
}


@pytest.fixture
def noted(monkeypatch):
    """Return a call that runs programs and gives the sums of the columns of their timelines."""
    def call(config, timing):
        lines = []

        def clock(*arguments):
            lines.append(Timeline())
            return estimator.Estimator(*arguments[:-1], lines[-1])

        monkeypatch.setattr(control, "Estimator", clock)
        for seed in SEEDS:
            random_program(config, seed, 100).run(Machine(config, timing=timing))
        return [sum(sum(getattr(line, column)) for line in lines)
                for column in Timeline.__slots__]

    return call


@pytest.mark.parametrize("chip", CHIPS)
def test_what_is_noted_is_as_it_was(noted, chip):
    assert {name: noted(CHIPS[chip], MEMORIES[name]) for name in ("fast", "SDRAM")} == NOTED[chip]
