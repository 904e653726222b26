"""arch.h and tables.h of the firmware: every number of the architecture that it needs.

``python -m celosia_hw.soc.compact.arch_header`` writes them anew, from `celosia.arch`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from enum import IntEnum
from pathlib import Path

from celosia.arch import isa, link, numerics, registers, special
from celosia.arch.faults import Fault
from celosia.arch.isa import Mem, Opcode
from celosia.arch.registers import AccessMode
from celosia.arch.vector import (
    BF16_SRCS,
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    LANE_BITS_LSB,
    LANE_ROW_SRCS,
    LANE_SRCS,
    MOVEMENT_OPS,
    PARAM_POSTS,
    ROW_SRCS,
    SOURCES,
    STREAM_SRCS,
    TABLE_LIMIT,
    VECTOR_OPERANDS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
)
from celosia.arch.words import WORD_MASK
from celosia_hw.soc.compact.memory_map import (
    ACCUMULATE_BIT,
    ENGINE_BASE,
    FORMAT_BIT,
    REGION_BITS,
    DeviceRegister,
    EngineRegister,
    Zone,
)

__all__ = ["HEADERS", "arch_header", "tables_header"]

#: Where the headers are kept.
FOLDER = Path(__file__).parent / "firmware"

_COLUMNS = 100


def arch_header() -> str:
    """Return the text of arch.h."""
    sections = (_isa(), _shapes(), _fields(), _vector(), _sets(), _faults(), _registers(),
                _counters(), _link(), _memory_map())
    text = "\n\n".join("\n".join(section) for section in sections)
    return ("// Numbers of the architecture. Made by celosia_hw.soc.compact.arch_header from\n"
            "// celosia.arch: change those tables, not this file.\n\n"
            f"#ifndef CELOSIA_ARCH_H\n#define CELOSIA_ARCH_H\n\n{text}\n\n#endif\n")


def _define(name: str, value: int, doc: str = "") -> str:
    shown = hex(value) if value > 0xFFFF else str(value)
    suffix = "u" if value > 0x7FFFFFFF else ""
    return f"#define {name} {shown}{suffix}" + (f"  // {doc}" if doc else "")


def _enum(prefix: str, members: Iterable[IntEnum]) -> list[str]:
    return [_define(f"{prefix}_{member.name}", int(member)) for member in members]


def _bits(name: str, numbers: Iterable[int]) -> str:
    """Return the definition of a set of numbers below 32, as a word."""
    mask = sum(1 << number for number in numbers)
    assert mask < 1 << 32
    return f"#define {name} {mask:#x}u"


def _list(name: str, values: Iterable[str]) -> list[str]:
    """Return the definition of an initialiser, wrapped."""
    lines, line = [], f"#define {name} {{"
    for i, value in enumerate(values):
        part = f"{', ' if i else ''}{value}"
        if len(line) + len(part) > _COLUMNS - 4:
            lines.append(f"{line}, \\")
            line, part = "   ", f" {value}"
        line += part
    return [*lines, f"{line}}}"]


def _isa() -> list[str]:
    return ["// Instructions.",
            _define("INSTRUCTION_BYTES", isa.INSTRUCTION_BYTES),
            _define("NUM_OPERANDS", isa.NUM_OPERANDS),
            _define("NUM_REGISTERS", isa.NUM_REGISTERS),
            _define("NUM_STRIDES", isa.NUM_STRIDES),
            _define("LOOP_DEPTH", isa.LOOP_DEPTH),
            _define("OPCODE_MASK", (1 << isa.OPCODE_BITS) - 1 << isa.OPCODE_LSB),
            _define("REGMASK_LSB", isa.REGMASK_LSB),
            _define("FIELDS_LSB", isa.FIELDS_LSB),
            *_enum("OPCODE", (each.opcode for each in isa.INSTRUCTIONS)),
            *_enum("UNIT", isa.Unit),
            _define("NUM_UNITS", isa.Unit.SCALAR, "tensor units"),
            *_enum("MEM", isa.Mem), *_enum("DMA", isa.DmaFormat),
            *_enum("MATMUL", isa.MatmulFormat),
            _define("FLOAT_NAN", numerics.NAN), _define("FLOAT_INF", numerics.INF)]


def _shapes() -> list[str]:
    """What an instruction may have set: the bits of its fields, and how many operands it has."""
    shapes: list[tuple[int, int]] = []
    numbers: dict[int, int] = {}
    for instruction in isa.INSTRUCTIONS:
        opcode = int(instruction.opcode)
        used = sum((1 << field.width) - 1 << field.lsb for field in instruction.fields)
        shape = used, len(instruction.operands)
        if shape not in shapes:
            shapes.append(shape)
        numbers[opcode] = 1 + shapes.index(shape)
    return ["// Shape of each opcode, 0 where there is none; of each shape: the bits of its fields",
            "// in the two words of the header, and the number of its operands.",
            _define("NUM_OPCODES", max(numbers) + 1, "the highest, and one"),
            *_list("OPCODE_SHAPES", (str(numbers.get(i, 0)) for i in range(max(numbers) + 1))),
            *_list("SHAPE_FIELDS", ("{0, 0}", *(f"{{{used & WORD_MASK:#x}, {used >> 32:#x}}}"
                                                for used, _ in shapes))),
            *_list("SHAPE_OPERANDS", ("0", *(str(operands) for _, operands in shapes)))]


def _fields() -> list[str]:
    """Place of each field in its word of the header, and number of each operand."""
    lines = ["// Fields of the header, words 0 and 1 as one number: first bit, mask once shifted."]
    seen: dict[str, tuple[int, int]] = {}
    for instruction in isa.INSTRUCTIONS:
        name = instruction.mnemonic.upper()
        if instruction.opcode < Opcode.LOAD:
            name = "SCALAR"
        elif instruction.opcode in (Opcode.LOAD, Opcode.STORE):
            name = "DMA"
        for field in instruction.fields:
            key = f"{name}_{field.name.upper()}"
            place = field.lsb, (1 << field.width) - 1
            if key not in seen:
                lines += [_define(f"{key}_LSB", place[0]), _define(f"{key}_MASK", place[1])]
            assert seen.setdefault(key, place) == place
    lines += _rows("VECTOR_KIND", [seen[f"VECTOR_{name}_KIND"] for name in "ABC"])
    lines += _rows("VECTOR_STRIDE", [seen[f"VECTOR_X{name}"] for name in ("DST", *"ABC")])
    return [*lines, *_operands()]


def _rows(name: str, places: list[tuple[int, int]]) -> list[str]:
    """Define fields that lie behind each other as one, the first of them lowest."""
    (lsb, mask), width = places[0], places[0][1].bit_length()
    assert places == [(lsb + i * width, mask) for i in range(len(places))]
    return [_define(f"{name}S_LSB", lsb), _define(f"{name}S_MASK", (1 << width * len(places)) - 1),
            _define(f"{name}_BITS", width)]


def _operands() -> Iterator[str]:
    for prefix, opcode in (("DMA", Opcode.LOAD), ("MATMUL", Opcode.MATMUL),
                           ("VECTOR", Opcode.VECTOR)):
        for i, operand in enumerate(isa.BY_OPCODE[opcode].operands):
            yield _define(f"{prefix}_OPERAND_{operand.name.upper()}", i)


def _vector() -> list[str]:
    return ["// Names of the vector unit.", *_enum("OP", VectorOp), *_enum("POST", Post),
            *_enum("REDUCE", Reduce), *_enum("JOIN", ReduceOp), *_enum("SRC", Src),
            *_enum("DST", Dst), _define("LANE_LSB", LANE_BITS_LSB),
            _define("TABLE_LIMIT", TABLE_LIMIT)]


def _sets() -> list[str]:
    """Sets of names, as words with a bit for each."""
    whole = set(VectorOp) - FLOAT_OPS
    first = min(FLOAT_OPS)
    assert {op - first for op in FLOAT_OPS} == set(range(len(FLOAT_OPS)))
    return ["// Sets of names, a bit for each; those of operations with fp32 numbers begin with",
            "// the first of these.",
            _bits("INT8_OPS", whole), _define("NUM_FLOAT_OPS", len(FLOAT_OPS)),
            *(_bits(f"FLOAT_{name}_OPS",
                    {op - first for op in FLOAT_OPS if VECTOR_OPERANDS[op] == count})
              for name, count in (("UNARY", 1), ("TERNARY", 3))),
            _bits("ALL_POSTS", Post), _bits("FLOAT_POSTS", FLOAT_POSTS),
            _bits("ALL_JOINS", ReduceOp), _bits("FLOAT_JOINS", FLOAT_REDUCES),
            _bits("ALL_SOURCES", Src),
            _bits("BF16_SOURCES", BF16_SRCS),
            _bits("ALL_DESTINATIONS", Dst), _bits("BF16_DESTINATIONS", {Dst.UB_BF16}),
            _bits("UNARY_OPS", {op for op in whole if VECTOR_OPERANDS[op] == 1}),
            _bits("TERNARY_OPS", {op for op in whole if VECTOR_OPERANDS[op] == 3}),
            _bits("MOVEMENT_OPS", MOVEMENT_OPS), _bits("INDEXED_OPS", INDEXED_OPS),
            _bits("PARAM_POSTS", PARAM_POSTS),
            _bits("STREAM_SOURCES", STREAM_SRCS), _bits("ROW_SOURCES", ROW_SRCS),
            _bits("LANE_SOURCES", LANE_SRCS | LANE_ROW_SRCS),
            _bits("ACC_SOURCES", {src for src in Src if SOURCES[src].mem == Mem.ACC})]


def _faults() -> list[str]:
    return ["// Causes of faults.", *_enum("FAULT", Fault)]


def _registers() -> list[str]:
    """Offsets of the registers but counters, their values, and which of them may be written."""
    counters = min(registers.COUNTERS.values())
    plain = [register for register in registers.REGISTERS if register.offset < counters]
    windows = [register for register in plain if re.match(r"WINDOW\d", register.name)]
    lines = ["// Registers: offsets, and values of some.",
             *(_define(f"REGISTER_{register.name}", register.offset) for register in plain),
             _define("REGISTER_WINDOWS", windows[0].offset, "base and last of each, in order"),
             _define("NUM_WINDOWS", registers.NUM_WINDOWS),
             _define("MAGIC", registers.MAGIC), _define("ISA_VERSION", registers.ISA_VERSION),
             _define("ADDRESS_BITS", registers.ADDRESS_BITS),
             _define("PROGRAM_ALIGN", registers.PROGRAM_ALIGN),
             _define("COUNTER_BITS", registers.COUNTER_BITS)]
    for prefix, enum in (("CONTROL", registers.Control), ("STATUS", registers.Status)):
        lines += [_define(f"{prefix}_{member.name}", int(member)) for member in enum]
    lines += ["// A bit for each of the first 64 words: whether it is a register, and whether the",
              "// host may write it."]
    for name, chosen in (("READABLE", plain),
                         ("WRITABLE", [r for r in plain if r.access is not AccessMode.RO])):
        words = [sum(1 << r.offset // 4 - 32 * half for r in chosen
                     if r.offset // 128 == half) for half in (0, 1)]
        assert all(r.offset < 256 for r in chosen)
        lines += _list(f"{name}_WORDS", (f"{word:#x}u" for word in words))
    return lines


def _counters() -> list[str]:
    names = registers.counter_names()
    first = registers.COUNTERS[names[0]]
    states = [f"{registers.UNIT_NAMES[0]}_{state.name.lower()}" for state in registers.Activity]
    assert [registers.COUNTERS[name] for name in names] == [
        first + 8 * i for i in range(len(names))]
    return ["// Counters: the low word of counter i is at COUNTERS + 8 * i, the high one behind.",
            _define("COUNTERS", first), _define("NUM_COUNTERS", len(names)),
            *(_define(f"COUNTER_{name.upper()}", names.index(name)) for name in names[:4]),
            _define("COUNTER_UNITS", names.index(states[0]),
                    "of unit u: NUM_ACTIVITIES from COUNTER_UNITS + u * NUM_ACTIVITIES on"),
            _define("NUM_ACTIVITIES", len(registers.Activity)),
            *_enum("ACTIVITY", registers.Activity)]


def _link() -> list[str]:
    lines = ["// The host link; fields of headers and identity: the first of their bytes."]
    for name in ("PROTOCOL_VERSION", "LINK_MAGIC", "CRC_BYTES", "SEQUENCE_BITS", "WINDOW",
                 "MAX_PAYLOAD", "WORD_BYTES", "PAGE_BYTES", "REPLY"):
        lines.append(_define(name if name.startswith("LINK") else f"LINK_{name}",
                             getattr(link, name)))
    lines += [_define(f"LINK_{name}", getattr(link, name))
              for name in ("FLAG", "ESCAPE", "ESCAPE_XOR")]
    lines += [_define("LINK_REQUEST_BYTES", link.size(link.REQUEST_HEADER), "of its header"),
              _define("LINK_REPLY_BYTES", link.size(link.REPLY_HEADER), "of its header"),
              _define("LINK_IDENTITY_BYTES", link.size(link.IDENTITY))]
    for prefix, fields in (("REQUEST", link.REQUEST_HEADER), ("REPLY", link.REPLY_HEADER),
                           ("IDENTITY", link.IDENTITY)):
        offset = 0
        for field in fields:
            lines.append(_define(f"{prefix}_{field.name.upper()}", offset,
                                 f"bytes: {field.bytes}"))
            offset += field.bytes
    return [*lines, *_enum("KIND", link.RequestKind),
            *(_define(f"LINK_STATUS_{member.name}", int(member)) for member in link.ReplyStatus),
            _define("RESPONSE_OKAY", 0), _define("RESPONSE_SLVERR", 2),
            _define("RESPONSE_DECERR", 3),
            "// CRC-32/ISO-HDLC: reflected; begins with ones, and is inverted at the end.",
            _define("CRC_POLYNOMIAL", 0xEDB88320), _define("CRC_RESIDUE", 0xDEBB20E3)]


def _memory_map() -> list[str]:
    def words(prefix: str, registers: type[IntEnum], base: int) -> list[str]:
        return [_define(f"{prefix}_{member.name}", base + 4 * member) for member in registers]

    bases = {region.name: region << REGION_BITS for region in Zone}
    return ["// The sequencer's addresses.",
            *(_define(f"{name}_BASE", base) for name, base in bases.items()),
            *words("DEVICE", DeviceRegister, bases["DEVICES"]),
            *words("ENGINE", EngineRegister, bases["DEVICES"] + ENGINE_BASE),
            _define("ENGINE_ACCUMULATE_BIT", ACCUMULATE_BIT),
            _define("ENGINE_FORMAT_BIT", FORMAT_BIT)]


def tables_header() -> str:
    """Return the text of tables.h: the tables of `celosia.arch.special`, one after the other."""
    rows = [row for table in special.tables() for row in table]
    lines = ["// Tables of special functions. Made by celosia_hw.soc.compact.arch_header from",
             "// celosia.arch.special: change that, not this file.", "",
             *(_define(f"TABLE_{name.upper()}", number)
               for number, name in enumerate(special.Table._fields)),
             _define("SPECIAL_SEGMENTS", special.SEGMENTS, "of each table"),
             _define("SPECIAL_OFFSET_BITS", special.OFFSET_BITS),
             _define("SPECIAL_FRACTION", special.FRACTION, "bits behind the point")]
    for kind, name in (("uint32_t", "c0"), ("int32_t", "c1"), ("int16_t", "c2")):
        numbers = ", ".join(str(getattr(row, name)) for row in rows)
        lines += ["", f"static const {kind} {name}[] = {{",
                  *textwrap.wrap(numbers, _COLUMNS, initial_indent="    ",
                                 subsequent_indent="    "), "};"]
    return "\n".join([*lines, ""])


#: What is made, and of what.
HEADERS = {FOLDER / "arch.h": arch_header, FOLDER / "tables.h": tables_header}


if __name__ == "__main__":
    for _path, _make in HEADERS.items():
        _path.write_text(_make())
