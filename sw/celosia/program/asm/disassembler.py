"""From a program to assembly text; assembled again, the text gives an equal program."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import ml_dtypes
import numpy as np

from celosia.arch import encoding, isa
from celosia.arch.config import PRESETS
from celosia.arch.encoding import Imm, Insn, Reg
from celosia.arch.isa import Field, Operand, OperandType
from celosia.arch.vector import INDEXED_OPS, LANE_BITS_LSB, Post, Reduce, VectorOp
from celosia.program import Buffer, Program
from celosia.program.asm.syntax import (
    FIXED_MEMORY,
    has_lane,
    is_flag,
    kind_field,
    positional,
    stride_field,
)

__all__ = ["disassemble", "format_address", "format_at", "format_insn", "formatter"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_INDENT = " " * 8
_PER_LINE = 16
#: Gives the text of operand number i where it is a label or an address, else None.
_Special = Callable[[int], str | None]


def _number(value: int, operand: Operand) -> str:
    if operand.type is OperandType.ADDRESS:
        return f"{value:#x}"
    if operand.type is OperandType.VALUE and value >= 0xFFFF8000:
        return str(value - (1 << 32))
    return str(value) if value < 1 << 16 else f"{value:#x}"


def _enumerated(field: Field, value: int) -> str:
    member = encoding.member(field, value)
    return str(value) if member is None else member.name.lower()


def _nothing(insn: Insn, operand: Operand, special: _Special) -> bool:
    """Whether a positional operand is left out where nothing but the like follows."""
    index = insn.instruction.operands.index(operand)
    if insn.operands[index] != Imm(operand.default or 0) or special(index):
        return False
    stride = stride_field(insn.instruction, operand)
    if stride is not None and insn.fields[stride.name]:
        return False
    kind = kind_field(insn.instruction, operand)
    if kind is not None:
        return _enumerated(kind, insn.fields[kind.name]) == "none"
    if insn.instruction.unit is isa.Unit.SCALAR:
        return operand.default is not None
    return operand.default is not None and not insn.fields.get("wload", 1)


def _word(insn: Insn, index: int, special: _Special) -> str:
    value = insn.operands[index]
    if isinstance(value, Reg):
        return f"r{value.number}"
    return special(index) or _number(value.value, insn.instruction.operands[index])


def _row_and_lane(insn: Insn, index: int, kind: Field | None, special: _Special
                  ) -> tuple[str, str]:
    """Return what stands in brackets: the row, and the lane where the source has one."""
    value = insn.operands[index]
    if (kind is None or not has_lane(kind, insn.fields[kind.name]) or isinstance(value, Reg)
            or special(index)):
        return _word(insn, index, special), ""
    lane = value.value >> LANE_BITS_LSB
    row = value.value & (1 << LANE_BITS_LSB) - 1
    return _number(row, insn.instruction.operands[index]), f", lane={lane}" if lane else ""


def _positional(insn: Insn, slot: Field | Operand, special: _Special, used: set[str]) -> str:
    used.add(slot.name)
    if isinstance(slot, Field):
        value = insn.fields[slot.name]
        if slot.enum is not None:
            return _enumerated(slot, value)
        return f"{'r' if slot.name == 'rd' else 'x'}{value}"
    kind = kind_field(insn.instruction, slot)
    word, lane = _row_and_lane(insn, insn.instruction.operands.index(slot), kind, special)
    if kind is not None:
        used.add(kind.name)
        memory = _enumerated(kind, insn.fields[kind.name])
    elif slot.type in FIXED_MEMORY:
        memory = FIXED_MEMORY[slot.type]
    else:
        return word
    stride = stride_field(insn.instruction, slot)
    if stride is not None:
        used.add(stride.name)
        if insn.fields[stride.name]:
            return f"{memory}[{word}, x{insn.fields[stride.name]}{lane}]"
    return memory if memory == "none" and word == "0" else f"{memory}[{word}{lane}]"


def _fields(insn: Insn, used: set[str]) -> Iterator[str]:
    for field in insn.instruction.fields:
        value = insn.fields[field.name]
        if field.name in used:
            continue
        if field.enum is not None:
            idle = field.name == "reduce_op" and insn.fields["reduce"] == Reduce.NONE
            text = _enumerated(field, value)
            if text != "none" and not (idle and value == field.default):
                yield f"{field.name}={text}"
        elif value != field.default:
            if is_flag(field):
                yield field.name if value else f"{field.name}=0"
            else:
                yield f"{field.name}={'x' if field.is_stride else ''}{value}"


def _parameter(insn: Insn, word: int) -> str:
    """Return ``param`` that is not of a requant: the rows of a table, the bounds of a clamp as a
    pair where that says the same, else the number.
    """
    if insn.fields["op"] in INDEXED_OPS and word < 1 << 16:
        return str(word)
    halves = np.array([word & 0xFFFF, word >> 16], np.uint16)
    if insn.fields["post"] == Post.CLAMP_I:
        low, high = halves.view(np.int16).tolist()
        return f"pair({low}, {high})"
    floats = halves.view(ml_dtypes.bfloat16).astype(np.float32)
    if insn.fields["post"] == Post.CLAMP_F and np.isfinite(floats).all():
        return f"pair(bf16({floats[0]}), bf16({floats[1]}))"
    return f"{word:#x}"


def _operands(insn: Insn, used: set[str], special: _Special) -> Iterator[str]:
    for index, operand in enumerate(insn.instruction.operands):
        if operand.name in used:
            continue
        value = insn.operands[index]
        whole = f"{operand.name}={_word(insn, index, special)}"
        if isinstance(value, Reg) or special(index):
            yield whole
        elif not operand.parts:
            optional = operand.default if operand.default is not None else (
                None if insn.fields.get("wload", 1) else 0)
            if value.value != optional:
                yield whole
        elif value.value != operand.default:
            parts = encoding.unpack(operand, value.value)
            unsaid = operand.name == "param" and insn.fields["op"] != VectorOp.REQUANT
            if unsaid or encoding.pack(operand, **parts) != value.value:
                yield f"{operand.name}={_parameter(insn, value.value)}"
            else:
                yield from (f"{part.name}={parts[part.name]}" for part in operand.parts
                            if parts[part.name] != part.default)


def _nowhere(index: int) -> str | None:
    return None


def format_at(program: Program, index: int) -> str:
    """Return an instruction of a program as text, its addresses by the names of buffers."""
    return formatter(program)(index)


def formatter(program: Program) -> Callable[[int], str]:
    """Return what gives instructions of a program as text, as `format_at` does."""
    relocated = set(program.relocations)

    def text(index: int) -> str:
        def special(i: int) -> str | None:
            value = program.insns[index].operands[i]
            if (index, i) in relocated and isinstance(value, Imm):
                return format_address(program, value.value)
            return None
        return format_insn(program.insns[index], special)
    return text


def format_insn(insn: Insn, special: _Special = _nowhere) -> str:
    """Return an instruction as text.

    Parameters
    ----------
    insn
        The instruction.
    special
        Gives the text of operand number i where it is not to be written as a number, else None.
    """
    used: set[str] = set()
    slots = list(positional(insn.instruction))
    while slots and isinstance(slot := slots[-1], Operand) and _nothing(insn, slot, special):
        slots.pop()
        used.add(slot.name)
    arguments = [_positional(insn, slot, special, used) for slot in slots]
    arguments += _fields(insn, used)
    arguments += _operands(insn, used, special)
    return f"{insn.instruction.mnemonic:8}{', '.join(arguments)}".rstrip()


def _quote(name: str) -> str:
    return name if _NAME.fullmatch(name) else json.dumps(name)


def format_address(program: Program, offset: int) -> str:
    """Return an offset into the arena as text: from the beginning of a buffer if it is in one."""
    inside = [buffer for buffer in program.buffers
              if buffer.offset == offset or buffer.offset < offset < buffer.end]
    if not inside:
        return f"@{offset:#x}"
    buffer = max(inside, key=lambda buffer: buffer.offset)
    rest = f" + {offset - buffer.offset:#x}" if offset != buffer.offset else ""
    return f"@{_quote(buffer.name)}{rest}"


def _contents(program: Program, buffer: Buffer) -> Iterator[str]:
    array = program.constants[buffer.name].reshape(-1)
    name = _quote(buffer.name)
    if not array.view(np.uint8).any():
        return
    if buffer.dtype.startswith("int"):
        for i in range(0, len(array), _PER_LINE):
            yield f".data {name}, {', '.join(map(str, array[i:i + _PER_LINE].tolist()))}"
    elif np.isfinite(array.astype(np.float32)).all():
        for i in range(0, len(array), _PER_LINE):
            row = array[i:i + _PER_LINE].astype(np.float32)
            yield f".data {name}, {', '.join(str(value) for value in row)}"
    else:
        raw = array.tobytes()
        for i in range(0, len(raw), 2 * _PER_LINE):
            yield f".bytes {name}, \"{raw[i:i + 2 * _PER_LINE].hex()}\""


def _directives(program: Program, data: bool) -> Iterator[str]:
    known = [name for name, config in PRESETS.items()
             if config.fingerprint == program.fingerprint]
    yield f".chip {known[0] if known else f'{program.fingerprint:#010x}'}"
    if program.name:
        yield f".name {_quote(program.name)}"
    if program.arena_bytes:
        yield f".arena {program.arena_bytes}"
    for buffer in program.buffers:
        yield (f".buffer {_quote(buffer.name)}, {buffer.dtype}"
               f"[{', '.join(map(str, buffer.shape))}], {buffer.kind}, {buffer.offset:#x}")
        if data and buffer.kind == "constant":
            yield from _contents(program, buffer)


def disassemble(program: Program, *, data: bool = True) -> str:
    """Return a program as text.

    Parameters
    ----------
    program
        The program.
    data
        Write the contents of constants too; without, the text assembles to zeros in their place.
    """
    relocated = set(program.relocations)
    targets = {value.value
               for index, insn in enumerate(program.insns)
               for i, (operand, value) in enumerate(zip(insn.instruction.operands, insn.operands,
                                                        strict=True))
               if operand.type is OperandType.TARGET and isinstance(value, Imm)
               and (index, i) not in relocated}
    targets = {target for target in targets if target <= len(program.insns)}

    def special(index: int) -> _Special:
        insn = program.insns[index]

        def text(i: int) -> str | None:
            value = insn.operands[i]
            if isinstance(value, Reg):
                return None
            if (index, i) in relocated:
                return format_address(program, value.value)
            if insn.instruction.operands[i].type is OperandType.TARGET and value.value in targets:
                return f"L{value.value}"
            return None
        return text

    lines = [_INDENT + directive for directive in _directives(program, data)]
    source: str | None = None
    for index, insn in enumerate(program.insns):
        if program.sources and program.sources[index] != source:
            source = program.sources[index]
            lines.append(f"{_INDENT}.source {json.dumps(source)}")
        label = f"L{index}:" if index in targets else ""
        lines.append(f"{label:8}{format_insn(insn, special(index))}")
    if len(program.insns) in targets:
        lines.append(f"L{len(program.insns)}:")
    return "\n".join(lines) + "\n"
