"""One change of one place in one file."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

__all__ = ["Mutant"]


@dataclass(frozen=True, order=True)
class Mutant:
    """The bytes from ``start`` to ``end`` of a file become ``after``; all else stays as it is."""

    path: str
    start: int
    end: int
    operator: str
    after: str
    before: str
    scope: str
    line: int
    column: int
    text: str  # the line that holds it, stripped: says where it is when lines have moved
    becomes: str  # what that line is then

    @property
    def place(self) -> str:
        """What names it on the command line: FILE:LINE:COLUMN:OPERATOR."""
        return f"{self.path}:{self.line}:{self.column}:{self.operator}"

    def apply(self, source: bytes) -> bytes:
        """Return the file with the change; ValueError if the place holds something else."""
        if source[self.start:self.end] != self.before.encode():
            raise ValueError(f"{self.place} must hold {self.before!r}, "
                             f"not {source[self.start:self.end].decode()!r}")
        return source[:self.start] + self.after.encode() + source[self.end:]

    def diff(self, source: bytes) -> str:
        """Return the change as a unified diff."""
        old, new = (text.decode().splitlines(keepends=True)
                    for text in (source, self.apply(source)))
        return "".join(difflib.unified_diff(old, new, self.path, self.path))

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.place}: {before} -> {after}"
