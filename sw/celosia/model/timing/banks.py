"""Cycles that rows of the array lose to one another in an on-chip memory."""

from __future__ import annotations

from celosia.arch.config import BANKS
from celosia.arch.streams import Stream

__all__ = ["constant_bank", "lost_by_repeats"]


def lost_by_repeats(acc: Stream, again: int) -> int:
    """Cycles that an accumulating matmul waits where the same row comes again at once.

    ``again``: from one addition to an accumulator row to the next one to the same row.
    """
    n0, n1, _ = acc.counts
    s0, s1, _ = acc.strides
    if n0 > 1 and s0 == 0:
        return acc.length * (again - 1)
    if n0 < again and n1 > 1 and s1 == 0:
        return acc.length // n0 * (again - n0)
    return 0


def constant_bank(stream: Stream, banks: int = BANKS) -> int | None:
    """Return the bank in which all rows of a stream lie; None where there are several."""
    for count, stride in zip(stream.counts, stream.strides, strict=True):
        if count > 1 and stride % banks:
            return None
    return stream.base % banks
