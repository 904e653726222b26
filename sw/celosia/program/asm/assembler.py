"""From assembly text to a program."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from celosia.arch import isa
from celosia.arch.config import PRESETS, TpuConfig
from celosia.arch.encoding import Insn
from celosia.arch.words import WORD_MASK, ceil_div
from celosia.program import DTYPES, KINDS, Buffer, Program
from celosia.program.asm.arguments import Arguments
from celosia.program.asm.errors import AsmError, Problem, Wrong, suggest
from celosia.program.asm.expressions import Names, Parser
from celosia.program.asm.lexer import Token, split, tokenise
from celosia.program.buffer import ALIGNMENT

__all__ = ["assemble"]

_RESERVED = re.compile(r"[rx]\d+|[^A-Za-z_].*")
#: Problems after which the rest of the text is not looked at.
_MOST_PROBLEMS = 20


@dataclass
class _Line:
    number: int
    text: str
    tokens: list[Token]


@dataclass
class _Assembler:
    names: Names = field(default_factory=Names)
    name: str = ""
    fingerprint: int | None = None
    arena: int | None = None
    buffers: list[Buffer] = field(default_factory=list)
    data: dict[str, list[bytes]] = field(default_factory=dict)
    places: dict[str, Token] = field(default_factory=dict)
    insns: list[Insn] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    relocations: list[tuple[int, int]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    source: str | None = None

    def statement(self, line: _Line) -> None:
        """Assemble one line; its labels are known already."""
        tokens = line.tokens
        while len(tokens) > 1 and tokens[1].text == ":":
            tokens = tokens[2:]
        first = tokens[0]
        if first.kind == "end":
            return
        if first.text.startswith("."):
            directive = _DIRECTIVES.get(first.text)
            if directive is None:
                raise Wrong(first.column, f"a directive must be one of {', '.join(_DIRECTIVES)}, "
                                          f"not {first}{suggest(first.text, _DIRECTIVES)}")
            directive(self, first, split(tokens[1:]))
            return
        instruction = isa.BY_MNEMONIC.get(first.text.lower())
        if instruction is None or first.kind != "name":
            close = suggest(first.text, [*isa.BY_MNEMONIC, *_DIRECTIVES])
            raise Wrong(first.column, f"an instruction must come here, not {first}{close}")
        insn, relocated = Arguments(instruction, self.names).read(first, tokens[1:])
        self.relocations += ((len(self.insns), operand) for operand in relocated)
        self.insns.append(insn)
        self.lines.append(line.number)
        self.sources.append(self.source or "")

    def chip(self, token: Token, pieces: list[list[Token]]) -> None:
        """``.chip PRESET`` or ``.chip FINGERPRINT``."""
        (piece,) = _count(token, pieces, 1, "a preset or a fingerprint")
        if piece[0].kind == "name":
            if piece[0].text not in PRESETS:
                raise Wrong(piece[0].column, f"preset must be one of {', '.join(PRESETS)}, not "
                                             f"{piece[0]}{suggest(piece[0].text, PRESETS)}")
            self.fingerprint = PRESETS[piece[0].text].fingerprint
        else:
            self.fingerprint = self._integer(piece, 0, WORD_MASK)

    def named(self, token: Token, pieces: list[list[Token]]) -> None:
        """``.name NAME``."""
        (piece,) = _count(token, pieces, 1, "a name")
        self.name = _string(piece)

    def equ(self, token: Token, pieces: list[list[Token]]) -> None:
        """``.equ NAME, VALUE``; the comma may be left out."""
        if len(pieces) == 1 and len(pieces[0]) > 2:
            pieces = [[pieces[0][0], Token("end", "", pieces[0][1].column)], pieces[0][1:]]
        name, piece = _count(token, pieces, 2, "a name and a value")
        _check_name(name[0])
        if name[0].text in self.names.labels or name[0].text in self.names.constants:
            raise Wrong(name[0].column, f"{name[0]} must be defined once")
        parser = Parser(piece, self.names)
        value = parser.expression()
        parser.end()
        if value.relocated:
            raise Wrong(piece[0].column, "a constant must be a number, not an address")
        self.names.constants[name[0].text] = value.number

    def arena_bytes(self, token: Token, pieces: list[list[Token]]) -> None:
        """``.arena BYTES``."""
        (piece,) = _count(token, pieces, 1, "a number of bytes")
        self.arena = self._integer(piece, 0, WORD_MASK)

    def buffer(self, token: Token, pieces: list[list[Token]]) -> None:
        """``.buffer NAME, TYPE[SIZE, ...], KIND`` and, if wanted, ``, OFFSET``."""
        if len(pieces) == 3:
            end = max((buffer.end for buffer in self.buffers), default=0)
            offset = ceil_div(end, ALIGNMENT) * ALIGNMENT
        else:
            offset = self._integer(_count(token, pieces, 4, "a name, a type with its shape, a "
                                          "kind and perhaps an offset")[3], 0, WORD_MASK)
        name, dtype = _string(pieces[0]), pieces[1][0]
        if dtype.text not in DTYPES:
            raise Wrong(dtype.column, f"type must be one of {', '.join(DTYPES)}, not {dtype}"
                                      f"{suggest(dtype.text, DTYPES)}")
        kind = pieces[2][0]
        if kind.text not in KINDS:
            raise Wrong(kind.column, f"kind must be one of {', '.join(KINDS)}, not {kind}"
                                     f"{suggest(kind.text, KINDS)}")
        parser = Parser(pieces[1][1:], self.names)
        shape: list[int] = []
        parser.take("[")
        while parser.here.text != "]":
            shape.append(parser.integer())
            if parser.here.text != "]":
                parser.take(",")
        parser.take("]")
        parser.end()
        if name in self.names.buffers:
            raise Wrong(pieces[0][0].column, f"buffer {name!r} must be defined once")
        try:
            buffer = Buffer(name, offset, tuple(shape), dtype.text, kind.text)
        except ValueError as error:
            raise Wrong(token.column, str(error)) from None
        if buffer.end >= 1 << 32:
            raise Wrong(token.column, f"buffer {name} must end at {WORD_MASK} or before, "
                                      f"not at {buffer.end}")
        self.buffers.append(buffer)
        self.names.buffers[name] = offset
        self.places[name] = token

    def values(self, token: Token, pieces: list[list[Token]]) -> None:
        """``.data NAME, VALUE, ...``: goes on with the contents of a constant."""
        if not pieces:
            raise Wrong(token.column, f"{token} must have a name and values")
        buffer = self._constant(pieces[0])
        dtype = DTYPES[buffer.dtype]
        numbers = []
        for piece in pieces[1:]:
            parser = Parser(piece, self.names)
            value = parser.expression()
            parser.end()
            number = value.number
            if buffer.dtype.startswith("int"):
                info = np.iinfo(dtype)
                if value.relocated or not isinstance(number, int) or \
                        not info.min <= number <= info.max:
                    raise Wrong(piece[0].column, f"a value of {buffer.name} must be an integer "
                                                 f"from {info.min} to {info.max}, not {number}")
            try:
                float(number)
            except OverflowError:
                bits = int(number).bit_length()
                raise Wrong(piece[0].column, f"a value of {buffer.name} must fit fp64, not be an "
                                             f"integer of {bits} bits") from None
            numbers.append(number)
        with np.errstate(over="ignore"):
            array = np.array(numbers, np.float32 if "float" in buffer.dtype else dtype)
        self.data[buffer.name].append(array.astype(dtype).tobytes())

    def raw(self, token: Token, pieces: list[list[Token]]) -> None:
        """``.bytes NAME, "HEX"``: goes on with the contents of a constant."""
        name, piece = _count(token, pieces, 2, "a name and a string of hexadecimal digits")
        buffer = self._constant(name)
        try:
            self.data[buffer.name].append(bytes.fromhex(_string(piece)))
        except ValueError:
            raise Wrong(piece[0].column, f"a string of pairs of hexadecimal digits must come "
                                         f"here, not {piece[0]}") from None

    def comes_from(self, token: Token, pieces: list[list[Token]]) -> None:
        """``.source "TEXT"``: what the instructions from here on come from."""
        (piece,) = _count(token, pieces, 1, "a string")
        self.source = _string(piece)

    def _constant(self, piece: list[Token]) -> Buffer:
        name = _string(piece)
        constants = {b.name: b for b in self.buffers if b.kind == "constant"}
        if name not in constants:
            known = ", ".join(constants) or "(there are none)"
            raise Wrong(piece[0].column, f"constant must be one of {known}, not {name!r}"
                                         f"{suggest(name, constants)}")
        self.data.setdefault(name, [])
        return constants[name]

    def _integer(self, piece: list[Token], low: int, high: int) -> int:
        parser = Parser(piece, self.names)
        value = parser.integer()
        parser.end()
        if not low <= value <= high:
            raise Wrong(piece[0].column, f"a number from {low} to {high} must come here, "
                                         f"not {value}")
        return value

    def constants(self) -> dict[str, np.ndarray]:
        """Return the contents of the constants, zeros where none are given."""
        arrays = {}
        for buffer in self.buffers:
            if buffer.kind != "constant":
                continue
            raw = b"".join(self.data.get(buffer.name, [])) or bytes(buffer.nbytes)
            if len(raw) != buffer.nbytes:
                raise ValueError(f"constant {buffer.name} must have {buffer.nbytes} bytes, "
                                 f"not {len(raw)}")
            arrays[buffer.name] = np.frombuffer(raw, DTYPES[buffer.dtype]).reshape(buffer.shape)
        return arrays


def _count(token: Token, pieces: list[list[Token]], count: int, what: str) -> list[list[Token]]:
    if len(pieces) != count:
        raise Wrong(token.column, f"{token} must have {what}, not {len(pieces)} arguments")
    return pieces


def _string(piece: list[Token]) -> str:
    if len(piece) != 2 or piece[0].kind not in ("name", "string"):
        raise Wrong(piece[0].column, f"a name or a string must come here, not {piece[0]}")
    return str(piece[0].value)


def _check_name(token: Token) -> None:
    if token.kind != "name" or _RESERVED.fullmatch(token.text):
        raise Wrong(token.column, f"a name that is no register must come here, not {token}")


_DIRECTIVES = {
    ".chip": _Assembler.chip, ".name": _Assembler.named, ".equ": _Assembler.equ,
    ".arena": _Assembler.arena_bytes, ".buffer": _Assembler.buffer, ".data": _Assembler.values,
    ".bytes": _Assembler.raw, ".source": _Assembler.comes_from,
}


def _labels(line: _Line, index: int, labels: dict[str, int]) -> bool:
    """Note the labels of a line; return whether an instruction follows them."""
    tokens = line.tokens
    while len(tokens) > 1 and tokens[1].text == ":":
        _check_name(tokens[0])
        if tokens[0].text in labels:
            raise Wrong(tokens[0].column, f"label {tokens[0]} must be defined once")
        labels[tokens[0].text] = index
        tokens = tokens[2:]
    return tokens[0].kind != "end" and not tokens[0].text.startswith(".")


def assemble(text: str, config: TpuConfig | None = None, *, filename: str = "<text>",
             line_sources: bool = False) -> Program:
    """Assemble a program.

    Parameters
    ----------
    text
        See docs/isa.md for the syntax.
    config
        The chip that the program is for, where the text has no ``.chip``.
    filename
        What to call the text in messages.
    line_sources
        Make ``file:line`` the source of each instruction, where the text has no ``.source``.

    Raises
    ------
    AsmError
        If the text is not a program: every problem with its line and a caret below the place.
    """
    assembler = _Assembler(fingerprint=None if config is None else config.fingerprint)
    problems: list[Problem] = []
    lines: list[_Line] = []
    labels: dict[str, int] = {}
    index = 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        try:
            lines.append(_Line(number, line, tokenise(line)))
            index += _labels(lines[-1], index, labels)
        except Wrong as wrong:
            problems.append(Problem(number, wrong.column + 1, line, wrong.message))
    assembler.names.labels = labels
    for line in lines:
        if len(problems) >= _MOST_PROBLEMS:
            break
        try:
            if not any(problem.line == line.number for problem in problems):
                assembler.statement(line)
        except Wrong as wrong:
            problems.append(Problem(line.number, wrong.column + 1, line.text, wrong.message))
    if problems:
        raise AsmError(filename, sorted(problems, key=lambda problem: problem.line))
    end = Problem(len(text.split("\n")), 1, "", "")
    if assembler.fingerprint is None:
        raise AsmError(filename, [Problem(end.line, 1, "", "a program must have .chip with a "
                                          "preset or a fingerprint, but it has none")])
    sources: list[str] = []
    if assembler.source is not None:
        sources = assembler.sources
    elif line_sources:
        sources = [f"{filename}:{number}" for number in assembler.lines]
    arena = assembler.arena
    if arena is None:
        arena = max((buffer.end for buffer in assembler.buffers), default=0)
    try:
        return Program(assembler.fingerprint, tuple(assembler.insns), assembler.name,
                       tuple(sources), arena, tuple(assembler.buffers), assembler.constants(),
                       tuple(assembler.relocations))
    except ValueError as error:
        raise AsmError(filename, [Problem(end.line, 1, "", str(error))]) from None
