"""Assembler and disassembler; both derive from the tables of the ISA."""

from celosia.asm.assembler import assemble
from celosia.asm.disassembler import disassemble, format_address, format_at, format_insn
from celosia.asm.errors import AsmError, Problem

__all__ = ["AsmError", "Problem", "assemble", "disassemble", "format_address", "format_at",
           "format_insn"]
