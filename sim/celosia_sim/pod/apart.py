"""A board in a process of its own, as seen from the one that controls it."""

from __future__ import annotations

import contextlib
import secrets
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from celosia.collectives.wire import receive, send
from celosia.driver.errors import BusError, DeviceError
from celosia_sim.library import ProtocolError
from celosia_sim.pod.board import NeighbourLost, PodBoardError, say_chips
from celosia_sim.pod.door import Address, Hello, Role, enter

__all__ = ["ApartBoard", "BoardLost", "Host", "LocalHost", "LocalStarter", "Starter", "WatchedHost",
           "raised"]

#: Errors that keep their class on the way.
_ERRORS: dict[str, type[Exception]] = {each.__name__: each for each in (
    NeighbourLost, PodBoardError, BusError, DeviceError, ProtocolError, ValueError)}
#: Seconds that a process has to end in, and to begin.
_PATIENCE, _BEGIN = 5.0, 60.0
#: One may take so much longer than its neighbours wait for it: they say that they do.
_LONGER = 1.25


def raised(kind: str, message: str) -> Exception:
    """Return what a board has raised."""
    return _ERRORS.get(kind, RuntimeError)(message)


class BoardLost(PodBoardError):
    """The process of a board has ended, or does not answer."""


class Host(Protocol):
    """Where a board is.

    Attributes
    ----------
    name
        What it is called.
    """

    name: str

    def address(self) -> Address:
        """Wait until it listens; return where. BoardLost if it does not."""
        ...

    def end(self) -> str:
        """Say how it has ended that has hung up."""
        ...

    def kill(self) -> None:
        """End it, if it has not."""
        ...

    def leave(self) -> None:
        """It is not needed any more."""
        ...


class WatchedHost(Host, Protocol):
    """One whose end somebody waits for.

    Attributes
    ----------
    pid
        Of its process.
    """

    pid: int

    def wait(self) -> None:
        """Wait until it has ended."""
        ...


class Starter(Protocol):
    """What starts boards.

    Attributes
    ----------
    token
        Of the pod.
    """

    token: bytes

    def start(self, number: int) -> Host:
        """Start a board of some number, or again, and do not wait for it."""
        ...


class LocalHost:
    """A process of this machine, which ends with this one: a `Host`."""

    def __init__(self, token: bytes):
        self.process = subprocess.Popen([sys.executable, "-m", "celosia_sim.pod.process"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.name = f"the process {self.pid}"
        self._address: Address | None = None
        assert self.process.stdin
        with contextlib.suppress(OSError):
            self.process.stdin.write(token.hex().encode() + b"\n")
            self.process.stdin.flush()

    def address(self) -> Address:
        """As of `Host`."""
        if self._address is None:
            output = self.process.stdout
            assert output
            ready = select.select([output], [], [], _BEGIN)[0]
            line = output.readline().split() if ready else []
            if len(line) != 2:
                raise BoardLost(f"{self.name} of a board must say where it listens within "
                                f"{_BEGIN:g} s, but it {self.end()}")
            self._address = line[0].decode(), int(line[1])
        return self._address

    def end(self) -> str:
        """As of `Host`."""
        try:
            code = self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return "has hung up"
        return (f"has ended with {code}" if code >= 0 else
                f"was ended by {signal.Signals(-code).name}")

    def kill(self) -> None:
        """As of `Host`."""
        self.process.kill()
        self.process.wait()
        for each in (self.process.stdin, self.process.stdout):
            if each is not None:
                with contextlib.suppress(OSError):
                    each.close()


    def leave(self) -> None:
        """As of `Host`."""
        self.kill()

    def wait(self) -> None:
        """Wait until it has ended."""
        self.process.wait()


class LocalStarter:
    """Starts processes of this machine: a `Starter`."""

    #: That are started beside the boards: none.
    processes: Sequence[int] = ()

    def __init__(self) -> None:
        self.token = secrets.token_bytes(32)

    def start(self, number: int) -> LocalHost:
        """As of `Starter`."""
        return LocalHost(self.token)

    def close(self) -> None:
        """Do nothing: boards are ended by who has started them."""


class ApartBoard:
    """A `PodBoard` in a process of its own.

    Parameters
    ----------
    chips
        Their numbers in the pod.
    host
        Where it is.
    patience
        Seconds that its neighbours wait for it.

    Attributes
    ----------
    lost
        Whether nobody is connected with it.
    """

    def __init__(self, chips: range, host: Host, patience: float):
        self.numbers, self.host = chips, host
        self.lost = True
        self._own: socket.socket | None = None
        self._hurried = False
        self._patience = patience * _LONGER

    def connect(self, token: bytes) -> None:
        """Wait until it listens, and control it.

        Raises
        ------
        BoardLost
            If it does not, or has a controller.
        """
        address = self.host.address()
        try:
            self._own = enter(address, token, Hello(Role.CONTROL), _BEGIN)
        except NeighbourLost as error:
            raise self._ended(f"cannot be controlled: {error}") from error
        self.lost = False

    @property
    def control(self) -> socket.socket:
        """The connection, by which it answers."""
        assert self._own is not None, "connect comes first"
        return self._own

    def begin(self, name: str, *arguments: Any,
              data: bytes | bytearray | memoryview = b"") -> None:
        """Ask for something; it is done while nobody waits for it. `end` says if nobody does it."""
        # Chips may have to be found in the cache, and processes be started.
        self.control.settimeout(_BEGIN if name == "open" else self._patience)
        with contextlib.suppress(OSError):
            send(self.control, [name, *arguments], data)

    def hurry(self) -> None:
        """Have it answer without waiting for neighbours that have not connected."""
        self._hurried = True
        with contextlib.suppress(OSError):
            send(self.control, ["hurry"])

    @property
    def seconds(self) -> float:
        """Which it may take for what it was asked last."""
        return self.control.gettimeout() or 0.0

    def silent(self, seconds: float) -> BoardLost:
        """It has not answered for so long: it is lost."""
        return self._ended(f"has said nothing for {seconds:g} s")

    def end(self) -> tuple[Any, bytearray]:
        """Wait for what was asked for last.

        Raises
        ------
        BoardLost
            If the process has ended, or does not answer.
        Exception
            That of the board.
        """
        try:
            (kind, value), data = receive(self.control)
            if self._hurried:
                receive(self.control)
                self._hurried = False
        except TimeoutError:
            raise self.silent(self.seconds) from None
        except (EOFError, OSError):
            raise self._ended(self.host.end()) from None
        except ValueError as error:
            raise self._ended(f"says what is no message: {error}") from None
        if kind:
            raise raised(kind, value)
        return value, data

    def _ended(self, how: str) -> BoardLost:
        self.lost = True
        return BoardLost(f"{self.host.name} of {say_chips(self.numbers)} must go on, but it {how}")

    def close(self) -> None:
        """Hang up, and end what nobody needs any more; closing twice does nothing."""
        if self._own is not None:
            self._own.close()
        if self.lost:
            self.host.kill()
        else:
            self.host.leave()
