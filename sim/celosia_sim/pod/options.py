"""What is decided of a pod beside its chips and links."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from celosia.arch.latency import Latency, check_latency, link_latencies

__all__ = ["End", "PodOptions"]

#: A chip and its port.
End = tuple[int, int]
#: Cycles of all chips in a window for which a thread more is worth it.
_THREAD_CYCLES = 256


def _processors() -> int:
    """Return how many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class PodOptions:
    """What the links are like, and how they and their chips are simulated.

    What chips do depends on the first three: neither on the window nor on the threads or processes.

    Parameters
    ----------
    latency
        Cycles from a word's leaving a chip's pins to its being at the other's; or the least and the
        most, of which each link has some number.
    errors, seed
        Chance that a bit on a line is turned; where, and which latency each link has.
    window
        Cycles that a chip is simulated for in its turn, at most the latency, or the least; None: of
        the link that has the least.
    threads
        How many simulate chips, in each process; None: as many as there are processors, where it
        is worth it.
    processes
        How many have chips; 1: this one.
    patience
        Seconds that a process may take before its neighbours give it up.
    save_seconds
        Of simulation, after which boards in processes are saved again.
    """

    latency: Latency = 64
    errors: float = 0.0
    seed: int = 0
    window: int | None = None
    threads: int | None = None
    processes: int = 1
    patience: float = 60.0
    save_seconds: float = 2.0

    def __post_init__(self) -> None:
        """Check every value."""
        object.__setattr__(self, "latency", check_latency(self.latency))
        if self.window is not None and not 1 <= self.window <= self._least:
            raise ValueError(f"window must be from 1 to the latency of {self._least} cycles, not "
                             f"{self.window!r}")
        for name in ("threads", "processes", "patience", "save_seconds"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be a positive number, not {value!r}")

    @property
    def _least(self) -> int:
        return self.latency if isinstance(self.latency, int) else self.latency[0]

    def latencies(self, links: Mapping[End, End]) -> dict[End, int]:
        """Return the latency of each end's link, of links as of `celosia.model.Pod`."""
        return link_latencies(links, self.latency, self.seed)

    def turns(self, chips: int, links: Mapping[End, End]) -> tuple[int, int]:
        """Return the window of a pod of these links, and how many threads are good for so many
        chips of a process.
        """
        window = self.window or min(self.latencies(links).values(), default=self._least)
        most = self.threads or min(_processors() // self.processes,
                                   chips * window // _THREAD_CYCLES)
        return window, max(1, min(most, chips))
