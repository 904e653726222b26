"""Instructions as objects, and their 32-byte encoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from celosia.arch import isa
from celosia.arch.words import WORD_MASK

__all__ = ["Imm", "Insn", "Reg", "decode", "encode", "insn", "pack", "unpack"]


@dataclass(frozen=True)
class Reg:
    """A scalar register as an operand."""

    number: int

    def __post_init__(self) -> None:
        """Check the number."""
        if not 0 <= self.number < isa.NUM_REGISTERS:
            raise ValueError(f"register must be r0..r{isa.NUM_REGISTERS - 1}, "
                             f"not r{self.number}")


@dataclass(frozen=True)
class Imm:
    """An immediate operand: 32 bits, unsigned."""

    value: int

    def __post_init__(self) -> None:
        """Check the range."""
        if not 0 <= self.value < 1 << 32:
            raise ValueError(f"immediate must be 32 bits unsigned, not {self.value!r}")


@dataclass(frozen=True)
class Insn:
    """One instruction: its description, the value of each field, and its operands in order."""

    instruction: isa.Instruction
    fields: Mapping[str, int]
    operands: tuple[Imm | Reg, ...]

    def operand(self, name: str) -> Imm | Reg:
        """Return the operand called ``name``."""
        names = [operand.name for operand in self.instruction.operands]
        return self.operands[names.index(name)]


def pack(operand: isa.Operand, **parts: int) -> int:
    """Pack named parts into an operand word; a part left out takes its default.

    Raises
    ------
    ValueError
        If a part is unknown, missing without a default, or does not fit.
    """
    word = 0
    for part in operand.parts:
        value = parts.pop(part.name, part.default)
        if value is None:
            raise ValueError(f"{operand.name} needs {part.name}")
        low = -(1 << part.width - 1) if part.signed else 0
        high = low + (1 << part.width)
        if not low <= value < high:
            raise ValueError(f"{part.name} must be from {low} to {high - 1}, not {value!r}")
        word |= (value & (1 << part.width) - 1) << part.lsb
    if parts:
        raise ValueError(f"{operand.name} has no part {', '.join(parts)}")
    return word


def unpack(operand: isa.Operand, word: int) -> dict[str, int]:
    """Split an operand word into its parts; inverse of :func:`pack`."""
    values = {}
    for part in operand.parts:
        value = word >> part.lsb & (1 << part.width) - 1
        if part.signed and value >> part.width - 1:
            value -= 1 << part.width
        values[part.name] = value
    return values


def _word(name: str, value: int | Reg | Imm) -> Imm | Reg:
    if isinstance(value, (Reg, Imm)):
        return value
    if not -(1 << 31) <= value < 1 << 32:
        raise ValueError(f"operand {name} must fit 32 bits, not {value!r}")
    return Imm(value & WORD_MASK)


def insn(mnemonic: str, **values: int | str | Reg) -> Insn:
    """Make an instruction from names: fields, operands, and parts of packed operands.

    Enumerated fields take a member, its value or its lower-case name. What is left out takes its
    default, or 0 for a field and an operand without one that the instruction's other fields make
    unused (the ``w`` and ``wrows`` of a matmul without ``wload``).

    Raises
    ------
    ValueError
        If a name is unknown, a value does not fit, or one that is needed is missing.
    """
    description = isa.BY_MNEMONIC.get(mnemonic)
    if description is None:
        raise ValueError(f"mnemonic must be one of {', '.join(isa.BY_MNEMONIC)}, not {mnemonic!r}")
    given = dict(values)
    fields: dict[str, int] = {}
    for field in description.fields:
        value = given.pop(field.name, field.default)
        if isinstance(value, Reg):
            raise ValueError(f"{mnemonic}: field {field.name} cannot be a register")
        if isinstance(value, str):
            names = [] if field.enum is None else [member.name.lower() for member in field.enum]
            if field.enum is None or value not in names:
                raise ValueError(f"{mnemonic}: {field.name} must be one of {', '.join(names)}, "
                                 f"not {value!r}")
            value = field.enum[value.upper()]
        if not 0 <= value < 1 << field.width:
            raise ValueError(f"{mnemonic}: {field.name} must be from 0 to {(1 << field.width) - 1},"
                             f" not {value!r}")
        fields[field.name] = int(value)
    operands: list[Imm | Reg] = []
    for operand in description.operands:
        if operand.name in given:
            value = given.pop(operand.name)
            if isinstance(value, str):
                raise ValueError(f"{mnemonic}: {operand.name} must be a number, not {value!r}")
            operands.append(_word(f"{mnemonic}.{operand.name}", value))
            continue
        parts = {part.name: given.pop(part.name) for part in operand.parts if part.name in given}
        if parts or (operand.parts and operand.default is None):
            for name, value in parts.items():
                if isinstance(value, (Reg, str)):
                    raise ValueError(f"{mnemonic}: {name} must be a number, not {value!r}; "
                                     f"a register holds the whole of {operand.name}")
            try:
                operands.append(Imm(pack(operand, **parts)))  # type: ignore[arg-type]
            except ValueError as error:
                raise ValueError(f"{mnemonic}: {error}") from None
        elif operand.default is not None:
            operands.append(Imm(operand.default))
        elif operand.name == "wrows" and not fields["wload"]:  # of a matmul
            operands.append(Imm(0))
        else:
            raise ValueError(f"{mnemonic} needs {operand.name}")
    if given:
        raise ValueError(f"{mnemonic} has no {', '.join(given)}")
    return Insn(description, fields, tuple(operands))


def encode(instruction: Insn) -> bytes:
    """Encode an instruction into 32 bytes."""
    header = int(instruction.instruction.opcode)
    for field in instruction.instruction.fields:
        header |= instruction.fields[field.name] << field.lsb
    words = []
    for i, operand in enumerate(instruction.operands):
        if isinstance(operand, Reg):
            header |= 1 << isa.REGMASK_LSB + i
            words.append(operand.number)
        else:
            words.append(operand.value)
    words += [0] * (isa.NUM_OPERANDS - len(words))
    body = b"".join(word.to_bytes(4, "little") for word in words)
    return header.to_bytes(8, "little") + body


def decode(code: bytes) -> Insn:
    """Decode 32 bytes.

    Raises
    ------
    ValueError
        If the opcode is unknown, or bits are set that the instruction does not use. Values of
        enumerated fields are not checked here: the chip (and the model) fault on them.
    """
    if len(code) != isa.INSTRUCTION_BYTES:
        raise ValueError(f"an instruction has {isa.INSTRUCTION_BYTES} bytes, not {len(code)}")
    header = int.from_bytes(code[:8], "little")
    opcode = header & (1 << isa.OPCODE_BITS) - 1
    description = isa.BY_OPCODE.get(opcode)
    if description is None:
        raise ValueError(f"opcode {opcode:#04x} is not in the ISA")
    mask = header >> isa.REGMASK_LSB & (1 << isa.REGMASK_BITS) - 1
    rest = header >> isa.FIELDS_LSB << isa.FIELDS_LSB
    fields = {}
    for field in description.fields:
        fields[field.name] = header >> field.lsb & (1 << field.width) - 1
        rest &= ~((1 << field.width) - 1 << field.lsb)
    if rest:
        raise ValueError(f"{description.mnemonic}: reserved header bits are set ({rest:#x})")
    operands: list[Imm | Reg] = []
    for i in range(isa.NUM_OPERANDS):
        word = int.from_bytes(code[8 + 4 * i:12 + 4 * i], "little")
        if i >= len(description.operands):
            if word or mask >> i & 1:
                raise ValueError(f"{description.mnemonic}: operand {i} is unused but not zero")
        elif mask >> i & 1:
            if word >= isa.NUM_REGISTERS:
                raise ValueError(f"{description.mnemonic}: operand {i} names register {word}, "
                                 f"there are {isa.NUM_REGISTERS}")
            operands.append(Reg(word))
        else:
            operands.append(Imm(word))
    return Insn(description, fields, tuple(operands))


def member(field: isa.Field, value: int) -> IntEnum | None:
    """Return the enumeration member of a field's value, or None if it has none."""
    if field.enum is None:
        return None
    try:
        return field.enum(value)
    except ValueError:
        return None
