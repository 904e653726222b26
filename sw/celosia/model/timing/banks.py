"""Cycles that streams lose where they meet in a bank of an on-chip memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from celosia.arch.config import BANKS
from celosia.arch.isa import Mem
from celosia.arch.lane import read_ahead
from celosia.arch.streams import Stream

__all__ = [
    "Beside", "Walk", "constant_bank", "in_step", "lost_beside", "lost_between", "lost_by_pair",
    "lost_by_repeats", "lost_by_singles", "port_of", "walked"]

#: On-chip rows of a transfer: groups of an external row, strides mod BANKS, cycles of a row.
Walk = tuple[int, int, int, float]
#: Streams that go in step: bank of the first row of each, and banks from one row to the next.
Beside = tuple[tuple[int, int], ...]

#: Of the two readers of the vector unit (hw/celosia_hw/memory/reader.py): cycles between a grant
#: and its use; one more where rows are folded.
_LATENCY = 2
#: Rows that are played; a longer walk goes on as it was.
_PLAYED = 256


def lost_by_pair(p: Stream, q: Stream, fold: int = 1, banks: int = BANKS) -> tuple[int, int]:
    """Cycles that two streams of one memory lose to each other, read in step by the vector unit.

    Of two rows in one bank the first stream gets its own; the second one waits. Where both step to
    another bank with each row, the second falls behind by a row, once. Where they cannot get out of
    each other's way (strides of 0 or multiples of the banks), they lose many.

    Parameters
    ----------
    p, q
        Streams of the same shape.
    fold
        Beats of a row, each of which is a read of its own.
    banks
        Of the memory.

    Returns
    -------
    tuple
        Cycles that the first rows come later, and cycles that all rows take longer.
    """
    if p.length == 1:
        return fold * ((p.base - q.base) % banks == 0), 0
    strides = p.strides, q.strides
    if banks > 1 and all(_linear(stream) for stream in (p, q)):
        return fold * ((p.base - q.base) % banks == 0), 0
    return _played(p.counts, *((tuple(s % banks for s in stride)) for stride in strides),
                   (q.base - p.base) % banks, fold, banks)


def lost_by_singles(singles: Sequence[tuple[Mem, Stream]], streams: Sequence[tuple[Mem, Stream]],
                    fold: int, banks: int) -> int:
    """Cycles that the second of two single rows waits in its bank.

    It is for the beats of the first one, and of the stream behind that. (For single beats, that is
    left out.)

    Parameters
    ----------
    singles, streams
        Of a vector instruction, each with its memory.
    fold
        Beats of a row.
    banks
        Of the memory.
    """
    if fold == 1 or len(singles) < 2:
        return 0
    memory, second = singles[1]
    return fold * sum(mem == memory and (stream.base - second.base) % banks == 0
                      for mem, stream in (singles[0], *streams[:1]))


def _linear(stream: Stream) -> bool:
    n0, n1, n2 = stream.counts
    s0, s1, s2 = stream.strides
    return s0 == 1 and (n1 == 1 or s1 == n0) and (n2 == 1 or s2 == n0 * n1)


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


def walked(chip: Stream, cycles: float) -> Walk:
    """Return what :func:`lost_beside` wants to know of a transfer.

    Parameters
    ----------
    chip
        On-chip rows of the transfer.
    cycles
        That it needs for each row: its next row comes so long after this one.
    """
    inner, outer = chip.strides
    return min(chip.counts[0], _PLAYED), inner % BANKS, outer % BANKS, cycles


@lru_cache(maxsize=1 << 12)
def lost_beside(walk: Walk, others: Beside, fold: int = 1, banks: int = BANKS) -> float:
    """Cycles that a transfer loses in a cycle beside other streams, which have the first right.

    Parameters
    ----------
    walk
        The transfer, by :func:`walked`.
    others
        Of each of the streams, which go in step.
    fold
        Cycles of each of their rows.
    banks
        Of the memory.
    """
    if banks == 1:
        return 1.0  # each cycle
    groups, inner, outer, cycles = walk
    written = late = 0
    for cycle in range(_PLAYED):
        row, group = divmod(written, groups)
        # Rows come from the bus at its pace: what one of them waited, those behind it make good.
        if cycle >= written * cycles:
            late = cycle - written * cycles
            bank, there = (row * outer + group * inner) % banks, cycle // fold
            written += all(bank != (first + step * there) % banks for first, step in others)
    return late / _PLAYED


@lru_cache(maxsize=1 << 12)
def _played(counts: tuple[int, ...], p: tuple[int, ...], q: tuple[int, ...],
            apart: int, fold: int, number: int) -> tuple[int, int]:
    """Play the two readers, cycle by cycle."""
    depth, latency = read_ahead(fold), _LATENCY + (1 if number == 1 else 2 * (fold > 1))
    rows = counts[0] * counts[1] * counts[2]
    played = min(rows, _PLAYED)
    banks = [[bank for bank in _banks(counts, strides, base, played, number) for _ in range(fold)]
             for strides, base in ((p, 0), (q, apart))]
    rows, played = rows * fold, played * fold
    asked, came = [0, 0], ([0] * played, [0] * played)
    resting = [False, False]
    cycle = used = 0
    while used < played:
        taken = -1
        for i in (0, 1):
            at = asked[i]
            credits = depth - (at - used)
            now_resting = resting[i]
            resting[i] = credits == 0 or (credits == 1 and now_resting)
            if at < played and credits > now_resting and banks[i][at] != taken:
                taken = banks[i][at]
                came[i][at] = cycle + latency
                asked[i] += 1
        if (used < asked[0] and used < asked[1]
                and came[0][used] <= cycle and came[1][used] <= cycle):
            used += 1
        cycle += 1
    lost = cycle - latency - played
    return 0, lost * rows // played


def _banks(counts: tuple[int, ...], strides: tuple[int, ...], base: int, limit: int,
           number: int) -> list[int]:
    n0, n1, n2 = counts
    s0, s1, s2 = strides
    found: list[int] = []
    for i2 in range(n2):
        for i1 in range(n1):
            start = base + i1 * s1 + i2 * s2
            found += [(start + i0 * s0) % number for i0 in range(min(n0, limit))]
            if len(found) >= limit:
                return found[:limit]
    return found


def port_of(mem: Mem, write: bool) -> int:
    """Return a number of the port of a memory."""
    return 2 * mem + write


def lost_between(begin: int, end: int, first: int, last: int, rate: float) -> float:
    """Cycles that rows from ``begin`` to ``end`` lose beside others from ``first`` to ``last``.

    ``rate``: in a cycle; those cycles that are lost are beside the others, too.
    """
    since = max(begin, first)
    lost = (last - since) * rate
    return lost if rate >= 1 else min(lost, (min(end, last) - since) * rate / (1 - rate))


def in_step(*streams: Stream) -> Beside:
    """Return what :func:`lost_beside` wants to know of streams that go in step.

    Of two that begin in one bank the second comes a cycle later, see :func:`lost_by_pair`.
    """
    first, step = streams[0].base, _step(streams[0])
    return tuple(((stream.base - first) % BANKS or -step * bool(i), _step(stream))
                 for i, stream in enumerate(streams))


def _step(stream: Stream) -> int:
    """Banks from one row of a stream to the next, mostly."""
    if stream.counts[0] > 1:
        return stream.strides[0] % BANKS
    for count, stride in zip(stream.counts, stream.strides, strict=True):
        if count > 1:
            return stride % BANKS
    return 0
