"""Processes that run programs together: what their devices bring to each other goes by sockets.

Each process has a `celosia.collectives.wire.ProcessWire` to each other one, and a thread that
listens to it. Both say which programs they run together, in which order, so that a process which
runs another one is found at once. One that ends says so; one that is gone without a word, or says
nothing for `PATIENCE`, ends all runs that it takes part in.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from celosia.collectives.interconnect import HostInterconnect
from celosia.collectives.wire import ProcessWire
from celosia.graph import DType
from celosia.graph.interpreter.kernels import HostArray

__all__ = ["PATIENCE", "ProcessError", "ProcessName", "Processes", "SharedRun", "warn"]

#: Seconds without a word after which a process is given up, and between two words at most.
PATIENCE, _BEAT = 12.0, 2.0
#: Seconds of sleep at most where an interrupt is to come through.
_NAP = 0.5
_DTYPES = {each.value: each.numpy for each in DType}
_NAMES = {each.numpy: each.value for each in DType}


def warn(sentence: str) -> None:
    """Say a sentence on stderr."""
    print(f"celosia: {sentence}", file=sys.stderr, flush=True)


class ProcessError(RuntimeError):
    """Another process has ended, or does something else; the message says which and what."""


class ProcessName(NamedTuple):
    """What a process is called in messages.

    Attributes
    ----------
    index
        Its number among those that run programs together.
    pid, host
        Its number on its machine, and the machine.
    """

    index: int
    pid: int
    host: str

    @classmethod
    def own(cls, index: int) -> ProcessName:
        """Return that of this process."""
        return cls(index, os.getpid(), socket.gethostname())

    def __str__(self) -> str:
        """Return it as a sentence has it."""
        return f"process {self.index} (pid {self.pid} on {self.host})"


class _Other:
    """Another process, and what this one has with it."""

    def __init__(self, name: ProcessName, wire: ProcessWire):
        self.name, self.wire = name, wire
        #: Runs that were begun with it here.
        self.begun = 0
        #: By their numbers: what was begun here, and there, and has not been compared.
        self.ours: dict[int, Any] = {}
        self.theirs: dict[int, Any] = {}
        self.runs: dict[int, SharedRun] = {}
        #: What it has given to `Processes.gather`.
        self.given: dict[int, Any] = {}
        #: Why it gives nothing more.
        self.withdrawn = ""
        #: Messages of runs that have not begun here.
        self.early: dict[int, list[tuple[Any, bytearray]]] = {}
        #: It was told that this one ends; it has said so itself; it has ended without a word.
        self.told = self.left = self.gone = False
        #: Why nothing can be done with it any more.
        self.lost = ""

    @property
    def parted(self) -> bool:
        """Whether nothing is sent to it any more; one that has ended waits for the others."""
        return self.gone or (self.told and self.left)


class SharedRun:
    """A run of a program on devices of several processes, as one of them sees it.

    It is `celosia.collectives.interconnect.FarDevices`.

    Parameters
    ----------
    places
        For each device the number of its process.
    own
        That of this process.
    others
        The other ones that have a device, and the number of the run among those with each.

    Attributes
    ----------
    here
        The devices of this process.
    """

    def __init__(self, places: Sequence[int], own: int, others: Sequence[tuple[_Other, int]]):
        self.here = frozenset(i for i, place in enumerate(places) if place == own)
        self._places, self.others = places, others
        self._names = {other.name.index: other for other, _ in others}
        self._lock = threading.Lock()
        self._link: HostInterconnect | None = None
        #: What came before the interconnect.
        self._early: list[Callable[[HostInterconnect], object]] = []

    def begin(self, link: HostInterconnect) -> None:
        """Bring what has come, and what comes, to an interconnect."""
        with self._lock:
            self._link = link
            for call in self._early:
                call(link)

    def tell(self, call: Callable[[HostInterconnect], object]) -> None:
        """Call a function with the interconnect, as soon as there is one."""
        with self._lock:  # in the order in which it came
            if self._link is None:
                self._early.append(call)
            else:
                call(self._link)

    def those_of(self, index: int) -> tuple[int, ...]:
        """Return the devices of a process."""
        return tuple(i for i, place in enumerate(self._places) if place == index)

    def send(self, devices: tuple[int, ...], turn: int, operation: str,
             arrays: Mapping[int, HostArray]) -> None:
        """Bring arrays to the processes of a group; as of `FarDevices.send`."""
        wanted = {self._places[each] for each in devices}
        dense = {device: np.ascontiguousarray(x) for device, x in arrays.items()}
        listed = [[device, _NAMES[x.dtype], arrays[device].shape] for device, x in dense.items()]
        data = [x.reshape(-1).view(np.uint8).data for x in dense.values()]
        for other, number in self.others:
            if other.name.index in wanted:
                _send(other, ["arrays", number, devices, turn, operation, listed], data)

    def cancel(self, message: str) -> None:
        """Let the run end in all processes."""
        for other, number in self.others:
            _send(other, ["cancel", number, message])

    def end(self) -> None:
        """Say that no device of this process comes any more."""
        for other, number in self.others:
            _send(other, ["end", number])
            other.runs.pop(number, None)

    def name(self, device: int) -> str:
        """Return what to call a device."""
        if device in self.here:
            return f"device {device}"
        return f"device {device} of {self._names[self._places[device]].name}"


def _send(other: _Other, head: Any, data: Sequence[memoryview] = ()) -> None:
    try:
        other.wire.send(head, data)
    except OSError:
        other.wire.close()  # who listens to it says so


class Processes:
    """All processes that run programs together, for one of them.

    Parameters
    ----------
    name
        Of this one.
    wires
        To each other one.
    say
        Called with a sentence about one that is gone.
    lines
        Other connections to some of them, for who makes use of `lines`.
    """

    def __init__(self, name: ProcessName, wires: Mapping[ProcessName, ProcessWire],
                 say: Callable[[str], None] = warn,
                 lines: Mapping[int, socket.socket] | None = None):
        self.name, self.lines = name, dict(lines or {})
        self._gathered = 0
        self._say = say
        #: Who listens takes the first: nothing is sent in it, for that may wait for who listens.
        self._lock, self._order = threading.Lock(), threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._others = {each.index: _Other(each, wire) for each, wire in wires.items()}
        self._closed = threading.Event()
        for index, other in self._others.items():
            threading.Thread(target=self._listen, args=(other,), daemon=True,
                             name=f"celosia-process-{index}").start()
        threading.Thread(target=self._beat, name="celosia-beat", daemon=True).start()

    @property
    def index(self) -> int:
        """The number of this one."""
        return self.name.index

    @property
    def count(self) -> int:
        """How many there are, this one among them."""
        return 1 + len(self._others)

    @property
    def gone(self) -> list[ProcessName]:
        """The processes that have ended without a word."""
        return [other.name for other in self._others.values() if other.gone]

    def begin(self, places: Sequence[int], what: Mapping[str, Any]) -> SharedRun:
        """Begin a run of a program; all its processes do, in the same order.

        Parameters
        ----------
        places
            For each device the number of its process.
        what
            Which program it is: "name", "devices" and "digest".
        """
        with self._order:
            with self._lock:
                run = self._begin(places, what)
            for other, number in run.others:
                _send(other, ["run", number, dict(what)])
        return run

    def _begin(self, places: Sequence[int], what: Mapping[str, Any]) -> SharedRun:
        others = []
        for index in sorted(set(places) - {self.name.index}):
            other = self._others[index]
            others.append((other, other.begun))
            other.begun += 1
        run = SharedRun(places, self.name.index, others)
        for other, number in others:
            other.runs[number] = run
            other.ours[number] = dict(what)
            self._compare(other, number)
            for head, data in other.early.pop(number, ()):
                self._take(other, head, data)
            if other.lost and other.runs.pop(number, None):
                self._part(other, run)
        return run

    def gather(self, value: Any, look: Callable[[], None] = lambda: None) -> list[Any]:
        """Return what each process gives, a value of JSON; all call it in the same order.

        Parameters
        ----------
        value
            Of this one.
        look
            Called now and then: what it raises ends the wait.

        Raises
        ------
        ProcessError
            If another one has ended, or does not take part any more.
        """
        with self._order:
            number = self._gathered
            self._gathered += 1
            for other in self._others.values():
                _send(other, ["gather", number, value])
        others = self._others.values()
        while True:
            with self._changed:
                missing = [other for other in others if number not in other.given]
                if not missing:
                    found = {other.name.index: other.given.pop(number) for other in others}
                    return [value if i == self.name.index else found[i]
                            for i in range(self.count)]
                if why := missing[0].lost or missing[0].withdrawn:
                    raise ProcessError(why)
                self._changed.wait(_NAP / 10)
            look()

    def withdraw(self, why: str) -> None:
        """Say that this process takes part in no `gather` any more: others must not wait."""
        with self._order:
            for other in self._others.values():
                _send(other, ["gather", -1, why])

    def close(self) -> None:
        """Say that this process ends; it says so once."""
        with self._order:
            if self._closed.is_set():
                return
            self._closed.set()
            for other in self._others.values():
                _send(other, ["leave"])
                with self._lock:
                    other.told, left = True, other.left
                if left:
                    other.wire.finish()

    def wait(self, seconds: float) -> None:
        """Wait until all others have ended; after some seconds say for whom, and go on."""
        end = monotonic() + seconds
        with self._changed:
            while waits := [other.name for other in self._others.values()
                            if not other.left and not other.gone]:
                if monotonic() > end:
                    self._say(f"{waits[0]} must end within {seconds:g} s after {self.name}")
                    return
                self._changed.wait(min(_NAP, max(end - monotonic(), 0)))

    # In threads of their own

    def _beat(self) -> None:
        while live := [other for other in self._others.values() if not other.parted]:
            for other in live:
                try:
                    other.wire.beat(["beat"])
                except OSError:
                    other.wire.close()
            with self._changed:
                self._changed.wait(_BEAT)

    def _listen(self, other: _Other) -> None:
        why = ""
        try:
            while not why:
                head, data = other.wire.receive()
                with self._lock:
                    self._take(other, head, data)
        except TimeoutError:
            why = f"{other.name} must go on, but it has said nothing for {PATIENCE:g} s"
        except EOFError:
            why = f"{other.name} must go on, but it is gone"
        except Exception as error:  # noqa: BLE001 - it must not be lost with the thread
            why = f"{other.name} must be understood, but: {error}"
        other.wire.close()
        with self._lock:
            if not other.left:
                other.gone = True
                self._say(why)
            self._lose(other, why)

    def _lose(self, other: _Other, why: str) -> None:
        other.lost = other.lost or why
        for run in tuple(other.runs.values()):
            self._part(other, run)
        other.runs.clear()
        self._changed.notify_all()

    def _part(self, other: _Other, run: SharedRun) -> None:
        """Let a run know that a process is lost; what it has brought before is there."""
        if other.left:
            run.tell(lambda link: link.leave(run.those_of(other.name.index)))
        else:
            error = ProcessError(other.lost)
            run.tell(lambda link: link.end(str(error), error))

    # With the lock

    def _take(self, other: _Other, head: Sequence[Any], data: bytearray) -> None:
        kind, *rest = head
        if kind == "leave":
            other.left = True
            self._lose(other, f"{other.name} must go on, but it has ended")
            if other.told:
                other.wire.finish()
        if kind in ("leave", "beat"):
            return
        number, *rest = rest
        if kind == "gather":
            if number < 0:
                other.withdrawn = f"{other.name} must go on with all, but: {rest[0]}"
            else:
                other.given[number] = rest[0]
            self._changed.notify_all()
            return
        if kind == "run":
            other.theirs[number] = rest[0]
            self._compare(other, number)
            return
        run = other.runs.get(number)
        if run is None:
            if number >= other.begun:
                other.early.setdefault(number, []).append((head, data))
            return
        if kind == "arrays":
            devices, turn, operation, listed = rest
            arrays = _arrays(listed, data)
            run.tell(lambda link: link.deliver(tuple(devices), turn, operation, arrays))
        elif kind == "cancel":
            error = ProcessError(f"{other.name}: {rest[0]}")
            run.tell(lambda link: link.end(str(error), error))
        elif kind == "end":
            run.tell(lambda link: link.leave(run.those_of(other.name.index)))

    def _compare(self, other: _Other, number: int) -> None:
        if number not in other.ours or number not in other.theirs:
            return
        ours, theirs = other.ours.pop(number), other.theirs.pop(number)
        if ours != theirs:
            ordinal = f"as number {number + 1} of their programs together"
            wanted, found = _program(ours), _program(theirs)
            if wanted == found:
                found = "another program of that name"
            self._lose(other, f"{self.name} and {other.name} must run the same program {ordinal}: "
                              f"{wanted}, not {found} in {other.name}")


def _program(what: Mapping[str, Any]) -> str:
    return f"{what['name']} on devices {', '.join(map(str, what['devices']))}"


def _arrays(listed: Collection[Any], data: bytearray) -> dict[int, HostArray]:
    """Return arrays of a message; ValueError if it is damaged."""
    found, at = {}, 0
    for device, name, shape in listed:
        flat = np.frombuffer(data, _DTYPES[name], int(np.prod(shape)), at)
        found[device] = flat.reshape(shape)
        at += flat.nbytes
    if at != len(data):
        raise ValueError(f"arrays must have {at} bytes, not {len(data)}")
    return found
