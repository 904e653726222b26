"""Where in somebody's program an operation came from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

__all__ = ["Source"]

_BETWEEN = " < "
_PLACE = r"(?P<file>\S.*?)(?::(?P<line>\d+))?(?::(?P<column>\d+))?"
_TEXT = re.compile(rf"(?P<operation>\S+)(?: {_PLACE})??(?: \((?P<name>.*)\))?")


@dataclass(frozen=True, slots=True)
class Source:
    """A place in a file and the name that the framework gave the operation.

    Attributes
    ----------
    file, line, column
        The place, counted from 1; "" and 0 where it is unknown, the column alone, too.
    name
        For example "jit(step)/dot_general"; "" where there is none.
    callers
        Calls that led there, the nearest first, each as "file:line in function", without those of
        frameworks. Two sources that differ in nothing else are equal.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    name: str = ""
    callers: tuple[str, ...] = field(default=(), compare=False)

    UNKNOWN: ClassVar[Source]

    @property
    def place(self) -> str:
        """The file, with line and column as far as they are known."""
        return ":".join(str(each) for each in (self.file, self.line, self.column) if each)

    @property
    def known(self) -> bool:
        """Whether this says anything."""
        return bool(self.file or self.name)

    def __str__(self) -> str:
        return self.said() or "unknown source"

    def said(self, operation: str = "") -> str:
        """Return what messages say of an operation that came from here, without the callers."""
        name = f"({self.name})" if self.name else ""
        return " ".join(part for part in (operation, self.place, name) if part)

    def told(self, operation: str) -> str:
        """Return what instructions of an operation say they come from: all there is."""
        return _BETWEEN.join((self.said(operation), *self.callers))

    @classmethod
    def parse(cls, text: str) -> tuple[str, Source]:
        """Return the operation and the source that `told` made a text of.

        What a person wrote into a program is an operation alone.
        """
        short, *callers = text.split(_BETWEEN)
        found = _TEXT.fullmatch(short)
        if found is None:
            return short, cls(callers=tuple(callers))
        return found["operation"], cls(
            found["file"] or "", int(found["line"] or 0), int(found["column"] or 0),
            found["name"] or "", tuple(callers))


Source.UNKNOWN = Source()
