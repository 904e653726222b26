"""Amaranth layouts of the instruction word, derived from the ISA tables."""

from amaranth.hdl import Value
from amaranth.lib import data
from amaranth.utils import exact_log2

from celosia.arch import isa
from celosia.arch.registers import PROGRAM_ALIGN

__all__ = ["BLOCK", "BLOCK_RAM_DEPTH", "PC_BITS", "header_layout", "packed_layout", "reaches",
           "word_layout"]

#: An instruction index is a register value, so it has 32 bits.
PC_BITS = 32
#: Instructions of a fetch burst. A block never crosses a page: programs are aligned to it.
BLOCK = PROGRAM_ALIGN // isa.INSTRUCTION_BYTES

#: A wide memory that is shallower is made deeper: synthesis would build it of look-up tables.
BLOCK_RAM_DEPTH = 64


def header_layout(opcode: isa.Opcode) -> data.FlexibleLayout:
    """Fields of an instruction's header, each at its place in the 64 bits."""
    description = isa.BY_OPCODE[opcode]
    return data.FlexibleLayout(
        isa.HEADER_BITS,
        {field.name: data.Field(field.width, field.lsb) for field in description.fields})


def packed_layout(opcode: isa.Opcode, operand: str) -> data.FlexibleLayout:
    """Parts of a packed operand, as unsigned bits."""
    parts = next(o.parts for o in isa.BY_OPCODE[opcode].operands if o.name == operand)
    return data.FlexibleLayout(
        32, {part.name: data.Field(part.width, part.lsb) for part in parts})


def word_layout() -> data.StructLayout:
    """An instruction of 256 bits: the header, then the operands."""
    return data.StructLayout({
        "opcode": isa.OPCODE_BITS, "regmask": isa.REGMASK_BITS,
        "fields": isa.HEADER_BITS - isa.FIELDS_LSB,
        "operands": data.ArrayLayout(32, isa.NUM_OPERANDS),
    })


def reaches(value: Value, limit: int) -> Value:
    """``value >= limit``; without a carry chain where the limit is a power of two."""
    return value[exact_log2(limit):].any() if limit & (limit - 1) == 0 else value >= limit
