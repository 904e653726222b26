"""From 32 bytes to an instruction, with every check that needs no register value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from celosia.arch import isa
from celosia.arch.commands import PLACES, Command, unpack
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn, Reg, decode
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode
from celosia.arch.legality import rules
from celosia.arch.streams import Strides
from celosia.arch.vector import Post, VectorOp, operand_names

__all__ = ["Decoded", "decode_checked", "flaw", "opcodes"]

_ZERO = Imm(0)
#: Fields of an instruction that name a value, with the values that there are.
_VALUES = {opcode: [(field.name, {int(value): value for value in field.enum})
                    for field in instruction.fields if field.enum is not None]
           for opcode, instruction in isa.BY_OPCODE.items()}
#: Fields of an instruction that name the stride register of a stream.
_STRIDES = {opcode: [field.name for field in instruction.fields
                     if field.is_stride]
            for opcode, instruction in isa.BY_OPCODE.items()}
#: Scalar instructions that take longer than others, by so many cycles.
_SLOWER = {**dict.fromkeys((
    Opcode.MUL, Opcode.SHL, Opcode.SHR, Opcode.SAR, Opcode.SLT, Opcode.SLTU, Opcode.BEQ, Opcode.BNE,
    Opcode.BLT, Opcode.BGE, Opcode.BLTU, Opcode.BGEU), 1), Opcode.JUMP: 2, Opcode.LOOP: 2}


class Decoded:
    """An instruction as the interpreter wants it.

    Attributes
    ----------
    fault, addr
        What executing it faults with before any value is looked at, ``Fault.NONE`` if nothing.
    opcode, fields
        Of the instruction; meaningless where it faults. Values that have names are members of their
        enumeration.
    values
        Immediate of each operand, 0 for a register.
    registers
        Pairs (operand, register number).
    cycles
        That the scalar unit takes (a taken branch takes two more).
    """

    __slots__ = ("_before", "_strides", "addr", "cycles", "fault", "fields", "opcode",
                 "registers", "values")

    def __init__(self, insn: Insn | None, fault: Fault = Fault.NONE, addr: int = 0):
        self.fault, self.addr = fault, addr
        if insn is not None:
            self.opcode = insn.instruction.opcode
            self.fields = dict(insn.fields)
            for name, values in _VALUES[self.opcode]:
                self.fields[name] = values[self.fields[name]]
            self.values = [o.value if isinstance(o, Imm) else 0 for o in insn.operands]
            self.registers = tuple((i, o.number) for i, o in enumerate(insn.operands)
                                   if isinstance(o, Reg))
            self._strides = [self.fields[name] for name in _STRIDES[self.opcode]
                             if self.fields[name]]
            self._before: tuple[list, Command | None] = [], None
            self.cycles = 2 + max(1, len(self.registers)) + _SLOWER.get(self.opcode, 0)


    def command(self, values: list[int], strides: Sequence[Strides]) -> Command:
        """Return the command of a tensor instruction: operand values, and x0..x7.

        Where it differs from the one before in rows and addresses alone, that one is moved.
        """
        places = PLACES[self.opcode]
        rest: list = values[places:]
        if self._strides:
            rest += [strides[number] for number in self._strides]
        known, form = self._before
        if form is None or rest != known:
            form = unpack(self.opcode, self.fields, values, strides)
            self._before = rest, form
            return form
        return form.at(values[:places])


@cache
def opcodes(ports: int) -> frozenset[int]:
    """Return the opcodes of a chip with so many ports."""
    return frozenset(int(each.opcode) for each in isa.instructions(ports))


@lru_cache(maxsize=1 << 16)
def decode_checked(config: TpuConfig, code: bytes) -> Decoded:
    """Decode 32 bytes as the chip ``config`` does; never raises, faults are in the result."""
    opcode = code[0] & (1 << isa.OPCODE_BITS) - 1
    if opcode not in opcodes(config.ports):
        return Decoded(None, Fault.ILLEGAL_OPCODE, opcode)
    try:
        insn = decode(code)
    except ValueError:
        return Decoded(None, Fault.ILLEGAL_FIELD)
    return Decoded(None, Fault.ILLEGAL_FIELD) if flaw(config, insn) else Decoded(insn)


def flaw(config: TpuConfig, insn: Insn) -> str:
    """Say what makes an instruction an ``ILLEGAL_FIELD`` on this chip, "" where nothing does."""
    opcode, fields = insn.instruction.opcode, insn.fields
    for name, values in _VALUES[opcode]:
        if fields[name] not in values:
            return f"{name} must name one of its values, not be {fields[name]}"
    for rule in rules(config, opcode):
        if all(fields[name] in values for name, values in rule.when.items()):
            value = fields.get(rule.field)
            if value not in rule.values if value is not None else insn.operand(rule.field) != _ZERO:
                return rule.wanted.format(**_words(insn))
    return ""


def _words(insn: Insn) -> dict[str, object]:
    """Return what sentences about an instruction name."""
    words: dict[str, object] = dict(insn.fields)
    for name, values in _VALUES[insn.instruction.opcode]:
        words[name] = values[insn.fields[name]].name.lower()
    if insn.instruction.opcode == Opcode.VECTOR:
        op, post = VectorOp(insn.fields["op"]), Post(insn.fields["post"])
        words["taken"] = ", ".join(operand_names(op, post))
        words["what"] = op.name.lower() + " post div" * (post == Post.DIV)
    return words
