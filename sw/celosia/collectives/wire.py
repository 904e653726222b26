"""Connections between processes that trust each other: a greeting with a token, then messages.

A message is JSON and bytes behind it. Both ends prove that they know the token, and neither
shows it: each answers the other's random bytes with a keyed hash.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import socket
import struct
import threading
from collections.abc import Sequence
from time import monotonic
from typing import Any

__all__ = ["Gone", "ProcessWire", "Silent", "Stranger", "greet", "hear", "receive", "send"]

#: What a greeting begins with; changes with what goes over a wire.
_MAGIC = b"celosia1"
_HELLO = struct.Struct("<8sI32s")
_HEAD = struct.Struct("<IQ")
#: Bytes of JSON, and of what stands behind it, that a message has at most.
_MOST_TEXT, _MOST_BYTES = 1 << 26, 1 << 36
#: Bytes that are given to the other end at once, each with its own time, and for which there is
#: room at first; then there is for so many times what has come.
_PIECE, _MORE = 1 << 20, 8
#: What stands behind a message's JSON.
_Data = bytes | bytearray | memoryview


class Stranger(RuntimeError):
    """The other end of a connection is nobody to talk with; the message says why."""


class Gone(Stranger):
    """The other end of a connection has hung up before it has said who it is."""


class Silent(Stranger):
    """The other end of a connection has not said who it is in time."""


def greet(sock: socket.socket, token: bytes, own: int, seconds: float) -> int:
    """Return the number of the one at the other end, who knows the token.

    Parameters
    ----------
    sock
        Connected; nothing has been sent. Afterwards it has some time limit.
    token
        What all of them know.
    own
        Number of this one.
    seconds
        That all of it may take.

    Raises
    ------
    Stranger
        If it does not know the token; `Gone`, `Silent` if it does not say anything.
    """
    end = monotonic() + seconds
    mine = secrets.token_bytes(32)
    try:
        sock.settimeout(seconds)
        sock.sendall(_HELLO.pack(_MAGIC, own, mine))
    except OSError:
        raise Gone("it must greet, but it is gone") from None
    magic, other, theirs = _HELLO.unpack(hear(sock, _HELLO.size, end))
    if magic != _MAGIC:
        raise Stranger(f"it must begin with {_MAGIC!r}, not {magic!r}")
    if other == own:  # else it could say whatever it is told
        raise Stranger(f"it must be another one than {own}")
    try:
        sock.sendall(_proof(token, own, other, mine + theirs))
    except OSError:
        raise Gone("it must greet, but it is gone") from None
    answer = hear(sock, hashlib.sha256().digest_size, end)
    if not hmac.compare_digest(answer, _proof(token, other, own, theirs + mine)):
        raise Stranger("it must know the token, but it has another one")
    return other


def hear(sock: socket.socket, size: int, end: float) -> bytes:
    """Return so many bytes that a greeting has, which are there by a time of `time.monotonic`.

    Raises
    ------
    Gone, Silent
        If they do not come.
    """
    found = b""
    while len(found) < size:
        if (left := end - monotonic()) <= 0:
            raise Silent(f"it must greet in time, but it has said {len(found)} of {size} bytes")
        sock.settimeout(left)
        try:
            more = sock.recv(size - len(found))
        except TimeoutError:
            continue
        except OSError:
            more = b""
        if not more:
            raise Gone("it must greet, but it is gone")
        found += more
    return found


def _proof(token: bytes, speaker: int, listener: int, nonces: bytes) -> bytes:
    return hmac.digest(token, b"%d to %d " % (speaker, listener) + nonces, "sha256")


def send(sock: socket.socket, value: Any, *data: _Data) -> None:
    """Send a message: a value of JSON, and bytes.

    Raises
    ------
    OSError
        If the other end is gone, or takes nothing for as long as the socket waits.
    """
    text, views = json.dumps(value).encode(), [memoryview(each).cast("B") for each in data]
    sock.sendall(_HEAD.pack(len(text), sum(each.nbytes for each in views)) + text)
    for each in views:
        for first in range(0, each.nbytes, _PIECE):
            sock.sendall(each[first:first + _PIECE])


def receive(sock: socket.socket) -> tuple[Any, bytearray]:
    """Wait for a message.

    Raises
    ------
    EOFError
        If the other end is gone.
    TimeoutError
        If it says nothing for as long as the socket waits.
    ValueError
        If a message is longer than any.
    """
    length, size = _HEAD.unpack(_exactly(sock, _HEAD.size))
    if length > _MOST_TEXT or size > _MOST_BYTES:
        raise ValueError(f"a message must have at most {_MOST_TEXT} and {_MOST_BYTES} bytes, not "
                         f"{length} and {size}")
    return json.loads(_exactly(sock, length)), _exactly(sock, size)


def _exactly(sock: socket.socket, size: int) -> bytearray:
    data, done = bytearray(min(size, _PIECE)), 0
    while done < size:
        if done == len(data):  # no more room than some of what has come: lengths may be wrong
            came, data = data, bytearray(min(size, _MORE * done))
            data[:done] = came
        with memoryview(data) as view:
            try:
                count = sock.recv_into(view[done:])
            except ConnectionError:
                count = 0
        if not count:
            raise EOFError("the other end is gone")
        done += count
    return data


class ProcessWire:
    """A connection to a process that was greeted. Any thread may send; one receives.

    Parameters
    ----------
    sock
        Its own from now on.
    patience
        Seconds after which an end that does not take, or say, anything is given up.
    """

    def __init__(self, sock: socket.socket, patience: float):
        self._sock, self._lock = sock, threading.Lock()
        sock.settimeout(patience)
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, head: Any, data: Sequence[memoryview] = ()) -> None:
        """Send a message; errors as of `send`."""
        with self._lock:
            send(self._sock, head, *data)

    def beat(self, head: Any) -> None:
        """Send a message if no other one is under way: that says as well that this end lives."""
        if self._lock.acquire(blocking=False):
            try:
                send(self._sock, head)
            finally:
                self._lock.release()

    def receive(self) -> tuple[Any, bytearray]:
        """Wait for a message; errors as of `receive`."""
        try:
            return receive(self._sock)
        except TimeoutError:
            raise
        except OSError:  # this end has hung up
            raise EOFError("the other end is gone") from None

    def finish(self) -> None:
        """Say that nothing is sent any more; the other end hangs up when it has read all."""
        with self._lock:
            try:
                self._sock.shutdown(socket.SHUT_WR)
            except OSError:  # the other end was faster
                pass

    def close(self) -> None:
        """Hang up; who receives ends with EOFError."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:  # the other end was faster
            pass
        self._sock.close()
