"""What the estimator says of programs at random, in memories of every kind: random_programs.json.

How near it is to the RTL is a test of the RTL, within some per cent: that leaves room for what is
wrong in a few places only. Where a change of the estimate is meant, or programs are others (see
tests/sw/sim/test_seeds.py), ``python tests/sw/model/timing/random_programs.py`` writes the numbers
anew, and the difference is for review.
"""

import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

from celosia.arch.config import preset
from celosia.model import Machine, Timing, control
from celosia.model.timing import Timeline, cost, estimator
from celosia_sim.randprog import random_program

FILE = Path(__file__).with_suffix(".json")
CHIPS = {name: preset(name) for name in ("pico", "nano", "edge", "core4", "core", "v2")}
CHIPS |= {"nano, folded": replace(CHIPS["nano"], lanes=2),
          "nano, one bank": replace(CHIPS["nano"], lanes=1, banks=1),
          "edge, folded": replace(CHIPS["edge"], lanes=2),
          "core, folded": replace(CHIPS["core"], lanes=4),
          "core, narrow": replace(CHIPS["core"], bus_bytes=4, window=2)}
MEMORIES = {
    "fast": Timing(read_latency=10, write_latency=1), "usual": Timing(),
    "few bursts": Timing(read_latency=90, outstanding=2, bank_conflicts=False, ahead=5),
    "SDRAM": Timing(read_latency=14, outstanding=3, beat_cycles=2, shared=True, turn_cycles=4,
                    page_bytes=1024, page_cycles=6, page_banks=4, refresh_interval=500,
                    refresh_cycles=20)}
SEEDS = range(3)


def cycles(chip: str, memory: str) -> list[int]:
    """Return the cycles of each program."""
    config = CHIPS[chip]
    return [random_program(config, seed, 100).run(Machine(config, timing=MEMORIES[memory])).cycles
            for seed in SEEDS]


def costs(chip: str) -> dict[str, list[float]]:
    """Return the sum of each entry of `Cost` of all commands, by memory.

    By themselves: in a program much is hidden by what is slower.
    """
    config, found = CHIPS[chip], []
    with mock.patch.object(estimator, "cost", lambda command, *rest: (
            found.append(command), cost(command, *rest))[1]):
        for seed in SEEDS:
            random_program(config, seed, 100).run(Machine(config))
    return {name: [round(sum(column), 3) for column in zip(
        *(cost(command, config, timing) for command in found), strict=True)]
        for name, timing in MEMORIES.items()}


def noted(chip: str, memory: str) -> list[int]:
    """Return the sum of each column of what is noted of all instructions."""
    config, lines = CHIPS[chip], []

    def clock(*arguments):
        lines.append(Timeline())
        return estimator.Estimator(*arguments[:-1], lines[-1])

    with mock.patch.object(control, "Estimator", clock):
        for seed in SEEDS:
            random_program(config, seed, 100).run(Machine(config, timing=MEMORIES[memory]))
    return [sum(sum(getattr(line, column)) for line in lines) for column in Timeline.__slots__]


def all_of(chip: str) -> dict[str, dict[str, list[float]]]:
    """Return all that is kept of a chip."""
    return {"cycles": {name: cycles(chip, name) for name in MEMORIES}, "costs": costs(chip),
            "noted": {name: noted(chip, name) for name in ("fast", "SDRAM")}}


if __name__ == "__main__":
    lines = (f' "{chip}": {{\n' + ",\n".join(
        f'  "{what}": {{\n' + ",\n".join(f'   "{name}": {json.dumps(each)}'
                                         for name, each in found.items()) + "}"
        for what, found in all_of(chip).items()) + "}" for chip in CHIPS)
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
