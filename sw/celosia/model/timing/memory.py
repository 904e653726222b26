"""The memory outside the chip: what its bursts cost, and what they cost one another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from celosia.arch.commands import Dma

__all__ = ["Timing", "Occupancy", "meeting", "pages"]


@dataclass(frozen=True)
class Timing:
    """The memory outside the chip.

    Parameters
    ----------
    read_latency
        Cycles from a read address to its first beat.
    write_latency
        Cycles from the last beat of a write to its response.
    outstanding
        Reads that the memory takes before the first is done.
    link_latency
        Cycles from a word's leaving a chip to its being at the other end of a link; or those of
        each port's.
    bank_conflicts
        Whether rows that meet in a bank of a memory on chip wait for one another. A chip has no
        choice; whoever asks what that costs has.
    beat_cycles
        Cycles from one beat of a burst to the next.
    shared
        Whether reads and writes take turns, burst by burst; else each have a way of their own.
    turn_cycles
        Where they take turns, from a burst that is read to one that is written in an open row.
    page_bytes, page_cycles, page_banks
        Of an SDRAM, bytes of a row, and cycles before a burst in another row than the one before;
        banks, which take turns row by row, and each of which has a row open.
    ahead
        Cycles before the doorbell in which the driver makes the chip fetch the program.
    refresh_interval, refresh_cycles
        Of an SDRAM, cycles from one refresh to the next, and those of them that it takes; 0: none.
    """

    read_latency: int = 64
    write_latency: int = 8
    outstanding: int = 64
    link_latency: int | tuple[int, ...] = 64
    bank_conflicts: bool = True
    ahead: int = 47
    beat_cycles: int = 1
    shared: bool = False
    turn_cycles: float = 0.0
    page_bytes: int = 0
    page_cycles: int = 0
    page_banks: int = 1
    refresh_interval: int = 0
    refresh_cycles: int = 0

    @property
    def first(self) -> int:
        """Cycles of a transfer's first beat that its latency has, too."""
        return self.beat_cycles - 1 + self.page_cycles

    @property
    def way(self) -> int:
        """Cycles from a read address to the memory's first cycle for it."""
        return self.read_latency - self.first

    def waits(self, count: int, beats: int, bursts: int, opened: int) -> int:
        """Return how long a transfer takes whose bursts wait for one another.

        Parameters
        ----------
        count
            Bursts that others have to make room for, as no more are asked for at a time. While the
            memory opens a row, so many are.
        beats, bursts, opened
            Of the transfer, and how often it goes on in another row.
        """
        own = beats * self.beat_cycles / bursts
        idle = max(0, (self.read_latency - self.page_cycles + own - 1) / self.outstanding - own)
        return self.occupied(beats * self.beat_cycles + opened * self.page_cycles + int(
            idle * max(0, count - opened * self.outstanding)))

    def occupied(self, cycles: int) -> int:
        """Return how long the memory takes for so many cycles of transfers, refreshes included."""
        if not self.refresh_interval:
            return cycles
        return cycles * self.refresh_interval // (
            self.refresh_interval - self.refresh_cycles)


def pages(command: Dma, timing: Timing) -> int:
    """Return how often a transfer goes on in another row of an SDRAM, its first row included."""
    page = timing.page_bytes
    if not page:
        return 0
    size, rows, pitch = command.row_bytes, command.rows, command.pitch
    if pitch < page:  # it comes through all that lie between its first byte and its last
        return (command.addr + (rows - 1) * pitch + size - 1) // page - command.addr // page + 1
    return sum((at + size - 1) // page - at // page + 1
               for at in range(command.addr, command.addr + rows * pitch, pitch))


class Occupancy(NamedTuple):
    """A transfer as if it had the memory to itself.

    Attributes
    ----------
    begin, end
        Its first cycle of the memory, and the one behind its last.
    burst, turn, again
        Cycles of a burst, and those that come before each that is written behind one that is read:
        where both rows are open, and where they are in one bank, so that both are opened again.
    first, size
        Its first byte, and bytes from there to its last; of neither none where it is not known.
    """

    begin: float
    end: float
    burst: float
    turn: float = 0.0
    again: float = 0.0
    first: int = 0
    size: int = 0


#: Places of two transfers at which their banks are compared.
_PLACES = 8


def _in_one_bank(mine: Occupancy, other: Occupancy, parts: tuple[float, float, float, float],
                 timing: Timing) -> float:
    """Return how often two transfers are in two rows of one bank, as they go on together.

    ``parts``: from which part on each of them, and how much of it.
    """
    banks = timing.page_banks
    if not (timing.page_bytes and mine.size and other.size):
        return 1 / banks
    since, much, there, more = parts
    meet = 0
    for index in range(_PLACES):
        place = (index + 0.5) / _PLACES
        page = int(mine.first + mine.size * (since + much * place)) // timing.page_bytes
        beside = int(other.first + other.size * (there + more * place)) // timing.page_bytes
        meet += page != beside and (page - beside) % banks == 0
    return meet / _PLACES


def meeting(mine: Occupancy, others: Iterable[Occupancy], timing: Timing
            ) -> tuple[float, list[float]]:
    """Return how much longer a transfer takes, and each of others, where their bursts take turns.

    Parameters
    ----------
    mine
        One of the read ones, or of the written ones.
    others
        Of the other kind, in their order: one follows another.
    timing
        Of the memory.
    """
    now, left = mine.begin, mine.end - mine.begin
    work = left
    found = []
    late = 0.0  # of the others so far
    for other in others:
        begin, end, burst = other.begin + late, other.end + late, other.burst
        if begin > now:
            alone = min(left, begin - now)
            now, left = now + alone, left - alone
        pairs = min(left / mine.burst, max(end - now, 0) / burst)
        turn, again = mine.turn + other.turn, mine.again + other.again
        if pairs and again:
            parts = ((work - left) / work, pairs * mine.burst / work,
                     max(now - begin, 0) / (end - begin), pairs * burst / (end - begin))
            turn += (again - turn) * _in_one_bank(mine, other, parts, timing)
        found.append(pairs * (mine.burst + turn))
        late += found[-1]
        now, left = now + pairs * (mine.burst + burst + turn), left - pairs * mine.burst
    return now + left - mine.end, found
