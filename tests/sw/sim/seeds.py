"""What the seeds of random programs stand for, kept in seeds.json: programs, and what they cover.

A divergence is reported as a seed, so a seed names the same program tomorrow; and a change of what
programs cover is seen. Where it is meant: ``python tests/sw/sim/seeds.py`` writes them anew.
"""

import hashlib
import json
from pathlib import Path

from celosia.arch.config import TpuConfig
from celosia_sim.coverage import bins, cover
from celosia_sim.randprog import (
    random_bad_indexes,
    random_bus_errors,
    random_faulting_program,
    random_program,
    random_walks,
)

FILE = Path(__file__).with_suffix(".json")
CHIPS = (TpuConfig("both", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8),
         TpuConfig("int8", dim=8, int8=True, bf16=False, ub_rows=64, acc_rows=32, bus_bytes=8),
         TpuConfig("bf16", dim=2, int8=False, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=4))
KINDS = {"legal": random_program, "faulty": random_faulting_program, "bus": random_bus_errors,
         "indexes": random_bad_indexes, "walks": random_walks}


def program_of(made):
    """Return a digest of all that a program is, and how it is to end."""
    text = repr((made.seed, made.code, made.image, made.windows, made.data_addr, made.errors,
                 made.expected and (made.expected.cause.name, made.expected.pc,
                                    made.expected.addr)))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def programs():
    """Return digests of each kind of program on each chip."""
    return {f"{chip.name} {kind}": [program_of(make(chip, seed)) for seed in range(6)]
            for chip in CHIPS for kind, make in KINDS.items() if kind != "walks" or chip.bf16}


def hits():
    """Return how often each bin is hit, by chip and group, in the order of the bins."""
    found = {}
    for chip in CHIPS:
        coverage = cover(chip, range(12), range(50))
        for group, name in bins():
            found.setdefault(f"{chip.name} {group}", []).append(coverage.hits[group, name])
    return found


if __name__ == "__main__":
    rows = [f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in
            (programs() | hits()).items()]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")
