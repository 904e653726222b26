"""Instructions in the window of a run: what they touch, and when they are done."""

from __future__ import annotations

from celosia.arch.commands import Command, Dma
from celosia.arch.config import TpuConfig
from celosia.arch.isa import RecvOp
from celosia.arch.messages import MessageCommand
from celosia.model.timing.memory import Occupancy

__all__ = ["SPACE_BITS", "WindowEntry", "WindowMessage"]

#: First and last row, or byte, of what an instruction touches; each memory has its own numbers.
_Range = tuple[int, int]
SPACE_BITS = 40
#: Units of ports are counted from here on.
_LINKS = 8


class WindowEntry:
    """An instruction in the window: it has exactly one range that it writes.

    ``pace``: cycles from one of its rows to the next, where it writes consecutive rows in their
    order, and others may follow it; else 0. ``burst``, ``share``: of a load. ``bytes``: of a
    transfer, the first, and how many lie from there to the last. ``index``: in the timeline.
    ``asks``: of a load, when its first address could go out. ``leaders``: of a matmul, loads that
    it follows, and by how many cycles it starts behind their ends at least. ``lost``: cycles that
    its rows have lost. ``moved``: those by which it begins later than it was to.
    """

    __slots__ = ("again", "asks", "behind", "burst", "bytes", "end", "index", "latency", "leaders",
                 "lost", "moved", "pace", "reads", "share", "turn", "unit", "work", "wrote")

    def __init__(self, command: Command, config: TpuConfig):
        self.unit = command.unit
        self.reads: tuple[_Range, ...] = ()
        for _, space, first, last, written in command.touches(config):
            at = space << SPACE_BITS
            if written:
                self.wrote: _Range = at + first, at + last
            else:
                self.reads += (at + first, at + last),
        self.leaders: list[tuple[WindowEntry | WindowMessage, int]] = []
        self.index = -1
        self.lost = self.moved = 0
        self.bytes = ((command.addr, command.end - command.addr) if isinstance(command, Dma)
                      else (0, 0))
        self.pace = 0.0

    def follows(self, other: WindowEntry | WindowMessage) -> bool:
        """Whether this reads what the other one writes."""
        first, last = other.wrote
        return any(first <= end and begin <= last for begin, end in self.reads)

    def early(self) -> int:
        """Return how much later it must begin for what has become of its leaders."""
        if not self.leaders:
            return 0
        begins = self.end - self.latency
        return max((begins, *(leader.end + apart for leader, apart in self.leaders))) - begins

    def occupancy(self) -> Occupancy:
        """Return when this transfer has the memory outside the chip."""
        end = self.end - self.behind
        return Occupancy(end - self.work, end, self.burst, self.turn, self.again, *self.bytes)

    def conflicts(self, other: WindowEntry | WindowMessage) -> bool:
        """Whether one of the two writes what the other reads or writes."""
        low, high = self.wrote
        first, last = other.wrote
        if low <= last and first <= high:
            return True
        for begin, end in other.reads:
            if low <= end and begin <= high:
                return True
        for begin, end in self.reads:
            if first <= end and begin <= last:
                return True
        return False


class WindowMessage:
    """A send or a receive in the window, as `WindowEntry`: a send writes nothing."""

    __slots__ = ("end", "index", "latency", "pace", "reads", "unit", "wrote")

    def __init__(self, command: MessageCommand):
        at = command.mem << SPACE_BITS
        rows = at + command.rows.base, at + command.rows.last
        receives = command.op is not None
        self.unit = _LINKS + 2 * command.port + receives
        self.wrote: _Range = rows if receives else (-1, -2)
        self.reads: tuple[_Range, ...] = () if command.op is RecvOp.SET else (rows,)
        self.end = self.latency = 0
        self.pace = 0.0
        self.index = -1

    follows, conflicts = WindowEntry.follows, WindowEntry.conflicts
