"""How the driver reaches a chip: one contract for the model, the simulators and boards."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Batched", "PodChip", "Transport", "read_memories", "read_registers", "write_registers"]


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


class Batched(Protocol):
    """What a transport has for which each access is a message: several accesses in one, and one."""

    def read_register(self, offset: int) -> int:
        """As of `Transport`."""
        ...

    def write_register(self, offset: int, value: int) -> None:
        """As of `Transport`."""
        ...

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """As of `Transport`."""
        ...

    def read_registers(self, offsets: Sequence[int]) -> list[int]:
        """Return registers, read one after the other."""
        ...

    def write_registers(self, values: Sequence[tuple[int, int]]) -> None:
        """Write values at offsets, one after the other."""
        ...

    def read_memories(self, spans: Sequence[tuple[int, int]]) -> list[NDArray[np.uint8]]:
        """Return copies of spans of memory: of each its address and size."""
        ...


def _many(transport: Transport | Batched, name: str) -> Callable[..., Any] | None:
    """Return a method of `Batched`, if there is one: checking for all takes as long as a run."""
    return getattr(transport, name, None)


def read_registers(transport: Transport | Batched, offsets: Sequence[int]) -> list[int]:
    """Return registers, read one after the other, in one message where the transport has any."""
    if (many := _many(transport, "read_registers")) is not None:
        return many(offsets)
    return [transport.read_register(each) for each in offsets]


def write_registers(transport: Transport | Batched,
                    values: Sequence[tuple[int, int]]) -> None:
    """Write values at offsets, likewise."""
    if (many := _many(transport, "write_registers")) is not None:
        many(values)
        return
    for offset, value in values:
        transport.write_register(offset, value)


def read_memories(transport: Transport | Batched,
                  spans: Sequence[tuple[int, int]]) -> list[NDArray[np.uint8]]:
    """Return copies of spans of memory, of each its address and size, likewise."""
    if (many := _many(transport, "read_memories")) is not None:
        return many(spans)
    return [transport.read_memory(*each) for each in spans]
