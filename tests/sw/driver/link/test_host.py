"""The host's side of the link against replies that are written down: what it sends, and when."""

from __future__ import annotations

import secrets

import pytest

from celosia.arch.link import (
    IDENTITY,
    LINK_MAGIC,
    REPLY,
    REPLY_HEADER,
    REQUEST_HEADER,
    RequestKind,
)
from celosia.driver import DeviceError
from celosia.driver.link import DeviceLost, Link
from celosia.driver.link.frames import FrameDecoder, encode, pack, unpack
from celosia.driver.link.host import Request

BYTE = 1e-4
SESSION = 0x1234_5678


def reply(sequence, kind=RequestKind.READ_REGISTER, payload=b"\1\2\3\4", status=0):
    return encode(pack(REPLY_HEADER, {"sequence": sequence, "kind": kind | REPLY})
                  + payload + bytes([status]))


def hello(**values):
    return reply(0, RequestKind.HELLO, pack(IDENTITY, {
        "magic": LINK_MAGIC, "version": 1, "bus_bytes": 4, "buffer_bytes": 64, "memory_pages": 1,
        "fingerprint": 7, "session": SESSION, **values}))


class Script:
    """A wire from which replies come, each after a write or a silence; None is a silence."""

    name, byte_seconds = "the wire", BYTE

    def __init__(self, *replies):
        self.replies, self.now, self.sent = list(replies), 0.0, []
        self._decoder = FrameDecoder()

    def close(self):
        pass

    def clock(self):
        return self.now

    def write(self, data):
        for body in self._decoder.feed(data):
            values = unpack(REQUEST_HEADER, body)
            self.sent.append((values["sequence"], RequestKind(values["kind"]),
                              round(self.now, 6)))

    def read(self, seconds):
        data = self.replies.pop(0) if self.replies else None
        if data is None:
            self.now += seconds
            return b""
        return data


@pytest.fixture(autouse=True)
def session(monkeypatch):
    monkeypatch.setattr(secrets, "randbits", lambda bits: {32: SESSION}[bits])


def opened(*replies, **options):
    wire = Script(hello(), *replies)
    link = Link(wire, clock=wire.clock, **options)
    del wire.sent[:]
    return wire, link


def reads(count):
    return [Request(RequestKind.READ_REGISTER, 4 * n, 4) for n in range(count)]


def numbers(wire):
    return [number for number, *_ in wire.sent]


def test_a_session_is_what_a_board_says_of_this_number():
    other = hello(session=5)
    short = reply(0, RequestKind.HELLO, b"1234")
    wire = Script(other, short, reply(0), None, hello(buffer_bytes=999))
    link = Link(wire, clock=wire.clock)
    assert link.identity["buffer_bytes"] == 999
    # Asked for again after half a second, and the time of a hundred bytes.
    wait = 0.5 + 100 * BYTE
    assert wire.sent == [(0, RequestKind.HELLO, 0.0), (0, RequestKind.HELLO, round(wait, 6))]
    for name, value, says in (("magic", 5, "must be 0x4b4e4c43, not 0x5"),
                              ("version", 2, "must be 0x1, not 0x2")):
        wire = Script(hello(**{name: value}))
        with pytest.raises(DeviceError, match=f"^{name} of the link on the wire {says}: "):
            Link(wire, clock=wire.clock)


def test_a_request_is_a_header_and_its_payload():
    """Number, kind, bytes, address."""
    wire = Script(hello(), reply(0, RequestKind.WRITE_MEMORY, b""))
    texts = []
    write, wire.write = wire.write, lambda data: texts.append(data) or write(data)
    Link(wire, clock=wire.clock).transact([
        Request(RequestKind.WRITE_MEMORY, 0x0102_0304, 3, b"abc")])
    assert texts == [encode(bytes.fromhex("00 01 0000 78563412")),
                     encode(bytes.fromhex("00 06 0300 04030201") + b"abc")]


def test_one_attempt_may_be_enough():
    _, link = opened(reply(0), attempts=1)
    assert link.transact(reads(1))[0].payload == b"\1\2\3\4"
    assert link.resent == 0


