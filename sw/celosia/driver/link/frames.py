"""Frames: bodies to bytes of the wire and back."""

import struct
import zlib
from collections.abc import Mapping

from celosia.arch.link import CRC_BYTES, ESCAPE, ESCAPE_XOR, FLAG, MAX_PAYLOAD, FrameField

__all__ = ["FrameDecoder", "encode", "pack", "unpack"]

_FLAG, _ESCAPE = bytes([FLAG]), bytes([ESCAPE])
_STUFFED_FLAG = bytes([ESCAPE, FLAG ^ ESCAPE_XOR])
_STUFFED_ESCAPE = bytes([ESCAPE, ESCAPE ^ ESCAPE_XOR])
_LETTERS = {1: "B", 2: "H", 4: "I"}
#: Bytes without a FLAG after which what comes is no frame, but noise that need not be kept.
_LONGEST = 4 * MAX_PAYLOAD


def _layout(fields: tuple[FrameField, ...]) -> str:
    return "<" + "".join(_LETTERS[field.bytes] for field in fields)


def pack(fields: tuple[FrameField, ...], values: Mapping[str, int]) -> bytes:
    """Return a group of fields as bytes."""
    return struct.pack(_layout(fields), *(values[field.name] for field in fields))


def unpack(fields: tuple[FrameField, ...], data: bytes) -> dict[str, int]:
    """Return the values of a group of fields from the beginning of ``data``."""
    values = struct.unpack_from(_layout(fields), data)
    return {field.name: value for field, value in zip(fields, values, strict=True)}


def encode(body: bytes) -> bytes:
    """Return a body as a frame."""
    text = body + zlib.crc32(body).to_bytes(CRC_BYTES, "little")
    text = text.replace(_ESCAPE, _STUFFED_ESCAPE).replace(_FLAG, _STUFFED_FLAG)
    return b"".join((_FLAG, text, _FLAG))


class FrameDecoder:
    """Finds frames in bytes that come in pieces of any size.

    Attributes
    ----------
    garbled
        Frames so far that were wrong and have been passed over.
    """

    def __init__(self) -> None:
        self.garbled = 0
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the bodies of the frames that end in ``data``."""
        *ended, rest = (self._rest + data).split(_FLAG)
        self._rest = rest[-_LONGEST:]
        bodies = []
        for text in filter(None, ended):
            text = text.replace(_STUFFED_FLAG, _FLAG).replace(_STUFFED_ESCAPE, _ESCAPE)
            body, crc = text[:-CRC_BYTES], text[-CRC_BYTES:]
            if body and crc == zlib.crc32(body).to_bytes(CRC_BYTES, "little"):
                bodies.append(body)
            else:
                self.garbled += 1
        return bodies
