"""What goes between a pod and its boards in other processes: JSON with bytes behind it."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

from celosia_sim.build import ABI

__all__ = ["VERSION", "receive", "send"]

#: Changes with what boards are asked, and what they send each other.
VERSION = f"2.{ABI}"

_HEAD = struct.Struct("<IQ")
#: Bytes of JSON, and of what stands behind it, that a message has at most.
_MOST_TEXT, _MOST_BYTES = 1 << 26, 1 << 32
#: Bytes that are made room for at first.
_PIECE = 1 << 20


def send(to: socket.socket, value: Any, data: bytes | bytearray | memoryview = b"") -> None:
    """Send a message."""
    text = json.dumps(value).encode()
    to.sendall(_HEAD.pack(len(text), len(data)) + text)
    if data:
        to.sendall(data)


def receive(source: socket.socket) -> tuple[Any, bytearray]:
    """Wait for a message.

    Raises
    ------
    EOFError
        If the other end is gone.
    ValueError
        If a message is longer than any.
    """
    length, size = _HEAD.unpack(_exactly(source, _HEAD.size))
    if length > _MOST_TEXT or size > _MOST_BYTES:
        raise ValueError(f"a message must have at most {_MOST_TEXT} and {_MOST_BYTES} bytes, not "
                         f"{length} and {size}")
    return json.loads(_exactly(source, length)), _exactly(source, size)


def _exactly(source: socket.socket, size: int) -> bytearray:
    data, done = bytearray(), 0
    while done < size:
        if done == len(data):  # no more room than what has come, in the end: lengths may be wrong
            data.extend(bytes(min(size - done, max(done, _PIECE))))
        with memoryview(data) as view:
            try:
                count = source.recv_into(view[done:])
            except ConnectionError:
                count = 0
        if not count:
            raise EOFError("the other end is gone")
        done += count
    return data
