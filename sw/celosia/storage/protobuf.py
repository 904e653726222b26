"""The encoding of protocol buffers: fields of messages, one after another."""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["double", "fields", "fixed", "message", "number", "varint", "varint_at"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
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


def fixed(field: int, value: int) -> bytes:
    """Return a field of an unsigned integer that always takes 64 bits."""
    return varint(field << 3 | _FIXED64) + struct.pack("<Q", value)


def message(field: int, value: bytes | str) -> bytes:
    """Return a field of a message, of bytes or of text."""
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | _BYTES) + varint(len(data)) + data


def varint_at(data: bytes, at: int) -> tuple[int, int]:
    """Return the integer at a place, and the place behind it; IndexError if it is cut."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and contents of each field of a message.

    Raises
    ------
    ValueError, IndexError
        If it is cut, or none.
    """
    at = 0
    while at < len(data):
        key, at = varint_at(data, at)
        field, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = varint_at(data, at)
            yield field, value
            continue
        if kind == _BYTES:
            size, at = varint_at(data, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"wire type of field {field} must be 0, 1, 2 or 5, not {kind}")
        if at + size > len(data):
            raise ValueError(f"field {field} must end in the message")
        yield field, data[at:at + size]
        at += size
