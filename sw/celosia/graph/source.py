"""Where in somebody's program an operation came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

__all__ = ["Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """A place in a file and the name that the framework gave the operation.

    Attributes
    ----------
    file, line, column
        The place, counted from 1; "" and 0 where it is unknown, the column alone, too.
    name
        For example "jit(step)/dot_general"; "" where there is none.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    name: str = ""

    UNKNOWN: ClassVar[Source]

    @property
    def known(self) -> bool:
        """Whether this says anything."""
        return bool(self.file or self.name)

    def __str__(self) -> str:
        place = ":".join(str(each) for each in (self.file, self.line, self.column) if each)
        name = f"({self.name})" if self.name else ""
        return " ".join(part for part in (place, name) if part) or "unknown source"


Source.UNKNOWN = Source()
