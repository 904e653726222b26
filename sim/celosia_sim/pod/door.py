"""The door of a board: who connects to it must know the pod's token.

Both sides show that they do (`celosia.collectives.wire.greet`), and the one that comes says what
for. What goes on afterwards is as safe as the network is: nothing is encrypted.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from enum import IntEnum
from queue import Empty, Queue
from time import monotonic, sleep
from typing import NamedTuple

from celosia.collectives.wire import Gone, Silent, Stranger, greet, hear
from celosia_sim.pod.board import NeighbourLost, PodBoardError

__all__ = ["Address", "Door", "Hello", "Role", "enter"]

#: Host and port.
Address = tuple[str, int]
#: Who greets whom.
_BOARD, _GUEST = range(2)
#: Seconds that a stranger has to show the token in.
_PATIENCE = 5.0
#: Connections that may be showing it at once, and refusals that are said one by one.
_MOST, _SAID = 32, 20
#: Seconds between two tries to come in, and between two looks whether somebody has come.
_NAP = 0.05
#: Whether Unix sockets have names without files.
_NAMED = sys.platform == "linux"


class Role(IntEnum):
    """What a connection is for."""

    CONTROL = 1
    WIRE = 2
    LOOK = 3
    STATE = 4


class Hello(NamedTuple):
    """Who comes: for what, to which pod of those that there were, and the first of its chips."""

    role: Role
    epoch: int = 0
    chip: int = 0


_HELLO = struct.Struct("<BQI")


class _Refused(Exception):
    """Somebody is not let in."""


def _tune(connection: socket.socket) -> None:
    connection.settimeout(None)
    if connection.family == socket.AF_INET:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def _near(address: Address, token: bytes) -> str | None:
    """Return the name of the Unix socket beside one of this machine, where there are such names.

    A window of a link goes by it in half the time. Nobody can take the name who has not the token.
    """
    if not _NAMED or address[0] != "127.0.0.1":
        return None
    return f"\0celosia-{hmac.digest(token, b'port %d' % address[1], 'sha256').hex()}"


def _connect(address: Address, token: bytes, seconds: float) -> socket.socket:
    """Return a connection; OSError if there is none."""
    if name := _near(address, token):
        near = socket.socket(socket.AF_UNIX)
        try:
            near.connect(name)
        except OSError:  # a board of another network, behind a port of this one
            near.close()
        else:
            return near
    return socket.create_connection(address, seconds)


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
        first = socket.create_server((host, port))
        self.address: Address = first.getsockname()[:2]
        self._listeners = [first]
        if name := _near(self.address, token):
            near = socket.socket(socket.AF_UNIX)
            near.bind(name)
            near.listen()
            self._listeners.append(near)
        self._controls: Queue[socket.socket] = Queue()
        self._looks: Queue[socket.socket] = Queue()
        self._states: Queue[socket.socket] = Queue()
        self._wires: dict[tuple[int, int], Queue[socket.socket]] = {}
        self._lock = threading.Lock()
        self._controlled, self._closed, self._waiting, self._refused = False, False, 0, 0
        for each in self._listeners:
            threading.Thread(target=self._accept, args=[each], daemon=True).start()

    def close(self) -> None:
        """Let nobody in any more, and have those hang up that nobody has waited for."""
        for each in self._listeners:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        with self._lock:
            self._closed = True
        self._drop(self._controls, self._looks, self._states, *self._wires.values())

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

    def state(self) -> socket.socket:
        """Wait for a board that sends a state."""
        return self._states.get()

    def wire(self, epoch: int, chip: int, seconds: float,
             look: Callable[[], None]) -> socket.socket:
        """Wait for a neighbour; what ``look`` raises, which is called now and then, ends it.

        Raises
        ------
        NeighbourLost
            If it does not come.
        """
        end = monotonic() + seconds
        with self._lock:
            queue = self._wires.setdefault((epoch, chip), Queue())
        while True:
            try:
                return queue.get(timeout=_NAP)
            except Empty:
                look()
            if monotonic() > end:
                raise NeighbourLost(f"the board from chip {chip} on must connect within "
                                    f"{seconds:g} s, but it did not")

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, peer = listener.accept()
            except OSError:
                return
            peer = peer or ("a process", 0)  # of a Unix socket it is empty
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
        except (_Refused, Stranger, OSError) as error:
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
            elif hello.role is Role.STATE:
                self._states.put(connection)
            else:
                self._wires.setdefault((hello.epoch, hello.chip), Queue()).put(connection)

    def _admit(self, connection: socket.socket) -> Hello:
        """Return who comes.

        Raises
        ------
        Stranger, _Refused, OSError
            If it is not to be let in.
        """
        end = monotonic() + _PATIENCE
        greet(connection, self._token, _BOARD, _PATIENCE)
        role, epoch, chip = _HELLO.unpack(hear(connection, _HELLO.size, end))
        if role not in tuple(Role):
            raise _Refused(f"its role must be {' or '.join(map(str, map(int, Role)))}, not {role}")
        with self._lock:
            second = role == Role.CONTROL and self._controlled
            self._controlled |= role == Role.CONTROL
        connection.sendall(bytes([second]))
        if second:
            raise _Refused("a board must have one controller, but this would be a second one")
        _tune(connection)
        return Hello(Role(role), epoch, chip)


def enter(address: Address, token: bytes, hello: Hello, seconds: float,
          look: Callable[[], None] = lambda: None) -> socket.socket:
    """Connect to a board; what ``look`` raises, which is called now and then, ends it.

    Raises
    ------
    NeighbourLost
        If there is none, or it has a controller, for so many seconds.
    PodBoardError
        If it is of another pod, or no board.
    """
    end, why = monotonic() + seconds, ""
    while True:
        connection = None
        try:
            connection = _connect(address, token, max(end - monotonic(), 1e-3))
            return _show(connection, token, hello, min(end, monotonic() + _PATIENCE))
        except BaseException as error:
            if connection is not None:
                connection.close()
            if not isinstance(error, (Gone, Silent, _Refused, OSError)):
                raise
            # The last try may have no time left, which is not why.
            late = isinstance(error, (Silent, TimeoutError))
            why = why if why and late else str(error)
        if monotonic() > end - _NAP:
            raise NeighbourLost(f"the board at {address[0]}:{address[1]} must let this one in "
                                f"within {seconds:g} s, but {why}")
        look()
        sleep(_NAP)


def _show(connection: socket.socket, token: bytes, hello: Hello, end: float) -> socket.socket:
    """Show that one knows the token, and see that the other does."""
    try:
        greet(connection, token, _GUEST, max(end - monotonic(), 1e-3))
    except (Gone, Silent):
        raise
    except Stranger as error:
        raise PodBoardError(f"who is at {connection.getpeername()} must be a board of this pod, "
                            f"but {error}") from None
    connection.sendall(_HELLO.pack(*hello))
    if hear(connection, 1, end) != b"\0":
        raise _Refused("it has a controller")
    _tune(connection)
    return connection
