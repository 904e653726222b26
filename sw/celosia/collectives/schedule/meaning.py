"""What a schedule computes."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.collectives.schedule.table import Action, Alike, Held, Schedule, Words
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
    for held, array in zip(_indices(schedule.given), arrays, strict=True):
        if array.shape != held.shape:
            raise ValueError(f"array of {schedule.name} must be flat and of {held.size} words, not "
                             f"of shape {array.shape}")
        buffers.append(np.zeros(schedule.words, array.dtype))
        buffers[-1][held] = array
    sent: dict[tuple[int, int], deque[HostArray]] = defaultdict(deque)
    for _, chip, port, (start, stop), action in schedule.steps:
        there = buffers[chip][start:stop]
        if action == Action.SEND:
            sent[schedule.topology.peer(chip, port)].append(there.copy())
        else:
            arrived = sent[chip, port].popleft()
            there[:] = arrived if action == Action.SET else join(arrived, there)
    return [buffer[held] for buffer, held in zip(buffers, _indices(schedule.result), strict=True)]


def _indices(chips: Sequence[tuple[Held, ...]]) -> list[NDArray[np.intp]]:
    """Return for each chip the places of its words."""
    def places(held: Iterable[Words]) -> NDArray[np.intp]:
        return np.concatenate([np.arange(0), *(np.arange(*words) for words in held)])

    if isinstance(chips, Alike):
        return [places(chips.words)] * len(chips)
    return [places(each.words for each in held) for held in chips]
