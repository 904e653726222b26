"""Mutants that no test can kill, each with the argument for it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from mutation.mutant import Mutant

__all__ = ["Equivalent", "argument_for", "load"]

_KEYS = {"file", "scope", "line", "becomes", "why"}


@dataclass(frozen=True)
class Equivalent:
    """A mutant by its content, so that it is found again when lines move.

    Attributes
    ----------
    file, scope
        The file and the function in it.
    line, becomes
        The line that holds it, as it is and as it is with the mutant.
    why
        The argument.
    """

    file: str
    scope: str
    line: str
    becomes: str
    why: str

    def matches(self, mutant: Mutant) -> bool:
        """Whether a mutant is this one."""
        return (self.file, self.scope, self.line.strip(), self.becomes.strip()) == (
            mutant.path, mutant.scope, mutant.text, mutant.becomes)


def load(path: Path) -> list[Equivalent]:
    """Read the file of equivalent mutants; ValueError if an entry is not as it should be."""
    if not path.exists():
        return []
    found = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", []):
        if entry.keys() != _KEYS:
            raise ValueError(f"{path.name}: an entry must have file, scope, line, becomes and why, "
                             f"not {', '.join(entry)}")
        if not entry["why"].strip():
            raise ValueError(f"{path.name}: why must be an argument, not {entry['why']!r}")
        found.append(Equivalent(**entry))
    return found


def argument_for(mutant: Mutant, known: list[Equivalent]) -> str | None:
    """Return why a mutant is equivalent, None if nobody says that it is."""
    return next((each.why for each in known if each.matches(mutant)), None)
