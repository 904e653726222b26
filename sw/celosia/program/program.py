"""A program: instructions, the external memory that they want, and where they came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch import encoding
from celosia.arch.encoding import Imm, Insn
from celosia.arch.isa import LINK_INSTRUCTIONS
from celosia.arch.words import WORD_MASK
from celosia.program import file
from celosia.program.buffer import DTYPES, Buffer, integer

__all__ = ["Program"]


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} must be a string, not {value!r}")
    return value


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
        _text(self.name, "Program.name")
        for name in ("fingerprint", "arena_bytes"):
            object.__setattr__(self, name, integer(getattr(self, name), f"Program.{name}"))
        if not 0 <= self.fingerprint < 1 << 32:
            raise ValueError(f"Program.fingerprint must be 32 bits unsigned, "
                             f"not {self.fingerprint!r}")
        if not 0 <= self.arena_bytes < 1 << 32:
            raise ValueError(f"Program.arena_bytes must be from 0 to {WORD_MASK}, "
                             f"not {self.arena_bytes!r}")
        if isinstance(self.sources, str):
            raise ValueError(f"Program.sources must hold strings, not be {self.sources!r}")
        for name in ("insns", "sources", "buffers"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for index, source in enumerate(self.sources):
            _text(source, f"Program.sources[{index}]")
        if self.sources and len(self.sources) != len(self.insns):
            raise ValueError(f"Program.sources must be empty or have one text for each of the "
                             f"{len(self.insns)} instructions, not {len(self.sources)}")
        self._check_buffers()
        relocations = tuple(self._relocation(pair) for pair in self.relocations)
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

    @staticmethod
    def _relocation(pair: Any) -> tuple[int, int]:
        try:
            index, operand = pair
        except (TypeError, ValueError):
            raise ValueError(f"Program.relocations must hold pairs (instruction, operand), "
                             f"not {pair!r}") from None
        return (integer(index, "an instruction in Program.relocations"),
                integer(operand, "an operand in Program.relocations"))

    def _check_buffers(self) -> None:
        frozen: dict[str, NDArray] = {}
        names: set[str] = set()
        for buffer in self.buffers:
            if buffer.name in names:
                raise ValueError(f"Program.buffers must have different names, "
                                 f"{buffer.name!r} is there twice")
            names.add(buffer.name)
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

    @cached_property
    def talks(self) -> bool:
        """Whether it is for one of several chips that begin together: it sends, receives, or asks
        which of them it is.
        """
        return any(each.instruction in LINK_INSTRUCTIONS for each in self.insns)

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

    def to_bytes(self) -> bytes:
        """Return the contents of a program file; equal programs give equal bytes."""
        header = {
            "name": self.name, "fingerprint": self.fingerprint, "instructions": len(self.insns),
            "arena_bytes": self.arena_bytes, "sources": file.runs(self.sources),
            "buffers": [[b.name, b.offset, b.shape, b.dtype, b.kind] for b in self.buffers],
            "relocations": self.relocations,
        }
        return file.write(header, self.code(), (
            self.constants[buffer.name].tobytes() for buffer in self.buffers
            if buffer.kind == "constant"))

    @classmethod
    def from_bytes(cls, data: bytes) -> Program:
        """Read what `to_bytes` wrote.

        Raises
        ------
        ValueError
            If the data are not a program of this version, or are cut or damaged: what was
            expected, what came, and at which offset.
        """
        return file.read(data, cls)

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
