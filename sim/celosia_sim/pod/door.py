"""The door of a board: who connects to it must know the pod's token.

Both sides show that they do, and neither says it: each gives a number that was never used before,
and proves the token by an HMAC of both. All of it has a fixed size, and a time to be there. What
goes on afterwards is as safe as the network is: nothing is encrypted.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from enum import IntEnum
from queue import Empty, Queue
from time import monotonic, sleep
from typing import NamedTuple

from celosia_sim.pod.board import NeighbourLost, PodBoardError

__all__ = ["Address", "Door", "Hello", "Role", "enter"]

#: Host and port.
Address = tuple[str, int]
#: What a board says first; another version of the protocol has another one.
_MAGIC = b"celosia pod 1\n"
_NONCE = _PROOF = 32
#: Seconds that a stranger has to show the token in.
_PATIENCE = 5.0
#: Connections that may be showing it at once, and refusals that are said one by one.
_MOST, _SAID = 32, 20
#: Seconds between two tries to come in.
_NAP = 0.05


class Role(IntEnum):
    """What a connection is for."""

    CONTROL = 1
    WIRE = 2
    LOOK = 3


class Hello(NamedTuple):
    """Who comes: for what, to which pod of those that there were, and the first of its chips."""

    role: Role
    epoch: int = 0
    chip: int = 0


_HELLO = struct.Struct("<BQI")


class _Refused(Exception):
    """Somebody is not let in."""


def _exactly(connection: socket.socket, size: int, end: float) -> bytes:
    """Return so many bytes that must be there by a time."""
    found = b""
    while len(found) < size:
        connection.settimeout(max(end - monotonic(), 1e-3))
        try:
            more = connection.recv(size - len(found))
        except TimeoutError:
            raise _Refused(f"it must say {size} bytes in time, not {len(found)}") from None
        except OSError as error:
            raise _Refused(f"it must say {size} bytes, but after {len(found)}: {error}") from None
        if not more:
            raise _Refused(f"it must say {size} bytes, but it has hung up after {len(found)}")
        found += more
    return found


def _proof(token: bytes, who: bytes, *parts: bytes) -> bytes:
    return hmac.digest(token, b"".join((_MAGIC, who, *parts)), "sha256")


def _tune(connection: socket.socket) -> None:
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


class Door:
    """Listens for the controller and the neighbours of a board.

    Parameters
    ----------
    token
        Of the pod.
    host, port
        Where to listen; 0: at a port that is free.

    Attributes
    ----------
    address
        Where it does.
    """

    def __init__(self, token: bytes, host: str = "127.0.0.1", port: int = 0):
        self._token = token
        self._listener = socket.create_server((host, port))
        self.address: Address = self._listener.getsockname()[:2]
        self._controls: Queue[socket.socket] = Queue()
        self._looks: Queue[socket.socket] = Queue()
        self._wires: dict[tuple[int, int], Queue[socket.socket]] = {}
        self._lock = threading.Lock()
        self._controlled, self._closed, self._waiting, self._refused = False, False, 0, 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Let nobody in any more, and have those hang up that nobody has waited for."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            self._closed = True
        self._drop(self._controls, self._looks, *self._wires.values())

    @staticmethod
    def _drop(*queues: Queue[socket.socket]) -> None:
        for queue in queues:
            with contextlib.suppress(Empty):
                while True:
                    queue.get_nowait().close()

    @contextlib.contextmanager
    def controller(self) -> Iterator[socket.socket]:
        """Wait for a controller; while it is there, there is no other one."""
        connection = self._controls.get()
        try:
            yield connection
        finally:
            connection.close()
            with self._lock:
                self._drop(*self._wires.values())
                self._wires.clear()
                self._controlled = False

    def look(self) -> socket.socket:
        """Wait for somebody who only wants to know what the board is doing."""
        return self._looks.get()

    def wire(self, epoch: int, chip: int, seconds: float) -> socket.socket:
        """Wait for a neighbour.

        Raises
        ------
        NeighbourLost
            If it does not come.
        """
        try:
            with self._lock:
                queue = self._wires.setdefault((epoch, chip), Queue())
            return queue.get(timeout=seconds)
        except Empty:
            raise NeighbourLost(f"the board from chip {chip} on must connect within {seconds:g} s, "
                                "but it did not") from None

    def _accept(self) -> None:
        while True:
            try:
                connection, peer = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._waiting += 1
                full = self._waiting > _MOST
            if full:
                self._leave(connection, peer, f"there must be at most {_MOST} at once")
            else:
                threading.Thread(target=self._meet, args=[connection, peer], daemon=True).start()

    def _leave(self, connection: socket.socket, peer: Address, why: str) -> None:
        """Send somebody away, and say why, but not for ever."""
        connection.close()
        with self._lock:
            self._waiting -= 1
            self._refused += 1
            said = self._refused
        if said <= _SAID or not said % 1000:
            print(f"celosia: the board at {self.address[0]}:{self.address[1]} has refused "
                  f"{peer[0]}:{peer[1]}: {why} ({said} refused)", file=sys.stderr, flush=True)

    def _meet(self, connection: socket.socket, peer: Address) -> None:
        try:
            hello = self._admit(connection)
        except (_Refused, OSError) as error:
            self._leave(connection, peer, str(error))
            return
        with self._lock:
            self._waiting -= 1
            if self._closed:
                connection.close()
            elif hello.role is Role.CONTROL:
                self._controls.put(connection)
            elif hello.role is Role.LOOK:
                self._looks.put(connection)
            else:
                self._wires.setdefault((hello.epoch, hello.chip), Queue()).put(connection)

    def _admit(self, connection: socket.socket) -> Hello:
        """Return who comes; `_Refused` if it does not know the token."""
        end = monotonic() + _PATIENCE
        own = secrets.token_bytes(_NONCE)
        connection.settimeout(_PATIENCE)
        connection.sendall(_MAGIC + own)
        said = _exactly(connection, _NONCE + _HELLO.size + _PROOF, end)
        other, body = said[:_NONCE], said[_NONCE:-_PROOF]
        if not hmac.compare_digest(_proof(self._token, b"comes", own, other, body),
                                   said[-_PROOF:]):
            raise _Refused("it must have the pod's token, but it has another one")
        role, epoch, chip = _HELLO.unpack(body)
        if role not in tuple(Role):
            raise _Refused(f"its role must be {' or '.join(map(str, map(int, Role)))}, not {role}")
        with self._lock:
            second = role == Role.CONTROL and self._controlled
            self._controlled |= role == Role.CONTROL
        connection.sendall(_proof(self._token, b"is let in", other, own) + bytes([second]))
        if second:
            raise _Refused("a board must have one controller, but this would be a second one")
        _tune(connection)
        return Hello(Role(role), epoch, chip)


def enter(address: Address, token: bytes, hello: Hello, seconds: float) -> socket.socket:
    """Connect to a board.

    Raises
    ------
    NeighbourLost
        If there is none, or it has a controller, for so many seconds.
    PodBoardError
        If it is of another pod, or no board.
    """
    end = monotonic() + seconds
    while True:
        try:
            connection = socket.create_connection(address, max(end - monotonic(), 1e-3))
        except OSError as error:
            why = str(error)
        else:
            try:
                return _show(connection, token, hello, min(end, monotonic() + _PATIENCE))
            except (_Refused, OSError) as error:
                connection.close()
                why = str(error)
            except BaseException:
                connection.close()
                raise
        if monotonic() > end - _NAP:
            raise NeighbourLost(f"the board at {address[0]}:{address[1]} must let this one in "
                                f"within {seconds:g} s, but {why}")
        sleep(_NAP)


def _show(connection: socket.socket, token: bytes, hello: Hello, end: float) -> socket.socket:
    """Show that one knows the token, and see that the other does."""
    magic = _exactly(connection, len(_MAGIC), end)
    if magic != _MAGIC:
        raise PodBoardError(f"a board must begin with {_MAGIC!r}, not {magic!r}: it is none, or "
                            "of another version")
    other, own = _exactly(connection, _NONCE, end), secrets.token_bytes(_NONCE)
    body = _HELLO.pack(*hello)
    connection.sendall(own + body + _proof(token, b"comes", other, own, body))
    said = _exactly(connection, _PROOF + 1, end)
    if not hmac.compare_digest(_proof(token, b"is let in", own, other), said[:-1]):
        raise PodBoardError("a board must have the pod's token, but this one has another")
    if said[-1]:
        raise _Refused("it has a controller")
    _tune(connection)
    return connection
