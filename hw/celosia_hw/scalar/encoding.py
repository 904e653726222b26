"""Amaranth layouts of the instruction word, derived from the ISA tables."""

from amaranth.lib import data

from celosia.arch import isa
from celosia.arch.registers import PROGRAM_ALIGN

__all__ = ["BLOCK", "PC_BITS", "header_layout", "packed_layout", "word_layout"]

#: An instruction index is a register value, so it has 32 bits.
PC_BITS = 32
#: Instructions of a fetch burst. A block never crosses a page: programs are aligned to it.
BLOCK = PROGRAM_ALIGN // isa.INSTRUCTION_BYTES


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
