"""The host's side of the link: requests through a window, each answered exactly once."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from celosia.arch.link import (
    CRC_BYTES,
    IDENTITY,
    LINK_MAGIC,
    PROTOCOL_VERSION,
    REPLY,
    REPLY_HEADER,
    REQUEST_HEADER,
    SEQUENCE_BITS,
    WINDOW,
    ReplyStatus,
    RequestKind,
    size,
)
from celosia.driver.errors import DeviceError
from celosia.driver.link.errors import DeviceLost
from celosia.driver.link.frames import FrameDecoder, encode, pack, unpack
from celosia.driver.link.wire import Wire

__all__ = ["Link", "Reply", "Request"]

_HEADER, _REPLY_HEADER = size(REQUEST_HEADER), size(REPLY_HEADER)
_SEQUENCES = 1 << SEQUENCE_BITS
#: FLAGs, CRC, status, and a little for stuffing.
_FRAME_EXTRA = 16


@dataclass(frozen=True, slots=True)
class Request:
    """What the board is asked for; the fields are those of REQUEST_HEADER."""

    kind: RequestKind
    address: int = 0
    count: int = 0
    payload: bytes = b""

    @property
    def stored(self) -> int:
        """Bytes that it takes in the board's buffer while it comes."""
        return _HEADER + len(self.payload) + CRC_BYTES

    @property
    def carried(self) -> int:
        """Bytes on the wire of it and its reply, about."""
        return _HEADER + _REPLY_HEADER + self.count + 2 * _FRAME_EXTRA


@dataclass(frozen=True, slots=True)
class Reply:
    """The board's answer."""

    payload: bytes
    status: ReplyStatus


@dataclass(slots=True)
class _Flight:
    """A request that has been sent.

    ``first`` and ``last`` number the times of its first and last sending.
    """

    sequence: int
    request: Request
    reply: Reply | None = None
    attempts: int = 0
    first: int = 0
    last: int = 0


