"""A board's side of the link in Python: what `celosia_hw.soc.link` does, frame by frame."""

from collections.abc import Callable

import numpy as np

from celosia.arch.config import TpuConfig
from celosia.arch.link import (
    MAX_PAYLOAD,
    REPLY,
    REPLY_HEADER,
    REQUEST_HEADER,
    SEQUENCE_BITS,
    WINDOW,
    WORD_BYTES,
    LinkConfig,
    ReplyStatus,
    RequestKind,
    identity,
    size,
)
from celosia.arch.registers import ADDRESS_BITS
from celosia.driver.errors import BusError
from celosia.driver.link.frames import FrameDecoder, encode, pack, unpack
from celosia.driver.transport import Transport

__all__ = ["Board"]

_HEADER = size(REQUEST_HEADER)
_SEQUENCES = 1 << SEQUENCE_BITS
_SLVERR = 2
_WRITES = (RequestKind.WRITE_REGISTER, RequestKind.WRITE_MEMORY)


class Board:
    """Serves requests with a chip behind any transport.

    Parameters
    ----------
    target
        The chip.
    config
        What it is.
    link
        The wire side, for the identity.
    """

    def __init__(self, target: Transport, config: TpuConfig, link: LinkConfig):
        self._target, self._config, self._link = target, config, link
        self._decoder = FrameDecoder()
        self.reset()

    def reset(self) -> None:
        """Forget the session, as the reset pin does."""
        self._session: int | None = None
        self._expected = 0
        self._muted = False
        self._answers: dict[int, ReplyStatus] = {}

    def feed(self, data: bytes) -> bytes:
        """Take bytes of the wire; return the board's."""
        garbled = self._decoder.garbled
        out = b"".join(self._serve(body) for body in self._decoder.feed(data))
        if self._decoder.garbled != garbled and not self._muted:
            out += self._again()
        return out

    def _reply(self, sequence: int, kind: int, payload: bytes, status: ReplyStatus) -> bytes:
        if self._target.wait_interrupt(0):
            status |= ReplyStatus.INTERRUPT
        if self._session is None:
            status |= ReplyStatus.NO_SESSION
        header = pack(REPLY_HEADER, {"sequence": sequence, "kind": kind | REPLY})
        return encode(header + payload + bytes([status]))

    def _again(self) -> bytes:
        self._muted = True
        return self._reply(self._expected, RequestKind.AGAIN, b"", ReplyStatus(0))

    def _serve(self, body: bytes) -> bytes:
        if len(body) < _HEADER:
            return b"" if self._muted else self._again()
        header, payload = unpack(REQUEST_HEADER, body), body[_HEADER:]
        sequence, kind, address = header["sequence"], header["kind"], header["address"]
        if kind == RequestKind.HELLO:
            if self._session != address:
                self.reset()
                self._session = address
            return self._reply(sequence, kind, self._identity(), ReplyStatus(0))
        age = (self._expected - sequence) % _SEQUENCES
        if self._session is None or age > WINDOW:
            silent = self._muted and self._session is not None
            return b"" if silent else self._again()
        if age == 0:
            self._expected = (self._expected + 1) % _SEQUENCES
            self._muted = False
        if not self._sound(kind, header["count"], len(payload)):
            return self._reply(sequence, kind, b"", ReplyStatus.REFUSED)
        if age and kind in _WRITES:
            status = self._answers.get(sequence % WINDOW, ReplyStatus(0))
            return self._reply(sequence, kind, b"", status)
        answer, status = self._do(RequestKind(kind), address, header["count"], payload)
        if kind in _WRITES:
            self._answers[sequence % WINDOW] = status
        return self._reply(sequence, kind, answer, status)

    def _identity(self) -> bytes:
        return identity(self._config, self._link, self._session or 0)

    @staticmethod
    def _sound(kind: int, count: int, payload: int) -> bool:
        """Whether a request has a meaning."""
        if kind == RequestKind.POLL:
            return count == payload == 0
        if kind in (RequestKind.READ_REGISTER, RequestKind.WRITE_REGISTER):
            fits = count == WORD_BYTES
        elif kind in (RequestKind.READ_MEMORY, RequestKind.WRITE_MEMORY):
            fits = 1 <= count <= MAX_PAYLOAD
        else:
            return False
        return fits and payload == (count if kind in _WRITES else 0)

    def _do(self, kind: RequestKind, address: int, count: int,
            payload: bytes) -> tuple[bytes, ReplyStatus]:
        offset = address % (1 << ADDRESS_BITS)
        actions: dict[RequestKind, Callable[[], bytes | None]] = {
            RequestKind.POLL: lambda: bytes(WORD_BYTES),
            RequestKind.READ_REGISTER:
                lambda: self._target.read_register(offset).to_bytes(WORD_BYTES, "little"),
            RequestKind.WRITE_REGISTER:
                lambda: self._target.write_register(offset, int.from_bytes(payload, "little")),
            RequestKind.READ_MEMORY: lambda: self._target.read_memory(address, count).tobytes(),
            RequestKind.WRITE_MEMORY:
                lambda: self._target.write_memory(address, np.frombuffer(payload, np.uint8)),
        }
        try:
            return actions[kind]() or b"", ReplyStatus(0)
        except BusError:
            reads = kind in (RequestKind.READ_REGISTER, RequestKind.READ_MEMORY)
            return bytes(count if reads else 0), ReplyStatus(_SLVERR)
