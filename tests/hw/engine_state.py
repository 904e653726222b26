"""What the simulator of the tests keeps: signals, memories, edges of clocks, who follows them."""

import re
from typing import Any

from amaranth.sim import pysim
from amaranth.sim._async import BrokenTrigger

__all__ = ["Edge", "MemoryState", "SignalState", "State", "Wait"]


class Wait:
    """A testbench that waits for an edge of a clock, once or again and again, and what it samples
    then.
    """

    __slots__ = ("broken", "once", "process", "reads", "result")

    def __init__(self, process, reads, once: bool):
        self.process, self.reads, self.once = process, reads, once
        self.broken, self.result = False, None

    def run(self):
        """See what is sampled, and wake the testbench."""
        reset, *values = [read() for read in self.reads]
        self.result = (True, bool(reset), *values)
        self.process.runnable, self.process.waits_on = True, None

    def initial_eligible(self):
        return False

    def __await__(self):
        if self.broken:
            raise BrokenTrigger
        yield self
        return self.result


class Edge:
    """An edge of a clock, and what runs then."""

    def __init__(self):
        self.waits: list[Wait] = []      # testbenches that wait for it
        self.always: list[Any] = []
        self.processes: set[Any] = set()  # that run if something has changed
        self.stale: set[Any] = set()      # those of them that will


class SignalState(pysim._PySignalState):
    """A signal; the processes that run when it changes, rises, falls, and those that see at an edge
    of their clock what it is; those that drive it then.
    """

    __slots__ = ("drivers", "edges", "followers", "is_clock", "mask", "readers", "sign")

    def __init__(self, signal, pending):
        super().__init__(signal, pending)
        self.followers, self.readers, self.drivers = [], [], []
        self.edges, self.is_clock = (Edge(), Edge()), False
        shape = signal.shape()
        self.mask = (1 << shape.width) - 1
        self.sign = 1 << (shape.width - 1) if shape.signed and shape.width else 0

    def read(self) -> int:
        """Return its value."""
        return self.curr

    def write(self, value: int) -> None:
        """Set it."""
        value &= self.mask
        if value & self.sign:
            value |= ~self.mask
        if self.next != value:
            self.next = value
            self.pending.add(self)
            for edge, process in self.drivers:
                edge.stale.add(process)

    def update(self, value, mask=~0):
        self.write(self.next & ~mask | value & mask)


class MemoryState(pysim._PyMemoryState):
    """A memory, and the processes that run when it changes, or see it at an edge of their clock."""

    __slots__ = ("followers", "readers")

    def __init__(self, memory, pending):
        super().__init__(memory, pending)
        self.followers, self.readers = [], []


class State(pysim._PyEngineState):
    def __init__(self):
        super().__init__()
        self._numbers: dict[int, int] = {}  # of slots, by the identity of what they are for
        # Process of a clock whose code is not known yet, and its edge.
        self._clocked: tuple[Any, Edge] | None = None

    def _slot(self, key, kind):
        number = self._numbers.get(id(key))
        if number is None:
            number = self._numbers[id(key)] = len(self.slots)
            self.slots.append(kind(key, self.pending))  # which keeps it, and so its identity
        return number

    def get_signal(self, signal):
        return self._slot(signal, SignalState)

    def get_memory(self, memory):
        return self._slot(memory, MemoryState)

    def add_signal_waker(self, signal, waker):
        slot = self.slots[self.get_signal(signal)]
        if not isinstance(waker, tuple):
            slot.add_waker(waker)
        elif len(waker) == 1:
            slot.followers.append(*waker)
        else:
            process, polarity = waker
            edge, slot.is_clock = slot.edges[polarity], True
            if self._clocked is None:
                self._clocked = process, edge
            else:  # a reset that does not wait for the clock
                edge.always.append(process)

    def add_memory_waker(self, memory, waker):
        self.slots[self.get_memory(memory)].followers.append(*waker)

    def know(self, code: str) -> None:
        """Take the code of a process: one of a clock does the same again until something that it
        reads, or drives, has changed, but for what it prints and asserts.
        """
        if self._clocked is None:
            return
        process, edge = self._clocked
        self._clocked = None
        if "print(" in code or "pin_blame(" in code:
            edge.always.append(process)
            return
        edge.processes.add(process)
        for number in set(re.findall(r"slots\[(\d+)\]\.(?:curr|read|write)\b", code)):
            self.slots[int(number)].readers.append((edge, process))
        for number in set(re.findall(r"slots\[(\d+)\]\.update\b", code)):
            self.slots[int(number)].drivers.append((edge, process))
