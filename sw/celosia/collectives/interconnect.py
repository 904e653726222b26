"""How devices exchange arrays: an interface, and the host's memory behind it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Literal, Protocol

import numpy as np

from celosia.collectives.group import ReplicaGroup
from celosia.collectives.topology import Topology
from celosia.graph import Node
from celosia.graph.interpreter.kernels import HostArray

__all__ = ["Cancelled", "FarDevices", "HostInterconnect", "Interconnect", "InterconnectPeer",
           "group_of"]

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


class FarDevices(Protocol):
    """Devices of one run that are in other processes; see `celosia.collectives.processes`."""

    @property
    def here(self) -> Collection[int]:
        """The others: the devices of this process."""
        ...

    def begin(self, link: HostInterconnect) -> None:
        """Call `HostInterconnect.deliver`, ``leave`` and ``end`` of the run from now on."""
        ...

    def send(self, devices: tuple[int, ...], turn: int, operation: str,
             arrays: Mapping[int, HostArray]) -> None:
        """Bring what all devices of a group that are here have to the processes of the others."""
        ...

    def cancel(self, message: str) -> None:
        """Let the run end in all processes."""
        ...

    def end(self) -> None:
        """Say that no device of this process comes any more."""
        ...

    def name(self, device: int) -> str:
        """Return what to call a device."""
        ...


@dataclass
class _Meeting:
    """Devices that come to one operation."""

    #: Of the first that came of this process.
    node: Node | None = None
    #: What others called it, and one of them.
    far: tuple[str, int] | None = None
    arrays: dict[int, HostArray] = field(default_factory=dict)
    results: dict[int, HostArray] = field(default_factory=dict)


class HostInterconnect:
    """The host's memory as an interconnect, for one run of a program on all devices.

    Those of other processes bring their arrays by `FarDevices`; each process joins what it has
    then, so all have the same bits.

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
    far
        Those of the devices that are in other processes; None: there are none.

    Attributes
    ----------
    meetings
        Operations that were done, each group's counted.
    """

    def __init__(self, count: int, timeout: float = 3600.0,
                 check: Callable[[], None] = lambda: None, *,
                 topology: Topology | None = None, order: Literal["ring", "group"] = "ring",
                 far: FarDevices | None = None):
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
        #: By the devices, and how often they have met.
        self._open: dict[tuple[tuple[int, ...], int], _Meeting] = {}
        self._turns: Counter[tuple[tuple[int, ...], int]] = Counter()
        self._ended: set[int] = set()
        self._cancelled: Cancelled | None = None
        self._far = far
        if far is not None:
            far.begin(self)

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
            self.leave((number,))

    def cancel(self, error: BaseException | None = None, device: int | None = None) -> None:
        """Let all devices that wait, or will, end; as of `Interconnect.cancel`."""
        who = "a device" if device is None else self._name(device)
        why = f": {str(error) or type(error).__name__}" if error is not None else ""
        message = f"{who} ended{why}"
        if self.end(message, error) and self._far is not None:
            self._far.cancel(message)

    def end(self, message: str, error: BaseException | None = None) -> bool:
        """Let all devices of this process that wait, or will, end; return whether they did not.

        Parameters
        ----------
        message
            Why.
        error
            What ended the first one.
        """
        with self._changed:
            first = self._cancelled is None
            if first:
                self._cancelled = Cancelled(message, error)
            self._changed.notify_all()
        return first

    def leave(self, devices: Collection[int]) -> None:
        """Note that devices come to no operation any more."""
        with self._changed:
            before = self._ended.copy()
            self._ended.update(devices)
            self._changed.notify_all()
            far = self._far
            last = far is not None and not set(far.here) <= before and (
                set(far.here) <= self._ended)
        if far is not None and last:
            far.end()

    def deliver(self, devices: tuple[int, ...], turn: int, operation: str,
                arrays: Mapping[int, HostArray]) -> None:
        """Have what devices of another process bring to an operation; as of `FarDevices.send`."""
        with self._changed:
            meeting = self._open.setdefault((devices, turn), _Meeting())
            meeting.far = operation, min(arrays)
            meeting.arrays.update(arrays)
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
            turn = self._turns[devices, device]
            self._turns[devices, device] += 1
            meeting = self._open.setdefault((devices, turn), _Meeting())
            if meeting.node is None:
                meeting.node = node
            elif meeting.node is not node and not _alike(meeting.node, node):
                raise ValueError(f"{node.source}: devices must meet at one operation: device "
                                 f"{device} is at {node.op}, others at {meeting.node.op} "
                                 f"({meeting.node.source})")
            meeting.arrays[device] = x
            own = self._to_send(devices, meeting)
        if own and self._far is not None:  # not in the lock: it may take long
            self._far.send(devices, turn, _operation(node), own)
        with self._changed:
            self._wait(device, devices, turn, meeting)
            return meeting.results[device]

    def _to_send(self, devices: tuple[int, ...], meeting: _Meeting) -> dict[int, HostArray]:
        """Return the arrays for other processes if all are there, and any wants them."""
        if self._far is None:
            return {}
        own = [each for each in devices if each in self._far.here]
        there = all(each in meeting.arrays for each in own)
        return {each: meeting.arrays[each] for each in own
                if there and len(own) < len(devices)}

    def _join(self, devices: tuple[int, ...], turn: int, meeting: _Meeting) -> None:
        """Compute the results of a meeting to which all have come."""
        node = meeting.node
        assert node is not None, "one of this process is here"
        if meeting.far is not None and meeting.far[0] != _operation(node):
            operation, device = meeting.far
            raise ValueError(f"{node.source}: devices must meet at one operation: "
                             f"{self._name(device)} is at {operation}, others at "
                             f"{_operation(node)}")
        arrays = [meeting.arrays[each] for each in devices]
        made = self._joined_by(node, devices).run(node, arrays)
        meeting.results.update(zip(devices, made, strict=True))
        del self._open[devices, turn]
        self.meetings += 1
        self._changed.notify_all()

    def _name(self, device: int) -> str:
        return f"device {device}" if self._far is None else self._far.name(device)

    def _joined_by(self, node: Node, devices: tuple[int, ...]) -> ReplicaGroup:
        """Return the group of an operation; `ValueError` if no links connect it alone."""
        topology = None
        if self._topology is not None and "reducer" in node.attrs:
            try:
                topology = self._topology.within(devices)
            except ValueError as error:
                raise ValueError(f"{node.source}: {node.op}: {error}") from None
        return ReplicaGroup(devices, topology, self._order)

    def _wait(self, device: int, devices: tuple[int, ...], turn: int, meeting: _Meeting) -> None:
        end = monotonic() + self.timeout
        while device not in meeting.results:
            missing = [each for each in devices if each not in meeting.arrays]
            if not missing:
                self._join(devices, turn, meeting)
                return
            self.look()
            assert meeting.node is not None, "this device is here"
            at = f"{meeting.node.source}: {meeting.node.op}"
            gone = [each for each in missing if each in self._ended]
            if gone:
                raise Cancelled(f"{at}: {self._name(gone[0])} ended without it")
            if monotonic() > end:
                names = ", ".join(self._name(each).removeprefix("device ") for each in missing)
                raise Cancelled(f"{at}: device {names} must come within {self.timeout:g} s")
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


def _operation(node: Node) -> str:
    """Return what an operation is, for another process that has a copy of the program."""
    attrs = ", ".join(f"{name}={value}" for name, value in sorted(node.attrs.items()))
    return f"{node.op}({attrs}) of {', '.join(map(str, node.types))}"