class Link:
    """A session with the board at the other end of a wire.

    Parameters
    ----------
    wire
        The way to the board; not closed by the link.
    timeout
        Seconds without an answer, beyond the time that the bytes take, after which requests are
        sent again.
    attempts
        Times that a request is sent before the board counts as lost.
    clock
        Seconds that go by.

    Attributes
    ----------
    identity
        Values of `celosia.arch.link.IDENTITY`.
    resent
        Requests that were sent again so far.

    Raises
    ------
    DeviceLost
        If no board answers.
    DeviceError
        If what answers is no board of this protocol.
    """

    def __init__(self, wire: Wire, *, timeout: float = 0.5, attempts: int = 10,
                 clock: Callable[[], float] = time.monotonic):
        if not timeout > 0:
            raise ValueError(f"timeout must be above 0 seconds, not {timeout!r}")
        if attempts < 1:
            raise ValueError(f"attempts must be at least 1, not {attempts!r}")
        self._wire, self._timeout, self._attempts, self._clock = wire, timeout, attempts, clock
        self._decoder = FrameDecoder()
        self._sequence = self._sendings = 0
        self._out: list[bytes] = []
        self._why_lost = ""
        self._stale = False  # a call was broken off: what is in flight is not known
        self.resent = 0
        self.identity = self._hello()

    @property
    def garbled(self) -> int:
        """Frames from the board that came garbled so far."""
        return self._decoder.garbled

    def transact(self, requests: Iterable[Request]) -> list[Reply]:
        """Have requests served, in order; return their replies.

        Requests of one call are in flight together. A read may be served again after a later
        request of the call, so what one of them writes no other of them should read.

        Raises
        ------
        DeviceLost
            If the board does not answer; every later call raises it at once.
        DeviceError
            If the board refuses a request.
        """
        if self._why_lost:
            raise DeviceLost(self._why_lost)
        if self._stale:
            self.identity = self._hello()
        source = iter(requests)
        upcoming = next(source, None)
        flights: deque[_Flight] = deque()
        room = self.identity["buffer_bytes"]
        replies: list[Reply] = []
        self._stale = True
        while upcoming is not None or flights:
            while upcoming is not None and len(flights) < WINDOW and upcoming.stored <= room:
                flights.append(_Flight(self._sequence, upcoming))
                self._sequence = (self._sequence + 1) % _SEQUENCES
                room -= upcoming.stored
                self._send(flights[-1])
                upcoming = next(source, None)
            self._progress(flights)
            while flights and (reply := flights[0].reply) is not None:
                flight = flights.popleft()
                room += flight.request.stored
                if reply.status & ReplyStatus.REFUSED:
                    raise DeviceError(f"the board must serve {flight.request.kind.name} of "
                                      f"{flight.request.count} bytes, but it refuses")
                replies.append(reply)
        self._stale = False
        return replies

    def _send(self, flight: _Flight) -> None:
        if flight.attempts == self._attempts:
            raise self._lost(f"the board on {self._wire.name} must answer, but it did not, "
                             f"{self._attempts} times")
        self._sendings += 1
        flight.last = self._sendings
        if not flight.attempts:
            flight.first = self._sendings
        else:
            self.resent += 1
        flight.attempts += 1
        request = flight.request
        header = pack(REQUEST_HEADER, {
            "sequence": flight.sequence, "kind": request.kind, "count": request.count,
            "address": request.address})
        self._out.append(encode(header + request.payload))

    def _progress(self, flights: deque[_Flight]) -> None:
        """Return when a reply has come, or something has been sent again."""
        self._flush()
        carried = sum(flight.request.carried for flight in flights)
        deadline = self._clock() + self._timeout + carried * self._wire.byte_seconds
        moved = False
        while not moved:
            for body in self._receive(deadline):
                moved |= self._accept(flights, body)
            if not moved and self._clock() >= deadline:
                self._repeat(flight for flight in flights if flight.reply is None)
                return

    def _accept(self, flights: deque[_Flight], body: bytes) -> bool:
        """Take a body from the board; return whether anything came of it."""
        if len(body) <= _REPLY_HEADER:
            return False
        header = unpack(REPLY_HEADER, body)
        status = ReplyStatus(body[-1])
        if status & ReplyStatus.NO_SESSION:
            raise self._lost(f"the board on {self._wire.name} must know this session, but it was "
                             f"reset")
        index = (header["sequence"] - flights[0].sequence) % _SEQUENCES
        if header["kind"] == RequestKind.AGAIN | REPLY and index <= len(flights):
            # Those before it were served, so where none is left their replies were lost.
            begin = index if index < len(flights) else 0
            return self._repeat(flight for flight in islice(flights, begin, None)
                                if flight.reply is None)
        if index >= len(flights):
            return False
        flight = flights[index]
        if flight.reply is not None or header["kind"] != flight.request.kind | REPLY:
            return False
        flight.reply = Reply(body[_REPLY_HEADER:-1], status)
        # Replies keep their order: those that should have come before this one were lost.
        self._repeat(earlier for earlier in islice(flights, index)
                     if earlier.reply is None and earlier.last < flight.first)
        return True

    def _repeat(self, flights: Iterable[_Flight]) -> bool:
        """Send requests again; return whether there were any."""
        chosen = list(flights)
        for flight in chosen:
            self._send(flight)
        self._flush()
        return bool(chosen)

    def _hello(self) -> dict[str, int]:
        """Open a session."""
        session = secrets.randbits(32)
        header = pack(REQUEST_HEADER, {"sequence": 0, "kind": RequestKind.HELLO, "count": 0,
                                       "address": session})
        for _ in range(self._attempts):
            self._out = [encode(header)]
            self._flush()
            deadline = self._clock() + self._timeout + 100 * self._wire.byte_seconds
            while self._clock() < deadline:
                for body in self._receive(deadline):
                    identity = self._identity(body)
                    if identity is not None and identity["session"] == session:
                        self._sequence = 0
                        self._stale = False
                        return identity
        raise self._lost(f"a board must answer on {self._wire.name}, but none did, "
                         f"{self._attempts} times (is the baud rate right?)")

    def _identity(self, body: bytes) -> dict[str, int] | None:
        """Return the identity in a body, or None where it holds none."""
        payload = body[_REPLY_HEADER:-1]
        if len(payload) != size(IDENTITY) or body[1] != RequestKind.HELLO | REPLY:
            return None
        identity = unpack(IDENTITY, payload)
        for name, wanted in (("magic", LINK_MAGIC), ("version", PROTOCOL_VERSION)):
            if identity[name] != wanted:
                raise DeviceError(f"{name} of the link on {self._wire.name} must be {wanted:#x}, "
                                  f"not {identity[name]:#x}: the bitstream is of another version")
        return identity

    def _receive(self, deadline: float) -> list[bytes]:
        """Return the bodies that came, none when it is too late."""
        try:
            data = self._wire.read(max(0.0, deadline - self._clock()))
        except OSError as error:
            raise self._lost(f"the board on {self._wire.name} must stay connected, but reading "
                             f"failed: {error}") from error
        return self._decoder.feed(data) if data else []

    def _flush(self) -> None:
        if not self._out:
            return
        data, self._out = b"".join(self._out), []
        try:
            self._wire.write(data)
        except OSError as error:
            raise self._lost(f"the board on {self._wire.name} must stay connected, but writing "
                             f"failed: {error}") from error

    def _lost(self, why: str) -> DeviceLost:
        self._why_lost = why
        return DeviceLost(why)
