"""The encoding of protocol buffers: fields of messages, one after another."""

from __future__ import annotations

import struct

__all__ = ["double", "message", "number", "varint"]

_VARINT, _FIXED64, _BYTES = 0, 1, 2
_WORD = (1 << 64) - 1


def varint(value: int) -> bytes:
    """Return an integer of 64 bits, a negative one in two's complement."""
    value &= _WORD
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def number(field: int, value: int) -> bytes:
    """Return a field of an integer, a boolean or an enumeration."""
    return varint(field << 3 | _VARINT) + varint(value)


def double(field: int, value: float) -> bytes:
    """Return a field of a floating-point number of 64 bits."""
    return varint(field << 3 | _FIXED64) + struct.pack("<d", value)


def message(field: int, value: bytes | str) -> bytes:
    """Return a field of a message, of bytes or of text."""
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | _BYTES) + varint(len(data)) + data
