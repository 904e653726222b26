"""Messages between a pod and its boards."""

from __future__ import annotations

import socket
import struct
import threading
import tracemalloc

import pytest

from celosia_sim.pod.messages import receive, send


def test_messages_come_in_their_order_with_their_bytes():
    a, b = socket.socketpair()
    with a, b:
        send(a, ["read", 1, None])
        send(a, {"x": "y"}, b"12345")
        assert receive(b) == (["read", 1, None], b"")
        assert receive(b) == ({"x": "y"}, b"12345")


@pytest.mark.parametrize("sizes", [((1 << 26) + 1, 0), (2, (1 << 32) + 1)])
def test_what_is_too_long_is_refused_before_there_is_room_for_it(sizes):
    a, b = socket.socketpair()
    with a, b:
        a.sendall(struct.pack("<IQ", *sizes))
        with pytest.raises(ValueError, match=(
                "^a message must have at most 67108864 and 4294967296 bytes, not "
                f"{sizes[0]} and {sizes[1]}$")):
            receive(b)


def test_a_length_takes_no_room_before_the_bytes_are_there():
    a, b = socket.socketpair()
    with b:
        with a:
            a.sendall(struct.pack("<IQ", 2, 1 << 31) + b"[]" + bytes(1000))
        tracemalloc.start()
        with pytest.raises(EOFError, match="^the other end is gone$"):
            receive(b)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
        tracemalloc.stop()


def test_large_messages():
    data = bytes(range(256)) * 20_000
    a, b = socket.socketpair()
    with a, b:
        thread = threading.Thread(target=send, args=[a, "x", data])
        thread.start()
        assert receive(b) == ("x", data)
        thread.join()


def test_who_hangs_up_within_a_message():
    a, b = socket.socketpair()
    with b:
        with a:
            a.sendall(struct.pack("<IQ", 10, 0) + b"[1")
        with pytest.raises(EOFError, match="^the other end is gone$"):
            receive(b)
