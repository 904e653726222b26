"""How the driver reaches a chip: one contract for the model, the simulators and boards."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["PodChip", "Transport"]


@runtime_checkable
class Transport(Protocol):
    """A chip's registers, its external memory, and its interrupt.

    Addresses and offsets are bytes. External memory begins at address 0.

    Attributes
    ----------
    memory_bytes
        Size of the external memory.
    """

    memory_bytes: int

    def read_register(self, offset: int) -> int:
        """Return a control or status register; BusError if the chip answers with an error."""
        ...

    def write_register(self, offset: int, value: int) -> None:
        """Write a register; BusError if the chip answers with an error."""
        ...

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return a copy of ``size`` bytes of external memory; any alignment."""
        ...

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        """Write bytes into external memory; any alignment."""
        ...

    def wait_interrupt(self, timeout_cycles: int | None,
                       progress: Callable[[int], None] | None = None) -> bool:
        """Let the chip run until its interrupt is high.

        Parameters
        ----------
        timeout_cycles
            Clock cycles to wait at most; None: no limit.
        progress
            Called now and then with the cycles that have been waited for.

        Returns
        -------
        bool
            Whether the interrupt is high; False: the cycles ran out.
        """
        ...

    def close(self) -> None:
        """Release everything; nothing may be called after. Closing twice does nothing."""
        ...


@runtime_checkable
class PodChip(Protocol):
    """What a transport has whose chip is one of a pod.

    Attributes
    ----------
    meets
        Whether the next run is one of several chips, which begin it together.
    members
        The chips that do.
    sources
        What each instruction came from, or nothing.
    """

    meets: bool
    members: Sequence[int]
    sources: Sequence[str]

    def links(self) -> Sequence[Mapping[str, int]]:
        """Return of each port whether its link is ``up``, or ``down``, and what it has counted
        since the last reset, as of `celosia.arch.registers.LINK_COUNTERS`: nothing of golden
        chips, whose links have no frames.
        """
        ...
