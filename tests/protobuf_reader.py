"""Reads the encoding of protocol buffers, for tests of what writes it."""

import struct
from collections.abc import Iterator


def fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Yield number and contents of each field of a message."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        elif kind == 1:
            at += 8
            yield key >> 3, struct.unpack("<d", data[at - 8:at])[0]
        else:
            assert kind == 2, kind
            size = varint()
            at += size
            yield key >> 3, data[at - size:at]
