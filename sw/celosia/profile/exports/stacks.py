"""A record as collapsed stacks: callers, the place, the operation; weights are cycles.

speedscope.app, inferno and flamegraph.pl read them.
"""

from __future__ import annotations

from collections import Counter

from celosia.profile.record import Record

__all__ = ["stacks"]


def stacks(record: Record) -> str:
    """Return a record as text, a line for each stack: its weights add up to the cycles."""
    found: Counter[str] = Counter()
    for pc, cycles in record.prediction.by_instruction.items():
        operation, source = record.source(pc)
        frames = [*reversed(source.callers), source.place or record.program.name or "program",
                  " ".join(part for part in (operation, source.name) if part) or "?"]
        found[";".join(frame.replace(";", ",") for frame in frames)] += cycles
    return "".join(f"{stack} {cycles}\n" for stack, cycles in found.items())
