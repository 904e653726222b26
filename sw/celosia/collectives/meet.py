"""Processes find each other: by a key-value store that all of them have.

Each says there who and where it is, the first one also a token, without which nobody is let in.
"""

from __future__ import annotations

import json
import queue
import secrets
import socket
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from time import monotonic, sleep
from typing import Any, NamedTuple, Protocol

from celosia.collectives.processes import PATIENCE, ProcessError, Processes, ProcessName, warn
from celosia.collectives.wire import Gone, ProcessWire, Stranger, greet

__all__ = ["START", "KeyValues", "address_towards", "meet"]

#: Seconds in which all processes must come.
START = 300.0
#: Strangers that are listened to at once.
_MOST_GUESTS = 32
#: Seconds of one look into the store; an interrupt comes through between two.
_LOOK = 0.5
#: Seconds after which one knocks again where there was no room.
_SOON = 0.2


class KeyValues(Protocol):
    """A store of texts that all processes have."""

    def put(self, key: str, value: str) -> None:
        """Write a value under a new key."""
        ...

    def get(self, key: str, seconds: float) -> str | None:
        """Return a value; None if it is not there after some seconds."""
        ...


class _Entry(NamedTuple):
    """What a process says of itself."""

    name: ProcessName
    address: tuple[str, int]
    facts: Mapping[str, Any]


def address_towards(coordinator: str) -> str:
    """Return the address that this machine has on the way to another one, "host:port".

    Where that is this machine by its loopback, so is the address.
    """
    host, _, port = coordinator.rpartition(":")
    try:
        [(family, kind, _, _, to), *_] = socket.getaddrinfo(
            host.strip("[]"), int(port), type=socket.SOCK_DGRAM)
        with socket.socket(family, kind) as probe:
            probe.connect(to)  # no word is sent
            return probe.getsockname()[0]
    except (OSError, ValueError) as error:
        raise ProcessError(f"the coordinator must be reached by host:port, not {coordinator!r}: "
                           f"{error}") from None


def meet(store: KeyValues, name: ProcessName, count: int, facts: Mapping[str, Any], *,
         host: str = "127.0.0.1", seconds: float = START,
         say: Callable[[str], None] = warn, lines: bool = False) -> Processes:
    """Wait for all processes and connect with them.

    Parameters
    ----------
    store
        Nothing is in it but what other processes have said so here.
    name, count
        Who this is, of how many.
    facts
        What all must have alike, by what it is called.
    host
        The address where the others reach this process.
    seconds
        That all have.
    say
        Called with a sentence about a stranger, and a process that is gone.
    lines
        Whether `Processes.lines` is to have a connection to each other one.

    Raises
    ------
    ProcessError
        If one does not come in time, or has other facts.
    """
    end = monotonic() + seconds
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family, backlog=count + _MOST_GUESTS) as listener:
        if name.index == 0:
            store.put("token", secrets.token_hex(32))
        store.put(str(name.index), json.dumps(
            [name, listener.getsockname()[:2], dict(facts)]))
        entries = [_entry(_get(store, str(i), f"process {i} of {count}", end, seconds))
                   for i in range(count)]
        _compare(entries)
        token = bytes.fromhex(_get(store, "token", f"process 0 of {count}", end, seconds))
        #: By the number of the other one, and of it and ``count`` those for lines.
        wires: dict[int, socket.socket] = {}
        kinds = (0, count) if lines else (0,)
        guests = _Guests(listener, token, name.index,
                         [i + kind for kind in kinds for i in range(name.index + 1, count)], say)
        try:
            for entry in entries[:name.index]:
                for kind in kinds:
                    wires[entry.name.index + kind] = _connect(entry, token, name.index + kind, end)
            wires |= guests.wait(entries, end, seconds)
        except BaseException:
            for sock in wires.values():
                sock.close()
            raise
        finally:
            guests.close()
    return Processes(name, {entries[i].name: ProcessWire(sock, PATIENCE)
                            for i, sock in wires.items() if i < count}, say,
                     {i - count: sock for i, sock in wires.items() if i >= count})


