"""What a schedule computes."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence

import numpy as np

from celosia.collectives.schedule.table import Action, Schedule
from celosia.graph.interpreter.kernels import HostArray

__all__ = ["meaning"]

def meaning(schedule: Schedule, arrays: Sequence[HostArray],
            join: Callable[[HostArray, HostArray], HostArray]) -> list[HostArray]:
    """Return each chip's result of a schedule: the definition of its bits.

    Parameters
    ----------
    schedule
        What is run. Each direction of a link is a queue without a bound.
    arrays
        Each chip's, flat.
    join
        What arrives with what is there, in this order, elementwise.
    """
    buffers = []
    for held, array in zip(schedule.given, arrays, strict=True):
        size = sum(each.words.count for each in held)
        if array.shape != (size,):
            raise ValueError(f"array of {schedule.name} must be flat and of {size} words, not of "
                             f"shape {array.shape}")
        buffer, at = np.zeros(schedule.words, array.dtype), 0
        for (start, stop), _ in held:
            buffer[start:stop] = array[at:at + stop - start]
            at += stop - start
        buffers.append(buffer)
    sent: dict[tuple[int, int], deque[HostArray]] = defaultdict(deque)
    for _, chip, port, (start, stop), action in schedule.steps:
        there = buffers[chip][start:stop]
        if action == Action.SEND:
            sent[schedule.topology.peer(chip, port)].append(there.copy())
        else:
            arrived = sent[chip, port].popleft()
            there[:] = arrived if action == Action.SET else join(arrived, there)
    return [np.concatenate([buffer[:0], *(buffer[slice(*each.words)] for each in held)])
            for buffer, held in zip(buffers, schedule.result, strict=True)]
