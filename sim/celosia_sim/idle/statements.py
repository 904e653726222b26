"""Statements of Verilator's C++, and the variables that each reads and writes.

Nothing is interpreted but brackets, names and assignments.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["DECLARATION", "FUNCTION", "Statement", "close", "condition", "read", "split",
           "written"]

#: A function of a model, which takes the model and returns nothing: its name and its body.
FUNCTION = re.compile(r"^void (?P<name>\w+)\(\w+\* vlSelf\) \{\n(?P<body>.*?)^\}\n",
                      re.MULTILINE | re.DOTALL)
#: A variable: its type, without the comment that says its bits, and its name.
DECLARATION = re.compile(
    r"^ *(?P<type>[CSIQ]Data/\*\d+:0\*/|VlWide<\d+>/\*\d+:0\*/|VlUnpacked<.*>) (?P<name>\w+);$",
    re.MULTILINE)
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|[(){}\[\];]', re.DOTALL)
_GOES_ON = re.compile(r"\s*(?:else\b|[;,)}.])")
_NAME = re.compile(r"(?:vlSelfRef\.|(?<![\w.]))([A-Za-z_]\w*)")
_INDEX = re.compile(r"\s*\[")
_SET = re.compile(r"\s*=(?!=)")
_CALL = re.compile(r"VL_\w+\(")
_COMMENT = re.compile(r"//[^\n]*\n")


@dataclass
class Statement:
    """A statement outside of all others.

    ``text``: its C++. ``reads``, ``writes``: names of the variables that it reads and writes.
    """

    text: str
    reads: set[str]
    writes: set[str]


def split(body: str) -> list[str]:
    """Statements of a function's body, without the comments before them."""
    statements, depth, start = [], 0, 0
    for bracket in _BRACKET.finditer(body):
        if bracket[0] in "({[":
            depth += 1
        elif bracket[0] in ")]}":
            depth -= 1
        ends = depth == 0 and (bracket[0] == ";" or (
            bracket[0] == "}" and not _GOES_ON.match(body, bracket.end())))
        if ends:
            statements.append(_COMMENT.sub("", body[start:bracket.end()]).strip())
            start = bracket.end()
    if rest := body[start:].strip():
        raise ValueError(f"a function of the model must end with a statement, not {rest[:80]!r}")
    return statements


def close(text: str, start: int) -> int:
    """Position behind the bracket that closes the one at ``start``."""
    depth = 0
    for bracket in _BRACKET.finditer(text, start):
        if bracket[0] in "({[":
            depth += 1
        elif bracket[0] in ")]}":
            depth -= 1
            if not depth:
                return bracket.end()
    raise ValueError(f"a bracket must be closed: {text[start:start + 80]!r}")


def written(text: str, names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Names that are assigned in a piece of C++, and where."""
    for name in _NAME.finditer(text):
        if name[1] not in names:
            continue
        end = name.end()
        while index := _INDEX.match(text, end):
            end = close(text, index.end() - 1)
        if _SET.match(text, end):
            yield name[1], name.start()


def read(text: str, names: Iterable[str]) -> Statement:
    """Find what a statement reads and writes of the variables ``names``.

    What a function of Verilator's library is handed, it may write.
    """
    targets = list(written(text, names))
    places = {place for _, place in targets}
    writes = {name for name, _ in targets}
    reads = {name[1] for name in _NAME.finditer(text)
             if name[1] in names and name.start() not in places}
    if _CALL.match(text):
        writes |= reads
    return Statement(text, reads, writes)


def condition(text: str) -> tuple[str, str, str] | None:
    """Condition and both branches of an ``if``; None for other statements."""
    if not text.startswith("if ("):
        return None
    end = close(text, text.index("("))
    start = text.index("{", end)
    middle = close(text, start)
    rest = text[middle:].strip()
    if rest and not rest.startswith("else"):
        raise ValueError(f"an if must end with its branches, not {rest[:80]!r}")
    other = rest.removeprefix("else").strip()
    if other.startswith("{"):
        other = other[1:close(other, 0) - 1]
    return " ".join(text[3:end].split()), text[start + 1:middle - 1], other
