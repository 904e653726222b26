"""Amaranth layouts of the instruction word, derived from the ISA tables."""

from amaranth.hdl import Value
from amaranth.lib import data
from amaranth.utils import exact_log2

from celosia.arch import isa
from celosia.arch.registers import PROGRAM_ALIGN

__all__ = ["BLOCK", "BLOCK_RAM_DEPTH", "PC_BITS", "instruction", "instruction_layout", "reaches",
           "word_layout"]

#: An instruction index is a register value, so it has 32 bits.
PC_BITS = 32
#: Instructions of a fetch burst. A block never crosses a page: programs are aligned to it.
BLOCK = PROGRAM_ALIGN // isa.INSTRUCTION_BYTES

#: A wide memory that is shallower is made deeper: synthesis would build it of look-up tables.
BLOCK_RAM_DEPTH = 64


def _operand_shape(operand: isa.Operand) -> data.FlexibleLayout | int:
    """32 bits, or the parts of a packed operand as unsigned bits."""
    if operand.type is not isa.OperandType.PACKED:
        return 32
    return data.FlexibleLayout(
        32, {part.name: data.Field(part.width, part.lsb) for part in operand.parts})


def _member(name: str) -> str:
    return f"{name}_" if hasattr(data.View, name) else name


def instruction_layout(opcode: isa.Opcode) -> data.FlexibleLayout:
    """Fields and operands of an instruction by name, each at its place in the 256 bits.

    A name that every view has, such as ``shape``, gets an underscore.
    """
    description = isa.BY_OPCODE[opcode]
    return data.FlexibleLayout(8 * isa.INSTRUCTION_BYTES, {
        **{field.name: data.Field(field.width, field.lsb) for field in description.fields},
        **{_member(operand.name): data.Field(_operand_shape(operand), isa.HEADER_BITS + 32 * i)
           for i, operand in enumerate(description.operands)}})


def instruction(opcode: isa.Opcode, word: data.View) -> data.View:
    """Return a word of `word_layout` as the instruction that it is."""
    return data.View(instruction_layout(opcode), word.as_value())


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
