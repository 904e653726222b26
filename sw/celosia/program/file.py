"""The file that a program is kept in.

Little-endian: 8 bytes of magic, the version and the CRC-32 of the body as 32-bit words, the bytes
of the body as a 64-bit word; then the body: the bytes of the JSON header as a 32-bit word, the
header, 32 bytes for each instruction, and the constants in the order of the header, as they lie
in memory.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from celosia.arch import encoding, isa
from celosia.program.buffer import DTYPES, Buffer, integer

__all__ = ["MAGIC", "VERSION", "read", "runs", "seal", "unseal", "write"]

MAGIC = b"CELOSIA\x1a"
VERSION = 2
_PREFIX = struct.Struct("<8sIIQ")
_LENGTH = struct.Struct("<I")
T = TypeVar("T")


def write(header: Mapping[str, Any], code: bytes, constants: Iterable[bytes]) -> bytes:
    """Return the contents of the file of a program from what is in it."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return seal(MAGIC, VERSION, b"".join((_LENGTH.pack(len(text)), text, code, *constants)))


def runs(texts: Iterable[str]) -> list[list[Any]]:
    """Return texts that repeat as each with how often it stands there in a row."""
    return [[text, sum(1 for _ in same)] for text, same in groupby(texts)]


def seal(magic: bytes, version: int, body: bytes) -> bytes:
    """Return a body in its envelope: magic, version, checksum, length."""
    return _PREFIX.pack(magic, version, zlib.crc32(body), len(body)) + body


def unseal(data: bytes, magic: bytes, version: int, what: str) -> bytes:
    """Return the body that `seal` was given.

    Raises
    ------
    ValueError
        If the data are something else, of another version, cut or damaged; ``what`` names them.
    """
    if not data or data[:len(magic)] != magic[:len(data)]:
        raise ValueError(f"a {what} must begin with {magic!r} at offset 0, "
                         f"not {bytes(data[:len(magic)])!r}")
    if len(data) < _PREFIX.size:
        raise ValueError(f"a {what} must have {_PREFIX.size} bytes before its body, "
                         f"not end at offset {len(data)}")
    _, found, checksum, length = _PREFIX.unpack_from(data)
    if found != version:
        raise ValueError(f"{what} at offset 8: version must be {version}, not {found}: "
                         f"make it again with this celosia")
    if len(data) != _PREFIX.size + length:
        raise ValueError(f"a {what} must end at offset {_PREFIX.size + length}, "
                         f"not at {len(data)}")
    body = data[_PREFIX.size:]
    if zlib.crc32(body) != checksum:
        raise ValueError(f"{what} from offset {_PREFIX.size} on: CRC-32 must be "
                         f"{checksum:#010x}, not {zlib.crc32(body):#010x}")
    return body


def read(data: bytes, make: Callable[..., T]) -> T:
    """Read what `write` returned; ValueError as of `celosia.program.Program.from_bytes`.

    ``make`` is called with the fields of `celosia.program.Program`; a ValueError of it is one of
    the file.
    """
    unseal(data, MAGIC, VERSION, "program file")
    return _Reader(data).program(make)


def _spread(runs: list[Any], most: int) -> tuple[Any, ...]:
    """Undo `runs`; ValueError if that is more than ``most`` texts."""
    counts = [integer(count, "a count of Program.sources") for _, count in runs]
    if any(count < 1 for count in counts) or sum(counts) > most:
        raise ValueError(f"the counts of Program.sources must be 1 at least and {most} at most in "
                         f"all, not {counts}")
    return tuple(text for (text, _), count in zip(runs, counts, strict=True) for _ in range(count))


class _Reader:
    """Reads a body whose checksum is right; it may still have been written by another program."""

    def __init__(self, data: bytes):
        self._data = data
        self._offset = _PREFIX.size

    def take(self, size: int, what: str) -> bytes:
        left = len(self._data) - self._offset
        if left < size:
            raise ValueError(f"program file at offset {self._offset}: {what} must have {size} "
                             f"bytes, not {left}")
        self._offset += size
        return self._data[self._offset - size:self._offset]

    def program(self, make: Callable[..., T]) -> T:
        (length,) = _LENGTH.unpack(self.take(_LENGTH.size, "the length of the header"))
        at = self._offset
        text = self.take(length, "the header")
        try:
            header: dict[str, Any] = json.loads(text)
            buffers = tuple(Buffer(name, offset, shape, dtype, kind)
                            for name, offset, shape, dtype, kind in header["buffers"])
            insns = tuple(self.insn(index) for index in range(header["instructions"]))
            constants = {
                buffer.name: np.frombuffer(self.take(buffer.nbytes, f"constant {buffer.name}"),
                                           DTYPES[buffer.dtype]).reshape(buffer.shape)
                for buffer in buffers if buffer.kind == "constant"}
            program = make(
                header["fingerprint"], insns, header["name"],
                _spread(header["sources"], len(insns)),
                header["arena_bytes"], buffers, constants,
                header["relocations"])
        except (KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
            if str(error).startswith("program file at"):
                raise
            raise ValueError(f"program file at offset {at}: the header must describe a program, "
                             f"but {type(error).__name__}: {error}") from None
        if self._offset != len(self._data):
            raise ValueError(f"program file at offset {self._offset}: the file must end here, not "
                             f"after {len(self._data) - self._offset} more bytes")
        return program

    def insn(self, index: int) -> encoding.Insn:
        at = self._offset
        try:
            return encoding.decode(self.take(isa.INSTRUCTION_BYTES, f"instruction {index}"))
        except ValueError as error:
            if self._offset == at:
                raise
            raise ValueError(f"program file at offset {at}: instruction {index}: "
                             f"{error}") from None
