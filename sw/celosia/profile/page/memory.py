"""What lies in the three memories, and when, in cycles of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from celosia.compiled.steps import ChipStep
from celosia.profile.record import Record

__all__ = ["MEMORIES", "lives", "peak", "spans"]

#: Names of memories and what they are called.
MEMORIES = {"external": "external memory", "ub": "unified buffer", "acc": "accumulators"}


def spans(record: Record, step: ChipStep) -> list[tuple[int, int]]:
    """Return the first cycle of each piece of work, and the one after its last.

    An instruction belongs to the work that says what it comes from; of several, to the first
    from that of the instruction before on. Work runs beside its neighbours, so spans overlap. What
    has no instructions of its own begins and ends with the one before.
    """
    texts = record.program.sources or ("",) * len(record.program.insns)
    known: dict[str, list[int]] = {}
    for number, work in enumerate(step.works):
        for text in dict.fromkeys((work.source, *work.origins)):
            known.setdefault(text, []).append(number)
    found: list[list[int] | None] = [None] * len(step.works)
    now = 0
    for pc, start, end in zip(record.pc.tolist(), record.start.tolist(), record.end.tolist(),
                              strict=True):
        numbers = known.get(texts[pc])
        if not numbers:
            continue
        if now not in numbers:
            # A loop comes back to what stands before.
            now = next((each for each in numbers if each > now), numbers[0])
        span = found[now]
        if span is None:
            found[now] = [start, end]
        else:
            span[0], span[1] = min(span[0], start), max(span[1], end)
    made: list[tuple[int, int]] = []
    for span in found:
        last = made[-1] if made else (0, 0)
        made.append((span[0], span[1]) if span else (last[1], last[1]))
    return made


def lives(record: Record, step: ChipStep, base: int = 0) -> list[dict[str, Any]]:
    """Return where each tensor lies, and from which cycle to before which.

    Arguments, results and constants have their place for the whole run. ``base`` is added to
    cycles.
    """
    times = spans(record, step)
    fixed = {buffer.name for buffer in record.program.buffers if buffer.kind != "scratch"}
    found = []
    for place in step.places:
        first, last = 0, record.cycles
        if place.name not in fixed and times:
            first = min(times[place.begin][0], record.cycles)
            last = max(times[place.end][1], first + 1)
        found.append({"memory": place.memory, "name": place.name, "type": str(place.type),
                      "first": place.first, "size": place.size, "begin": base + first,
                      "end": base + last, "fixed": place.name in fixed})
    return found


def peak(found: Sequence[dict[str, Any]], memory: str) -> int:
    """Return the most that tensors of a memory need at a time."""
    events = sorted((when, change) for each in found if each["memory"] == memory
                    for when, change in ((each["begin"], each["size"]),
                                         (each["end"], -each["size"])))
    return int(np.cumsum([change for _, change in events]).max()) if events else 0
