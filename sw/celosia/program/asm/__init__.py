"""Assembler and disassembler; both derive from the tables of the ISA."""

from celosia.program.asm.assembler import assemble
from celosia.program.asm.disassembler import (
    disassemble,
    format_address,
    format_at,
    format_insn,
    formatter,
)
from celosia.program.asm.errors import AsmError, Problem

__all__ = ["AsmError", "Problem", "assemble", "disassemble", "format_address", "format_at",
           "format_insn", "formatter"]
