"""What is wrong with assembly text, and where."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

__all__ = ["AsmError", "Problem", "Wrong", "suggest"]


class Wrong(Exception):
    """A problem in the line at hand, at a column counted from 0."""

    def __init__(self, column: int, message: str):
        super().__init__(message)
        self.column, self.message = column, message


@dataclass(frozen=True)
class Problem:
    """One problem: line and column (from 1), the text of the line, and what is wrong."""

    line: int
    column: int
    text: str
    message: str


class AsmError(ValueError):
    """Text that is not a program.

    The message shows each problem with its line and a caret below the place.

    Attributes
    ----------
    problems
        All that were found.
    """

    def __init__(self, filename: str, problems: Sequence[Problem]):
        self.problems = tuple(problems)
        parts = []
        for problem in problems:
            margin = "".join("\t" if char == "\t" else " "
                             for char in problem.text[:problem.column - 1])
            parts.append(f"{filename}:{problem.line}:{problem.column}: {problem.message}\n"
                         f"  {problem.text}\n  {margin}^")
        super().__init__("\n".join(parts))


def suggest(name: str, names: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the name that is closest, or "" if none is close."""
    close = get_close_matches(name.lower(), list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
