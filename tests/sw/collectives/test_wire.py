"""Greetings that only those who know the token pass, and messages."""

import re
import socket
import struct
import threading
import tracemalloc

import numpy as np
import pytest

from celosia.collectives.wire import ProcessWire, Stranger, greet, receive, send

TOKEN = b"all of us know it"


@pytest.fixture
def ends():
    a, b = socket.socketpair()
    with a, b:
        yield a, b


def together(*calls):
    """Return what functions return, or raise, each in a thread of its own."""
    found = [None] * len(calls)

    def run(i):
        try:
            found[i] = calls[i]()
        except Exception as error:
            found[i] = error

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    return found


def test_each_learns_who_the_other_is(ends):
    assert together(lambda: greet(ends[0], TOKEN, 3, 5), lambda: greet(ends[1], TOKEN, 7, 5)) == [
        7, 3]


def test_another_token_is_refused_at_both_ends(ends):
    found = together(lambda: greet(ends[0], TOKEN, 0, 5), lambda: greet(ends[1], b"none", 1, 5))
    assert [str(each) for each in found] == [
        "it must know the token, but it has another one"] * 2
    assert all(isinstance(each, Stranger) for each in found)


def echo(sock):
    """Say whatever the other end says, as one who does not know the token may."""
    try:
        while data := sock.recv(100):
            sock.sendall(data)
    except OSError:
        pass


@pytest.mark.parametrize(("stranger", "wanted"), [
    (lambda sock: None, "it must greet in time, but it has said 0 of 44 bytes"),
    (lambda sock: sock.close(), "it must greet, but it is gone"),
    (lambda sock: sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost:80\r\n\r\n" + bytes(44)),
     "it must begin with b'celosia1', not b'GET / HT'"),
    (echo, "it must be another one than 0")])
def test_a_stranger_is_refused(ends, stranger, wanted):
    threading.Thread(target=stranger, args=(ends[1],), daemon=True).start()
    with pytest.raises(Stranger, match=f"^{re.escape(wanted)}$"):
        greet(ends[0], TOKEN, 0, 0.1)


def test_messages_of_all_sizes_arrive(ends):
    one, other = (ProcessWire(end, 10) for end in ends)
    pieces = [bytes(range(256)) * 20_000, b"", b"last"]

    def give():
        one.send(["small", 1])
        one.send({"large": True}, [memoryview(each) for each in pieces])
        one.beat([])

    _, found = together(give, lambda: [other.receive() for _ in range(3)])
    assert found == [(["small", 1], b""), ({"large": True}, b"".join(pieces)), ([], b"")]


def test_the_end_and_silence_are_told_apart(ends):
    one, other = ProcessWire(ends[0], 0.1), ProcessWire(ends[1], 0.1)
    with pytest.raises(TimeoutError):
        one.receive()
    other.close()
    with pytest.raises(EOFError, match="the other end is gone"):
        one.receive()


@pytest.mark.parametrize(("length", "size"), [(1 << 31, 0), (2, 1 << 40)])
def test_a_length_is_looked_at_before_there_is_memory_for_it(ends, length, size):
    ends[1].sendall(struct.pack("<IQ", length, size))
    with pytest.raises(ValueError, match=f"^a message must have at most 67108864 and 68719476736 "
                                         f"bytes, not {length} and {size}$"):
        ProcessWire(ends[0], 1).receive()


def test_what_nobody_takes_is_not_waited_for(ends):
    with pytest.raises(TimeoutError):
        ProcessWire(ends[0], 0.1).send([], [memoryview(bytes(1 << 24))])


def test_a_length_takes_no_room_before_the_bytes_are_there(ends):
    ends[1].sendall(struct.pack("<IQ", 2, 1 << 31) + b"[]" + bytes(1000))
    ends[1].close()
    tracemalloc.start()
    with pytest.raises(EOFError, match="^the other end is gone$"):
        receive(ends[0])
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


def test_who_hangs_up_within_a_message(ends):
    ends[1].sendall(struct.pack("<IQ", 10, 0) + b"[1")
    ends[1].close()
    with pytest.raises(EOFError, match="^the other end is gone$"):
        receive(ends[0])


def test_bytes_of_any_kind_stand_behind_a_message(ends):
    send(ends[0], ["x"], b"12", bytearray(b"34"), memoryview(np.array([1, 2], np.uint16)))
    assert receive(ends[1]) == (["x"], b"1234\1\0\2\0")
