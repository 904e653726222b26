"""Tokens of a line of assembly text."""

import json
import re
from dataclasses import dataclass

from celosia.program.asm.errors import Wrong

__all__ = ["Token", "split", "tokenise"]

_PATTERN = re.compile(r"""
    (?P<space>[ \t\r]+)
  | (?P<comment>[;\#].*)
  | (?P<float>\d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+))
  | (?P<int>0[xX][0-9a-fA-F_]+ | 0[bB][01_]+ | \d[\d_]*)
  | (?P<name>\.?[A-Za-z_][A-Za-z0-9_.]*)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<punctuation><<|>>|[][(),:=+\-*/%|&@])
""", re.VERBOSE)


@dataclass(frozen=True)
class Token:
    """A token: its kind (float, int, name, string, punctuation, end), text, value and column."""

    kind: str
    text: str
    column: int
    value: int | float | str = ""

    def __str__(self) -> str:
        return "the end of the line" if self.kind == "end" else repr(self.text)


def tokenise(line: str) -> list[Token]:
    """Split a line into tokens; the last is of kind "end". Wrong where nothing fits."""
    tokens: list[Token] = []
    at = 0
    while at < len(line):
        match = _PATTERN.match(line, at)
        if match is None:
            what = "a string must end with '\"' on its line" if line[at] == '"' else (
                f"a token must begin here, not {line[at]!r}")
            raise Wrong(at, what)
        kind, text = str(match.lastgroup), match.group()
        if kind == "comment":
            break
        if kind != "space":
            tokens.append(Token(kind, text, at, _value(kind, text, at)))
        at = match.end()
    tokens.append(Token("end", "", len(line[:at].rstrip())))
    return tokens


def _value(kind: str, text: str, column: int) -> int | float | str:
    try:
        if kind == "int":
            return int(text, 0 if text[1:2] in tuple("xXbB") else 10)
        if kind == "float":
            return float(text)
        if kind == "string":
            return str(json.loads(text))
    except ValueError:
        raise Wrong(column, f"{kind} must be well formed, not {text!r}") from None
    return text


def split(tokens: list[Token]) -> list[list[Token]]:
    """Split at commas outside brackets; each piece ends with a token of kind "end"."""
    if tokens[0].kind == "end":
        return []
    pieces: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == "punctuation":
            depth += (token.text in "[(") - (token.text in "])")
        if token.kind == "end" or token.text == "," and depth == 0:
            pieces[-1].append(Token("end", "", token.column))
            if token.kind != "end":
                pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces
