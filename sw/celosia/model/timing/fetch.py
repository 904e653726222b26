"""When instructions are there: the buffer that runs ahead, and its share of the bus."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.model.timing.memory import Timing

__all__ = ["BLOCK", "Fetch"]

#: Instructions that are fetched together.
BLOCK = 4


class Fetch:
    """The instruction buffer: blocks of consecutive instructions, as far ahead as there is room.

    Parameters
    ----------
    config
        The chip.
    timing
        Its memory.
    length
        Instructions of the program.

    Attributes
    ----------
    cycles
        Of the memory, for a block.
    last
        Cycle of the last beat that has been asked for.
    requested
        The block to be asked for next.
    """

    def __init__(self, config: TpuConfig, timing: Timing, length: int):
        self._room = config.ibuf // BLOCK
        self._latency = timing.read_latency
        self._total = ceil_div(length, BLOCK)
        self._first = 0
        self._ready: dict[int, int] = {}
        beats = max(BLOCK * isa.INSTRUCTION_BYTES // config.bus_bytes, 1)
        self.cycles = timing.occupied(beats * timing.beat_cycles)
        self.last = 0
        self.requested = 0

    def wanted(self, pc: int, loops: Sequence[Sequence[int]]) -> int:
        """Return how many blocks are asked for when instruction ``pc`` is executed in ``loops``.

        ``loops`` are start and end of each, the innermost last. Nothing is thrown away from the
        outermost one on that fits.
        """
        block = pc // BLOCK
        if not self._first <= block <= self.requested <= block + self._room:
            self._first = self.requested = block  # the program has jumped elsewhere
        keep = block
        for start, end, *_ in loops:
            if start <= pc and end - start <= (self._room - 1) * BLOCK:
                keep = start // BLOCK
                break
        return max(min(keep + self._room, self._total) - self.requested,
                   int(block == self.requested))

    def request(self, count: int, now: int, behind: int, more: int = 0) -> int:
        """Ask for blocks, whose beats come behind others that come until cycle ``behind``.

        ``more``: cycles of the memory for each, beside its beats.

        Returns
        -------
        int
            When the first beat comes.
        """
        comes, after = now + self._latency, max(behind, self.last)
        if after:  # else it may come before the doorbell
            comes = max(comes, after)
        ready = comes
        for block in range(self.requested, self.requested + count):
            ready += self.cycles + more
            self._ready[block] = ready
        self.requested += count
        self.last = ready
        return comes

    def late(self, count: int, cycles: int) -> None:
        """Let the last beat of what was asked for come later, and all before in proportion."""
        for i in range(count):
            self._ready[self.requested - count + i] += cycles * (i + 1) // count
        self.last += cycles

    def ready(self, pc: int) -> int:
        """Return the cycle from which on an instruction that was asked for is there."""
        return self._ready[pc // BLOCK]
