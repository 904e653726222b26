"""A program: instructions, the external memory that they want, and where they came from.

The file format, little-endian: 8 bytes of magic, the version and the CRC-32 of the body as 32-bit
words, the bytes of the body as a 64-bit word; then the body: the bytes of the JSON header as a
32-bit word, the header, 32 bytes for each instruction, and the constants in the order of the
header, as they lie in memory.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from celosia.arch import encoding, isa
from celosia.arch.encoding import Imm, Insn

__all__ = ["DTYPES", "KINDS", "MAGIC", "VERSION", "Buffer", "Program"]

#: NumPy types of buffers, by name.
DTYPES: dict[str, np.dtype] = {
    "int8": np.dtype(np.int8), "int32": np.dtype(np.int32), "float32": np.dtype(np.float32),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}
#: Kinds of buffers: filled by the caller, read by the caller, filled on load, or neither.
KINDS = ("input", "output", "constant", "scratch")

MAGIC = b"CELOSIA\x1a"
VERSION = 1
_PREFIX = struct.Struct("<8sIIQ")
_LENGTH = struct.Struct("<I")


@dataclass(frozen=True)
class Buffer:
    """A tensor in the program's arena in external memory, row-major.

    Parameters
    ----------
    name
        Unique in the program.
    offset
        First byte, from the beginning of the arena; a multiple of the element size.
    shape
        Elements along each axis; () is a scalar.
    dtype
        One of `DTYPES`.
    kind
        One of `KINDS`.
    """

    name: str
    offset: int
    shape: tuple[int, ...]
    dtype: str
    kind: str

    def __post_init__(self) -> None:
        """Check every field."""
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"Buffer.name must be a string that is not empty, not {self.name!r}")
        if self.dtype not in DTYPES:
            raise ValueError(f"Buffer.dtype of {self.name} must be one of {', '.join(DTYPES)}, "
                             f"not {self.dtype!r}")
        if self.kind not in KINDS:
            raise ValueError(f"Buffer.kind of {self.name} must be one of {', '.join(KINDS)}, "
                             f"not {self.kind!r}")
        shape = tuple(int(size) for size in self.shape)
        if any(size < 0 for size in shape):
            raise ValueError(f"Buffer.shape of {self.name} must hold sizes of at least 0, "
                             f"not {self.shape!r}")
        object.__setattr__(self, "shape", shape)
        size = DTYPES[self.dtype].itemsize
        if self.offset < 0 or self.offset % size:
            raise ValueError(f"Buffer.offset of {self.name} must be a multiple of {size} from 0 "
                             f"on, not {self.offset!r}")

    @property
    def nbytes(self) -> int:
        """Bytes that the buffer occupies."""
        return int(np.prod(self.shape, dtype=np.int64)) * DTYPES[self.dtype].itemsize

    @property
    def end(self) -> int:
        """Offset of the first byte after the buffer."""
        return self.offset + self.nbytes


@dataclass(frozen=True, eq=False)
class Program:
    """Instructions for one chip, with all that a driver needs to run them. Immutable.

    Parameters
    ----------
    fingerprint
        `TpuConfig.fingerprint` of the chip that it is for.
    insns
        The instructions; execution starts with the first.
    name
        What to call it in messages.
    sources
        What each instruction came from ("" where nothing is known), or empty.
    arena_bytes
        Bytes of external memory that the program wants.
    buffers
        Tensors in the arena; they may share bytes.
    constants
        Contents of each buffer of kind "constant", of its shape and type; copied.
    relocations
        Pairs (instruction, operand): that operand is an immediate which holds an offset into the
        arena; the address of the arena is added when the program is loaded.

    Raises
    ------
    ValueError
        If the parts contradict each other; the message names the part.
    """

    fingerprint: int
    insns: tuple[Insn, ...]
    name: str = ""
    sources: tuple[str, ...] = ()
    arena_bytes: int = 0
    buffers: tuple[Buffer, ...] = ()
    constants: Mapping[str, NDArray] = field(default_factory=dict)
    relocations: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        """Check that the parts agree, and freeze them."""
        if not 0 <= self.fingerprint < 1 << 32:
            raise ValueError(f"Program.fingerprint must be 32 bits unsigned, "
                             f"not {self.fingerprint!r}")
        if not 0 <= self.arena_bytes < 1 << 32:
            raise ValueError(f"Program.arena_bytes must be from 0 to {(1 << 32) - 1}, "
                             f"not {self.arena_bytes!r}")
        for name in ("insns", "sources", "buffers"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.sources and len(self.sources) != len(self.insns):
            raise ValueError(f"Program.sources must be empty or have one text for each of the "
                             f"{len(self.insns)} instructions, not {len(self.sources)}")
        self._check_buffers()
        relocations = tuple((int(index), int(operand)) for index, operand in self.relocations)
        object.__setattr__(self, "relocations", relocations)
        for index, operand in relocations:
            if not 0 <= index < len(self.insns):
                raise ValueError(f"Program.relocations must name an instruction from 0 to "
                                 f"{len(self.insns) - 1}, not {index}")
            operands = self.insns[index].operands
            if not 0 <= operand < len(operands) or not isinstance(operands[operand], Imm):
                mnemonic = self.insns[index].instruction.mnemonic
                raise ValueError(f"Program.relocations must name an immediate operand, not operand "
                                 f"{operand} of instruction {index} ({mnemonic})")
        if len(set(relocations)) != len(relocations):
            raise ValueError("Program.relocations must name each operand once")

    def _check_buffers(self) -> None:
        frozen: dict[str, NDArray] = {}
        names = [buffer.name for buffer in self.buffers]
        for buffer in self.buffers:
            if names.count(buffer.name) > 1:
                raise ValueError(f"Program.buffers must have different names, "
                                 f"{buffer.name!r} is there twice")
            if buffer.end > self.arena_bytes:
                raise ValueError(f"buffer {buffer.name} must end inside the arena of "
                                 f"{self.arena_bytes} bytes, not at {buffer.end}")
            if buffer.kind != "constant":
                continue
            if buffer.name not in self.constants:
                raise ValueError(f"Program.constants must have the contents of {buffer.name}")
            array = np.asarray(self.constants[buffer.name])
            if array.shape != buffer.shape or array.dtype != DTYPES[buffer.dtype]:
                raise ValueError(f"constant {buffer.name} must be {buffer.dtype}"
                                 f"{list(buffer.shape)}, not {array.dtype}{list(array.shape)}")
            array = np.array(array, order="C")
            array.setflags(write=False)
            frozen[buffer.name] = array
        if extra := sorted(set(self.constants) - set(frozen)):
            raise ValueError(f"Program.constants must have a buffer of kind 'constant' for each "
                             f"name, {', '.join(extra)} has none")
        object.__setattr__(self, "constants", MappingProxyType(frozen))

    def __eq__(self, other: object) -> bool:
        """Whether everything, constants included, is equal bit for bit."""
        return isinstance(other, Program) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return (f"<Program {self.name or 'without a name'}: {len(self.insns)} instructions, "
                f"{self.arena_bytes} bytes of memory, for chip {self.fingerprint:#010x}>")

    def buffer(self, name: str) -> Buffer:
        """Return the buffer called ``name``.

        Raises
        ------
        ValueError
            If there is none; the message lists those that there are.
        """
        for buffer in self.buffers:
            if buffer.name == name:
                return buffer
        names = ", ".join(buffer.name for buffer in self.buffers) or "(there are none)"
        raise ValueError(f"buffer of {self.name or 'the program'} must be one of {names}, "
                         f"not {name!r}")

    @property
    def inputs(self) -> tuple[Buffer, ...]:
        """The buffers that the caller fills."""
        return tuple(buffer for buffer in self.buffers if buffer.kind == "input")

    @property
    def outputs(self) -> tuple[Buffer, ...]:
        """The buffers that the caller reads."""
        return tuple(buffer for buffer in self.buffers if buffer.kind == "output")

    def code(self, base: int = 0) -> bytes:
        """Encode the instructions for an arena at byte address ``base``.

        Raises
        ------
        ValueError
            If a relocated operand does not fit 32 bits.
        """
        return b"".join(encoding.encode(insn) for insn in self.relocated(base))

    def relocated(self, base: int) -> tuple[Insn, ...]:
        """Return the instructions with ``base`` added to every relocated operand."""
        insns = list(self.insns)
        for index, operand in self.relocations:
            insn = insns[index]
            value = insn.operands[operand]
            assert isinstance(value, Imm)
            if value.value + base >= 1 << 32:
                raise ValueError(f"operand {operand} of instruction {index} must fit 32 bits, not "
                                 f"{value.value:#x} + {base:#x}")
            operands = list(insn.operands)
            operands[operand] = Imm(value.value + base)
            insns[index] = Insn(insn.instruction, insn.fields, tuple(operands))
        return tuple(insns)

    def disassemble(self) -> str:
        """Return the program as assembly text, with its sources as comments."""
        from celosia.asm import disassemble
        return disassemble(self)

    def to_bytes(self) -> bytes:
        """Return the contents of a program file; equal programs give equal bytes."""
        header = json.dumps({
            "name": self.name, "fingerprint": self.fingerprint, "instructions": len(self.insns),
            "arena_bytes": self.arena_bytes, "sources": self.sources,
            "buffers": [[b.name, b.offset, b.shape, b.dtype, b.kind] for b in self.buffers],
            "relocations": self.relocations,
        }, separators=(",", ":")).encode()
        constants = (self.constants[buffer.name].tobytes() for buffer in self.buffers
                     if buffer.kind == "constant")
        body = b"".join((_LENGTH.pack(len(header)), header, self.code(), *constants))
        return _PREFIX.pack(MAGIC, VERSION, zlib.crc32(body), len(body)) + body

    @classmethod
    def from_bytes(cls, data: bytes) -> Program:
        """Read what `to_bytes` wrote.

        Raises
        ------
        ValueError
            If the data are not a program of this version, or are cut or damaged: what was
            expected, what came, and at which offset.
        """
        if data[:len(MAGIC)] != MAGIC[:len(data)] or not data:
            raise ValueError(f"a program file must begin with {MAGIC!r} at offset 0, "
                             f"not {bytes(data[:len(MAGIC)])!r}")
        if len(data) < _PREFIX.size:
            raise ValueError(f"a program file must have {_PREFIX.size} bytes before its body, it "
                             f"ends at offset {len(data)}")
        _, version, checksum, length = _PREFIX.unpack_from(data)
        if version != VERSION:
            raise ValueError(f"program file at offset 8: version must be {VERSION}, not {version}")
        body = data[_PREFIX.size:]
        if len(body) != length:
            raise ValueError(f"a program file must end at offset {_PREFIX.size + length}, "
                             f"not at {len(data)}")
        if zlib.crc32(body) != checksum:
            raise ValueError(f"program file from offset {_PREFIX.size} on: CRC-32 must be "
                             f"{checksum:#010x}, not {zlib.crc32(body):#010x}")
        return cls._from_body(body)

    @classmethod
    def _from_body(cls, body: bytes) -> Program:
        offset = _PREFIX.size

        def take(size: int, what: str) -> bytes:
            nonlocal offset
            at = offset - _PREFIX.size
            if len(body) - at < size:
                raise ValueError(f"program file at offset {offset}: {what} must have {size} bytes, "
                                 f"not {max(len(body) - at, 0)}")
            offset += size
            return body[at:at + size]

        (length,) = _LENGTH.unpack(take(_LENGTH.size, "length of the header"))
        at = offset
        text = take(length, "the header")
        try:
            header = json.loads(text)
            buffers = tuple(Buffer(name, place, tuple(shape), dtype, kind)
                            for name, place, shape, dtype, kind in header["buffers"])
            count = int(header["instructions"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"program file at offset {at}: the header must describe a program, "
                             f"but {type(error).__name__}: {error}") from None
        insns = []
        for index in range(count):
            at = offset
            word = take(isa.INSTRUCTION_BYTES, f"instruction {index}")
            try:
                insns.append(encoding.decode(word))
            except ValueError as error:
                raise ValueError(f"program file at offset {at}: instruction {index}: "
                                 f"{error}") from None
        constants = {}
        for buffer in buffers:
            if buffer.kind == "constant":
                raw = take(buffer.nbytes, f"constant {buffer.name}")
                constants[buffer.name] = np.frombuffer(
                    raw, DTYPES[buffer.dtype]).reshape(buffer.shape)
        if offset - _PREFIX.size != len(body):
            raise ValueError(f"program file at offset {offset}: must end here, not after "
                             f"{len(body) - offset + _PREFIX.size} more bytes")
        try:
            return cls(header["fingerprint"], tuple(insns), header["name"],
                       tuple(header["sources"]), header["arena_bytes"], buffers, constants,
                       tuple((index, operand) for index, operand in header["relocations"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"program file at offset {_PREFIX.size + _LENGTH.size}: the header "
                             f"must describe a program, but {type(error).__name__}: "
                             f"{error}") from None

    def save(self, path: str | Path) -> None:
        """Write the program into a file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Program:
        """Read a file that `save` wrote.

        Raises
        ------
        ValueError
            As `from_bytes`, with the name of the file.
        OSError
            If the file cannot be read.
        """
        try:
            return cls.from_bytes(Path(path).read_bytes())
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
