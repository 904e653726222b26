"""Rows of loads and stores as they go through the ports of the memories, behind those of others."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["QUEUED", "loaded", "stored"]

#: Beats that a load has taken, but not yet written.
QUEUED = 4


@lru_cache(maxsize=1 << 12)
def loaded(rows: bytes, each: float, least: float, busy: bytes) -> int:
    """Return in which cycle the last row of a load is written, whose first row comes in cycle 0.

    Parameters
    ----------
    rows
        Their banks, a bit each.
    each, least
        Cycles from one row to the next as they come; those at least where rows have waited.
    busy
        Banks that others have the first right to, of each cycle.
    """
    size, cycle, comes, written = len(busy), -1, -least, list[int]()
    queued = max(1, int(QUEUED / least))
    for index, bank in enumerate(rows):
        comes = max(comes + least, index * each)
        if index >= queued:
            comes = max(comes, written[index - queued])
        cycle = max(cycle + 1, int(comes))
        while cycle < size and busy[cycle] & bank:
            cycle += 1
        written.append(cycle)
    return cycle


@lru_cache(maxsize=1 << 12)
def stored(rows: bytes, each: float, ahead: int, busy: bytes) -> int:
    """Return in which cycle the bus takes the last row of a store, which asks for the first one in
    cycle 0.

    Parameters
    ----------
    rows, busy
        As of :func:`loaded`.
    each
        Cycles of the bus for a row.
    ahead
        Rows that may wait for the bus.
    """
    size, cycle, sent, begun = len(busy), -1, -each, list[float]()
    for index, bank in enumerate(rows):
        cycle += 1
        if index >= ahead:
            cycle = max(cycle, int(begun[index - ahead] + each))
        while cycle < size and busy[cycle] & bank:
            cycle += 1
        sent = max(sent + each, cycle)
        begun.append(sent)
    return int(sent)
