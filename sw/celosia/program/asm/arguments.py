"""Arguments of one instruction: from tokens to an ``Insn``."""

from __future__ import annotations

import re

from celosia.arch import encoding, isa
from celosia.arch.encoding import Insn, Reg
from celosia.arch.isa import Field, Instruction, Operand, Part
from celosia.arch.vector import LANE_BITS_LSB
from celosia.arch.words import WORD_MASK
from celosia.program.asm.errors import Wrong, suggest
from celosia.program.asm.expressions import AsmValue, Names, Parser, f32
from celosia.program.asm.lexer import Token, split
from celosia.program.asm.syntax import (
    FIXED_MEMORY,
    field_of,
    has_lane,
    is_flag,
    kind_field,
    positional,
    stride_field,
    takes_float,
)

__all__ = ["Arguments"]

_REGISTER = re.compile(r"[rx]\d+")


def _register(token: Token, letter: str, count: int) -> int:
    if not _REGISTER.fullmatch(token.text) or token.text[0] != letter or \
            int(token.text[1:]) >= count:
        raise Wrong(token.column, f"a register {letter}0..{letter}{count - 1} must come here, "
                                  f"not {token}")
    return int(token.text[1:])


class Arguments:
    """Reads the arguments of one instruction.

    Parameters
    ----------
    instruction
        Its description.
    names
        What names in expressions stand for.
    """

    def __init__(self, instruction: Instruction, names: Names):
        self._instruction, self._names = instruction, names
        self._values: dict[str, int | Reg] = {}
        self._relocated: set[str] = set()

    def read(self, mnemonic: Token, tokens: list[Token]) -> tuple[Insn, list[int]]:
        """Return the instruction, and the numbers of the operands that are to be relocated."""
        slots = list(positional(self._instruction))
        for piece in split(tokens):
            first = piece[0]
            if first.kind == "name" and len(piece) > 2 and piece[1].text == "=":
                self._keyword(first, piece[2:])
            elif len(piece) == 2 and (flag := field_of(self._instruction, first.text)) and \
                    is_flag(flag):
                self._set(flag.name, 1, first.column)
            elif not slots:
                raise Wrong(first.column, self._nothing_more(first))
            else:
                self._check_flag(piece)
                self._slot(slots.pop(0), piece)
        try:
            insn = encoding.insn(self._instruction.mnemonic, **self._values)
        except ValueError as error:
            raise Wrong(mnemonic.column, str(error)) from None
        operands = [operand.name for operand in self._instruction.operands]
        return insn, sorted(operands.index(name) for name in self._relocated)

    def _check_flag(self, piece: list[Token]) -> None:
        """Tell a misspelt flag from an operand."""
        name = piece[0].text
        flags = [field.name for field in self._instruction.fields if is_flag(field)]
        known = name in self._names.constants or name in self._names.labels
        if len(piece) == 2 and piece[0].kind == "name" and not known and (
                close := suggest(name, flags)):
            raise Wrong(piece[0].column, f"a flag must be one of {', '.join(flags)}, "
                                         f"not {piece[0]}{close}")

    def _nothing_more(self, token: Token) -> str:
        names = self._keywords()
        if not names:
            return f"{self._instruction.mnemonic} must end here, not go on with {token}"
        wanted = [name for name in names if name not in self._values]
        return (f"{self._instruction.mnemonic} takes name=value here ({', '.join(wanted)}), "
                f"not {token}{suggest(token.text, names)}")

    def _keywords(self) -> list[str]:
        return [*(field.name for field in self._instruction.fields),
                *(name for operand in self._instruction.operands
                  for name in (operand.name, *(part.name for part in operand.parts)))]

    def _keyword(self, token: Token, piece: list[Token]) -> None:
        name = token.text
        if field := field_of(self._instruction, name):
            self._field(field, piece, token.column)
            return
        for operand in self._instruction.operands:
            if operand.name == name:
                self._operand(operand, piece, token.column)
                return
            for part in operand.parts:
                if part.name == name:
                    self._part(operand, part, piece, token.column)
                    return
        known = self._keywords()
        raise Wrong(token.column, f"{self._instruction.mnemonic} takes {', '.join(known)}, "
                                  f"not {name!r}{suggest(name, known)}")

    def _slot(self, slot: Field | Operand, piece: list[Token]) -> None:
        if isinstance(slot, Field):
            self._field(slot, piece, piece[0].column)
        else:
            self._operand(slot, piece, piece[0].column)

    def _set(self, name: str, value: int | Reg, column: int) -> None:
        if name in self._values:
            raise Wrong(column, f"{name} must be given once")
        self._values[name] = value

    def _field(self, field: Field, piece: list[Token], column: int) -> None:
        first, parser = piece[0], Parser(piece, self._names)
        if field.name == "rd":
            value = _register(parser.take(), "r", isa.NUM_REGISTERS)
        elif field.enum is None and _REGISTER.fullmatch(first.text):
            if not (field.is_stride or field.name == "x"):
                raise Wrong(first.column, f"{field.name} must be a number, not {first}")
            value = _register(parser.take(), "x", isa.NUM_STRIDES)
        elif field.enum is not None and first.kind == "name":
            value = self._member(field, parser.take())
        else:
            value = parser.integer()
            self._range(field.name, value, 0, (1 << field.width) - 1, first.column)
        parser.end()
        self._set(field.name, value, column)

    def _member(self, field: Field, token: Token) -> int:
        assert field.enum is not None
        names = {member.name.lower(): int(member) for member in field.enum}
        if token.text.lower() in names:
            return names[token.text.lower()]
        if token.text in self._names.constants:
            value = self._names.constants[token.text]
            if isinstance(value, int):
                self._range(field.name, value, 0, (1 << field.width) - 1, token.column)
                return value
        raise Wrong(token.column, f"{field.name} must be one of {', '.join(names)}, not {token}"
                                  f"{suggest(token.text, names)}")

    def _range(self, name: str, value: int, low: int, high: int, column: int) -> None:
        if not low <= value <= high:
            raise Wrong(column, f"{name} must be from {low} to {high}, not {value}")

    def _part(self, operand: Operand, part: Part, piece: list[Token], column: int) -> None:
        if operand.name in self._values:
            raise Wrong(column, f"{part.name} is a part of {operand.name}, which is given already")
        if _REGISTER.fullmatch(piece[0].text):
            raise Wrong(piece[0].column, f"{part.name} must be a number, not {piece[0]}; a "
                                         f"register holds the whole of {operand.name}")
        parser = Parser(piece, self._names)
        value = parser.integer()
        parser.end()
        low = -(1 << part.width - 1) if part.signed else 0
        self._range(part.name, value, low, low + (1 << part.width) - 1, piece[0].column)
        self._set(part.name, value, column)

    def _operand(self, operand: Operand, piece: list[Token], column: int) -> None:
        for part in operand.parts:
            if part.name in self._values:
                raise Wrong(column, f"{part.name} is a part of {operand.name}, which is given "
                                    f"already")
        parser = Parser(piece, self._names)
        kind = kind_field(self._instruction, operand)
        fixed = FIXED_MEMORY.get(operand.type)
        bracket = len(piece) > 2 and piece[1].text == "[" and piece[0].kind in ("name", "int")
        bare = (kind is not None and kind.enum is not None and len(piece) == 2
                and piece[0].text.lower() in (member.name.lower() for member in kind.enum))
        if bracket or bare:
            self._memory(operand, kind, fixed, parser, column)
        elif kind is not None and column == piece[0].column:
            names = ", ".join(f"{member.name.lower()}[...]" for member in kind.enum or ())
            raise Wrong(column, f"{operand.name} must be one of {names}, not {piece[0]}")
        else:
            self._word(operand, parser, column)
        parser.end()

    def _memory(self, operand: Operand, kind: Field | None, fixed: str | None, parser: Parser,
                column: int) -> None:
        """Read ``memory[row, stride, lane=..]``, or the name of a memory alone: row 0."""
        token, member = parser.take(), 0
        if kind is not None:
            if token.kind == "int":
                self._range(kind.name, int(token.value), 0, (1 << kind.width) - 1, token.column)
                member = int(token.value)
            else:
                member = self._member(kind, token)
            self._set(kind.name, member, token.column)
        elif fixed != token.text:
            wanted = f"{fixed}[row]" if fixed else "a number or a register"
            raise Wrong(token.column, f"{operand.name} must be {wanted}, not {token}")
        if parser.here.kind == "end":
            self._set(operand.name, 0, column)
            return
        parser.take("[")
        self._word(operand, parser, column)
        while parser.here.text == ",":
            parser.take()
            if parser.here.text == "lane" and has_lane(kind, member):
                self._lane(operand, parser)
                break
            field = stride_field(self._instruction, operand)
            if field is None:
                raise Wrong(parser.here.column, f"{operand.name} has no stride register, "
                                                f"']' must come here, not {parser.here}")
            at = parser.here.column
            self._set(field.name, _register(parser.take(), "x", isa.NUM_STRIDES), at)
        parser.take("]")

    def _lane(self, operand: Operand, parser: Parser) -> None:
        """Read ``lane=..`` behind a row, and put it above the row into the operand's word."""
        token, row = parser.take("lane"), self._values[operand.name]
        parser.take("=")
        if isinstance(row, Reg) or operand.name in self._relocated:
            raise Wrong(token.column, f"lane must come after a row that is a number, not after "
                                      f"{'a register' if isinstance(row, Reg) else 'an address'}")
        at = parser.here.column
        lane = parser.integer()
        self._range("lane", lane, 0, (1 << 32 - LANE_BITS_LSB) - 1, at)
        self._range(operand.name, row, 0, (1 << LANE_BITS_LSB) - 1, token.column)
        self._values[operand.name] = row | lane << LANE_BITS_LSB

    def _word(self, operand: Operand, parser: Parser, column: int) -> None:
        """Read the 32 bits of an operand: a register or an expression."""
        token = parser.here
        if token.kind == "name" and _REGISTER.fullmatch(token.text):
            parser.take()
            self._set(operand.name, Reg(_register(token, "r", isa.NUM_REGISTERS)), column)
            return
        value = parser.expression()
        if isinstance(value.number, float):
            value = self._float(operand, value, token)
        number = int(value.number)
        self._range(operand.name, number, -(1 << 31), WORD_MASK, token.column)
        if value.relocated:
            self._range(operand.name, number, 0, WORD_MASK, token.column)
            self._relocated.add(operand.name)
        self._set(operand.name, number, column)

    def _float(self, operand: Operand, value: AsmValue, token: Token) -> AsmValue:
        if not takes_float(operand):
            raise Wrong(token.column, f"{operand.name} must be an integer, not {value.number}")
        return AsmValue(f32(value.number))


