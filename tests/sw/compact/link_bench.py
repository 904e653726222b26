"""The firmware's link beside the Python board: the same bytes in, the same bytes out."""

import zlib

import numpy as np

from celosia.arch.config import TpuConfig, preset
from celosia.arch.link import (
    CRC_BYTES,
    ESCAPE,
    ESCAPE_XOR,
    FLAG,
    REPLY,
    REQUEST_HEADER,
    LinkConfig,
    ReplyStatus,
    RequestKind,
    size,
)
from celosia.driver.link.frames import FrameDecoder, encode, pack
from celosia.driver.model import ModelTransport
from celosia_sim.compact import CompactHost
from sw.driver.link.board import Board

__all__ = ["LINK", "NANO", "SIZE", "FirmwareBoard", "HardwareBoard", "Pair", "frame", "hello"]

NANO, SIZE = preset("nano"), 1 << 16
LINK = LinkConfig(8_000_000, memory_bytes=SIZE)
SESSION = 0x7D7E1234
_SHORTEST = size(REQUEST_HEADER) + CRC_BYTES
_DECERR = 3
_SPACE = 1 << 32


def frame(sequence: int, kind: int, address: int = 0, count: int = 0,
          payload: bytes = b"") -> bytes:
    return encode(pack(REQUEST_HEADER, {"sequence": sequence % 256, "kind": kind, "count": count,
                                        "address": address}) + payload)


def hello(session: int = SESSION) -> bytes:
    return frame(0, RequestKind.HELLO, session)


class _Deframer(FrameDecoder):
    """Takes out the stuffing as `celosia_hw.soc.link.deframer`, also where it makes no sense."""

    def __init__(self, buffer_bytes: int):
        super().__init__()
        self._room, self._text, self._escaped = buffer_bytes, bytearray(), False

    def feed(self, data: bytes) -> list[bytes]:
        bodies = []
        for byte in data:
            if byte == FLAG:
                text, escaped = bytes(self._text), self._escaped
                self._text.clear()
                self._escaped = False
                good = (not escaped and _SHORTEST <= len(text) <= self._room
                        and zlib.crc32(text[:-CRC_BYTES]).to_bytes(CRC_BYTES, "little")
                        == text[-CRC_BYTES:])
                if good:
                    bodies.append(text[:-CRC_BYTES])
                else:
                    self.garbled += bool(text)
            elif byte == ESCAPE:
                self._escaped = True
            else:
                self._text.append(byte ^ ESCAPE_XOR if self._escaped else byte)
                self._escaped = False
        return bodies


class HardwareBoard(Board):
    """The Python board, frame by frame, with the deframer and the memory of a board."""

    def __init__(self, config: TpuConfig = NANO, link: LinkConfig = LINK):
        self.chip = ModelTransport(config, link.memory_bytes)
        super().__init__(self.chip, config, link)
        self._decoder = _Deframer(link.buffer_bytes)
        self.beyond = False

    def reset(self) -> None:
        # What a write was answered outlives a session there; nobody sane asks.
        kept = getattr(self, "_answers", {})
        super().reset()
        self._answers = kept

    def feed(self, data: bytes) -> bytes:
        # A batch of frames would be served before what was garbled is looked at.
        feed = super().feed
        return b"".join(feed(bytes([byte])) for byte in data)

    def _do(self, kind: RequestKind, address: int, count: int,
            payload: bytes) -> tuple[bytes, ReplyStatus]:
        if kind not in (RequestKind.READ_MEMORY, RequestKind.WRITE_MEMORY):
            return super()._do(kind, address, count, payload)
        answer, status = bytearray(count), ReplyStatus(0)
        for i in range(count):
            at = (address + i) % _SPACE
            if at >= self.chip.memory_bytes:
                status, self.beyond = ReplyStatus(_DECERR), True
            elif kind == RequestKind.WRITE_MEMORY:
                self.chip.write_memory(at, payload[i:i + 1])
            else:
                answer[i] = self.chip.read_memory(at, 1)[0]
        return (b"" if kind == RequestKind.WRITE_MEMORY else bytes(answer)), status


class FirmwareBoard:
    """The firmware, compiled for this machine, as a board that wires can be put before.

    ``pace``: cycles that pass after it has served what came.
    """

    def __init__(self, config: TpuConfig = NANO, link: LinkConfig = LINK, pace: int = 0):
        self.chip, self._pace = CompactHost(config, link), pace

    def feed(self, data: bytes) -> bytes:
        assert self.chip.feed(data) == len(data)
        self.chip.serve()
        answer = self.chip.take()
        self.chip.run(self._pace)
        return answer

    def close(self) -> None:
        self.chip.close()


class Pair:
    """Both boards, fed with the same."""

    def __init__(self, config: TpuConfig = NANO, link: LinkConfig = LINK):
        self.python, self.firmware = HardwareBoard(config, link), FirmwareBoard(config, link)

    def both(self, data: bytes) -> list[bytes]:
        """Send bytes to both; check that they answer the same, and return the replies."""
        wanted = FrameDecoder().feed(self.python.feed(data))
        wire = self.firmware.feed(data)
        replies = FrameDecoder().feed(wire)
        assert b"".join(map(encode, replies)) == wire
        assert list(map(_timeless, replies)) == list(map(_timeless, wanted))
        assert self.firmware.chip.fault_light == self.python.beyond
        return replies

    def check_memory(self) -> None:
        memory = self.python.chip.read_memory(0, self.python.chip.memory_bytes)
        size = self.firmware.chip.memory_bytes
        assert np.array_equal(self.firmware.chip.read_memory(0, size), memory)

    def close(self) -> None:
        self.firmware.close()


def _timeless(body: bytes) -> bytes:
    """Return a reply without the board's clock."""
    if body[1] == RequestKind.POLL | REPLY and len(body) > 3:
        return body[:2] + bytes(len(body) - 3) + body[-1:]
    return body
