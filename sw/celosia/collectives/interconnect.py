"""How devices exchange arrays: an interface, and the host's memory behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Literal, Protocol

import numpy as np

from celosia.collectives.group import ReplicaGroup
from celosia.collectives.topology import Topology
from celosia.graph import Node
from celosia.graph.interpreter.kernels import HostArray

__all__ = ["Cancelled", "HostInterconnect", "Interconnect", "InterconnectPeer", "group_of"]

#: Seconds of sleep between looks at ``check``.
_NAP = 0.05


class Cancelled(RuntimeError):
    """A device cannot go on because another one ended.

    Attributes
    ----------
    first
        What ended it.
    """

    def __init__(self, message: str, first: BaseException | None = None):
        super().__init__(message)
        self.first = first


class Interconnect(Protocol):
    """What brings arrays from device to device.

    `HostInterconnect` does it in the host's memory; links between chips have the same methods.
    """

    #: Number of devices.
    count: int

    def exchange(self, device: int, node: Node, operands: Sequence[HostArray]) -> HostArray:
        """Take part in a collective operation and return the device's result.

        Each device calls it from a thread of its own, for the same operations in the same order;
        it returns when all devices of the operation's group have.

        Parameters
        ----------
        device
            Which one calls.
        node
            An operation of `celosia.graph.operations.collective`.
        operands
            The device's.

        Raises
        ------
        Cancelled
            If another device has ended, or did not come in time.
        """
        ...

    def cancel(self, error: BaseException | None = None, device: int | None = None) -> None:
        """Let all devices that wait, or will, end with `Cancelled`; only the first call counts."""
        ...

    def look(self) -> None:
        """Raise `Cancelled` if `cancel` was called."""
        ...


@dataclass(frozen=True)
class InterconnectPeer:
    """A device of an interconnect: what `celosia.graph.interpret` and executables take."""

    interconnect: Interconnect
    device: int

    def exchange(self, node: Node, operands: Sequence[HostArray]) -> HostArray:
        """Take part in a collective operation; as of `Interconnect.exchange`."""
        return self.interconnect.exchange(self.device, node, operands)

    def look(self) -> None:
        """Raise `Cancelled` if another device has ended with an error."""
        self.interconnect.look()


@dataclass
class _Meeting:
    """Devices that come to one operation."""

    node: Node
    arrays: dict[int, HostArray] = field(default_factory=dict)
    results: dict[int, HostArray] = field(default_factory=dict)


class HostInterconnect:
    """The host's memory as an interconnect, for one run of a program on all devices.

    Parameters
    ----------
    count
        Number of devices.
    timeout
        Seconds that a device waits for the others at one operation.
    check
        Called by a device that comes to an operation, and now and then while it waits there: what
        it raises ends the device, and so all of them.
    topology
        How the devices are connected; None: each group is a ring in its order.
    order
        In which elements are joined, as of `ReplicaGroup`.

    Attributes
    ----------
    meetings
        Operations that were done, each group's counted.
    """

    def __init__(self, count: int, timeout: float = 3600.0,
                 check: Callable[[], None] = lambda: None, *,
                 topology: Topology | None = None, order: Literal["ring", "group"] = "ring"):
        if count < 1:
            raise ValueError(f"count must be a positive number of devices, not {count!r}")
        if not timeout > 0:
            raise ValueError(f"timeout must be a positive number of seconds, not {timeout!r}")
        if topology is not None and topology.chips != count:
            raise ValueError(f"topology must be of {count} devices, not {topology}")
        self.count, self.timeout, self.meetings = count, timeout, 0
        self._topology = topology
        self._order: Literal["ring", "group"] = order
        self._look = check
        self._changed = threading.Condition()
        self._open: dict[tuple[int, ...], _Meeting] = {}
        self._ended: set[int] = set()
        self._cancelled: Cancelled | None = None

    @contextmanager
    def device(self, number: int) -> Iterator[InterconnectPeer]:
        """Be a device as long as the context lasts; an exception in it cancels all others."""
        if not 0 <= number < self.count:
            raise ValueError(f"device must be 0 to {self.count - 1}, not {number!r}")
        try:
            yield InterconnectPeer(self, number)
        except BaseException as error:
            self.cancel(error, number)
            raise
        finally:
            with self._changed:
                self._ended.add(number)
                self._changed.notify_all()

    def cancel(self, error: BaseException | None = None, device: int | None = None) -> None:
        """Let all devices that wait, or will, end; as of `Interconnect.cancel`."""
        with self._changed:
            if self._cancelled is None:
                who = "a device" if device is None else f"device {device}"
                why = f": {str(error) or type(error).__name__}" if error is not None else ""
                self._cancelled = Cancelled(f"{who} ended{why}", error)
            self._changed.notify_all()

    def exchange(self, device: int, node: Node, operands: Sequence[HostArray]) -> HostArray:
        """Take part in a collective operation; as of `Interconnect.exchange`."""
        if node.op == "device_id":
            return np.array(device, np.uint32)
        [x] = operands
        devices = group_of(node, device)
        if max(devices, default=0) >= self.count:
            raise ValueError(f"{node.source}: {node.op} must be run on {max(devices) + 1} devices "
                             f"or more, not on {self.count}")
        if not devices:
            return np.zeros_like(x)
        with self._changed:
            self.look()
            meeting = self._open.setdefault(devices, _Meeting(node))
            if meeting.node is not node and not _alike(meeting.node, node):
                raise ValueError(f"{node.source}: devices must meet at one operation: device "
                                 f"{device} is at {node.op}, others at {meeting.node.op} "
                                 f"({meeting.node.source})")
            meeting.arrays[device] = x
            if len(meeting.arrays) == len(devices):
                del self._open[devices]
                arrays = [meeting.arrays[each] for each in devices]
                made = self._joined_by(node, devices).run(node, arrays)
                meeting.results.update(zip(devices, made, strict=True))
                self.meetings += 1
                self._changed.notify_all()
            else:
                self._wait(device, devices, meeting)
            return meeting.results[device]

    def _joined_by(self, node: Node, devices: tuple[int, ...]) -> ReplicaGroup:
        """Return the group of an operation; `ValueError` if no links connect it alone."""
        topology = None
        if self._topology is not None and "reducer" in node.attrs:
            try:
                topology = self._topology.within(devices)
            except ValueError as error:
                raise ValueError(f"{node.source}: {node.op}: {error}") from None
        return ReplicaGroup(devices, topology, self._order)

    def _wait(self, device: int, devices: tuple[int, ...], meeting: _Meeting) -> None:
        node, end = meeting.node, monotonic() + self.timeout
        while device not in meeting.results:
            self.look()
            missing = [each for each in devices if each not in meeting.arrays]
            gone = [each for each in missing if each in self._ended]
            if gone:
                raise Cancelled(f"{node.source}: {node.op}: device {gone[0]} ended without it")
            if monotonic() > end:
                names = ", ".join(map(str, missing))
                raise Cancelled(f"{node.source}: {node.op}: device {names} must come within "
                                f"{self.timeout:g} s")
            self._changed.wait(_NAP)

    def look(self) -> None:
        """Raise what ``check`` raises, or `Cancelled`; as of `Interconnect.look`."""
        self._look()
        if self._cancelled is not None:
            raise Cancelled(str(self._cancelled), self._cancelled.first)


def group_of(node: Node, device: int) -> tuple[int, ...]:
    """Return the devices that take part in an operation with one; none if it does not itself."""
    if node.op == "collective_permute":
        ends = {end for pair in node.attrs["pairs"] for end in pair}
        return tuple(sorted(ends)) if device in ends else ()
    for group in node.attrs["groups"]:
        if device in group:
            return group
    raise ValueError(f"{node.source}: {node.op}: device {device} must be in a group, they are "
                     f"{list(map(list, node.attrs['groups']))}")


def _alike(a: Node, b: Node) -> bool:
    """Return whether operations of two copies of a program are the same one."""
    return (a.op, a.attrs, a.source, a.types) == (b.op, b.attrs, b.source, b.types)