def _get(store: KeyValues, key: str, who: str, end: float, seconds: float) -> str:
    while (found := store.get(key, _LOOK)) is None:
        if monotonic() > end:
            raise ProcessError(f"{who} must come within {seconds:g} s: all processes must use "
                               "their devices, if only by jax.devices()")
    return found


def _entry(text: str) -> _Entry:
    name, (host, port), facts = json.loads(text)
    return _Entry(ProcessName(*name), (host, port), facts)


def _compare(entries: Sequence[_Entry]) -> None:
    first = entries[0]
    for other in entries[1:]:
        for fact in {**first.facts, **other.facts}:
            wanted, found = first.facts.get(fact), other.facts.get(fact)
            if wanted != found:
                raise ProcessError(f"{fact} of {other.name} must be {wanted!r}, as of "
                                   f"{first.name}, not {found!r}")


def _connect(entry: _Entry, token: bytes, own: int, end: float) -> socket.socket:
    """Return a connection that has been greeted; as long as there is no room, it is tried again."""
    host, port = entry.address
    while True:
        sock = None
        left = max(end - monotonic(), 0.1)
        try:
            sock = socket.create_connection(entry.address, left)
            found = greet(sock, token, own, left)
            if found != entry.name.index:
                raise Stranger(f"it is process {found}")
            return sock
        except (OSError, Stranger) as error:
            if sock is not None:
                sock.close()
            if isinstance(error, Gone) and monotonic() < end:
                sleep(_SOON)  # strangers may have taken all room
                continue
            raise ProcessError(f"{entry.name} must be reached at {host}, port {port}: {error}"
                               ) from None


class _Guests:
    """Greets those who connect; each in a thread, for one may say nothing.

    Parameters
    ----------
    listener
        Where they come.
    token, own
        As of `celosia.collectives.wire.greet`.
    wanted
        Numbers of the processes that are let in, each once.
    say
        As of `meet`.
    """

    def __init__(self, listener: socket.socket, token: bytes, own: int, wanted: Collection[int],
                 say: Callable[[str], None]):
        self._listener, self._token, self._own, self._say = listener, token, own, say
        self._all, self._wanted, self._lock = wanted, set(wanted), threading.Lock()
        self._room = threading.BoundedSemaphore(_MOST_GUESTS)
        self._closed = False
        self._came: queue.SimpleQueue[tuple[int, socket.socket]] = queue.SimpleQueue()
        threading.Thread(target=self._accept, name="celosia-guests", daemon=True).start()

    def wait(self, entries: Sequence[_Entry], end: float,
             seconds: float) -> dict[int, socket.socket]:
        """Return the connections of all that are wanted."""
        found: dict[int, socket.socket] = {}
        while missing := sorted(set(self._all) - set(found)):
            try:
                index, sock = self._came.get(timeout=max(end - monotonic(), 0))
            except queue.Empty:
                raise ProcessError(f"{entries[missing[0] % len(entries)].name} must connect within "
                                   f"{seconds:g} s") from None
            found[index] = sock
        return found

    def close(self) -> None:
        """Let nobody in any more."""
        with self._lock:
            self._closed = True
        try:
            self._listener.shutdown(socket.SHUT_RDWR)  # else who accepts sleeps on
        except OSError:
            pass
        while not self._came.empty():
            self._came.get()[1].close()

    def _accept(self) -> None:
        while True:
            try:
                sock, where = self._listener.accept()
            except OSError:
                return
            if self._room.acquire(blocking=False):
                threading.Thread(target=self._greet, args=(sock, where), daemon=True,
                                 name="celosia-guest").start()
            else:
                sock.close()

    def _greet(self, sock: socket.socket, where: Sequence[Any]) -> None:
        try:
            index = greet(sock, self._token, self._own, PATIENCE)
            with self._lock:
                if index not in self._wanted or self._closed:
                    raise Stranger(f"it is process {index}, which is not waited for")
                self._wanted.remove(index)
                self._came.put((index, sock))
        except Stranger as error:
            sock.close()
            self._say(f"refused a connection from {where[0]}, port {where[1]}: {error}")
        finally:
            self._room.release()