def test_as_many_requests_are_in_flight_as_the_board_holds():
    # Each takes 12 of 64 bytes, and gives them back.
    wire, link = opened(*(reply(n) for n in range(7)))
    seen = []
    read = wire.read

    def look(seconds):
        seen.append(numbers(wire))
        return read(seconds)

    wire.read = look
    assert len(link.transact(reads(7))) == 7
    assert seen == [[*range(5)], [*range(6)], *[[*range(7)]] * 5]
    # A window of eight at most.
    wire = Script(hello(buffer_bytes=10_000), *(reply(n) for n in range(12)))
    link = Link(wire, clock=wire.clock)
    wire.read, read = look, wire.read
    del seen[:], wire.sent[:]
    link.transact(reads(12))
    assert seen[:2] == [[*range(8)], [*range(9)]]


def test_numbers_go_on_from_call_to_call_and_round():
    wire, link = opened(*(reply(n & 0xFF) for n in range(300)))
    for _ in range(30):
        link.transact(reads(10))
    assert numbers(wire) == [n & 0xFF for n in range(300)]


def test_what_is_not_answered_in_time_is_sent_again():
    wire, link = opened(None, reply(0), None, reply(1), timeout=0.25)
    link.transact(reads(2))
    # A request and its reply: their bytes, and 16 more of each.
    first = 0.25 + 2 * (8 + 2 + 4 + 32) * BYTE
    second = first + 0.25 + (8 + 2 + 4 + 32) * BYTE
    assert [(number, at) for number, _, at in wire.sent] == [
        (0, 0.0), (1, 0.0), (0, round(first, 6)), (1, round(first, 6)), (1, round(second, 6))]
    assert link.resent == 3


def test_those_before_one_that_is_answered_are_sent_again_once():
    # The replies to 0 and 1 are lost; that to 3 comes before those to what was sent again.
    wire, link = opened(reply(2), reply(3), reply(0), reply(1))
    assert len(link.transact(reads(4))) == 4
    assert numbers(wire) == [0, 1, 2, 3, 0, 1]
    assert link.resent == 2


def test_the_board_may_ask_for_all_from_one_on():
    def again(number):
        return reply(number, RequestKind.AGAIN, b"")

    wire, link = opened(again(2), *(reply(n) for n in range(4)))
    link.transact(reads(4))
    assert numbers(wire) == [0, 1, 2, 3, 2, 3]
    # Where it has served all of them, their replies were lost; a number that is none is none.
    wire, link = opened(again(4), *(reply(n) for n in range(4)))
    link.transact(reads(4))
    assert numbers(wire) == [0, 1, 2, 3, 0, 1, 2, 3]
    wire, link = opened(again(5), again(200), *(reply(n) for n in range(4)))
    link.transact(reads(4))
    assert numbers(wire) == [0, 1, 2, 3]
    # Not those that were answered.
    wire, link = opened(reply(3), again(0), *(reply(n) for n in range(3)))
    link.transact(reads(4))
    assert numbers(wire) == [0, 1, 2, 3, 0, 1, 2, 0, 1, 2]


def test_replies_that_nobody_waits_for_are_none():
    other = reply(1, RequestKind.POLL)
    wire, link = opened(reply(2), reply(200), other, reply(0, payload=b"", status=0)[:3], b"",
                        reply(0, payload=b"first"), reply(0, payload=b"again"),
                        reply(1, payload=b"second"))
    assert [each.payload for each in link.transact(reads(2))] == [b"first", b"second"]


def test_a_request_that_is_refused_is_an_error_and_the_next_call_opens_a_session():
    wire, link = opened(reply(0, status=4), hello(), reply(0))
    with pytest.raises(DeviceError, match="^the board must serve READ_REGISTER of 4 bytes, but it "
                                          "refuses$"):
        link.transact(reads(1))
    assert len(link.transact(reads(1))) == 1
    assert [kind for _, kind, _ in wire.sent] == [
        RequestKind.READ_REGISTER, RequestKind.HELLO, RequestKind.READ_REGISTER]


def test_a_board_that_is_lost_stays_lost():
    wire, link = opened(attempts=3)
    says = "^the board on the wire must answer, but it did not, 3 times$"
    with pytest.raises(DeviceLost, match=says):
        link.transact(reads(1))
    assert numbers(wire) == [0, 0, 0]
    with pytest.raises(DeviceLost, match=says):
        link.transact(reads(1))
    assert numbers(wire) == [0, 0, 0]
    # So is one that knows no session.
    _, link = opened(reply(0, status=8))
    for _ in range(2):
        with pytest.raises(DeviceLost, match="^the board on the wire must know this session, but"):
            link.transact(reads(1))
