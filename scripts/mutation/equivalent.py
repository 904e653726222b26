"""Mutants that no test can kill, each with the argument for it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from mutation.mutant import Mutant

__all__ = ["Equivalent", "argument_for", "load"]

_KEYS = {"file", "scope", "line", "before", "after", "why"}


@dataclass(frozen=True)
class Equivalent:
    """A mutant by its content, so that it is found again when lines move.

    ``line`` is the text of the line that holds it; it may be left out where ``before`` is in the
    function once.
    """

    file: str
    scope: str
    before: str
    after: str
    why: str
    line: str = ""

    def matches(self, mutant: Mutant) -> bool:
        """Whether a mutant is this one."""
        return ((self.file, self.scope) == (mutant.path, mutant.scope)
                and _plain(self.before) == _plain(mutant.before)
                and _plain(self.after) == _plain(mutant.after)
                and (not self.line or _plain(self.line) == _plain(mutant.expression)))


def _plain(text: str) -> str:
    return " ".join(text.split())


def load(path: Path) -> list[Equivalent]:
    """Read the file of equivalent mutants; ValueError if an entry is not as it should be."""
    if not path.exists():
        return []
    found = []
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", []):
        if not {"file", "scope", "before", "after", "why"} <= entry.keys() <= _KEYS:
            raise ValueError(f"{path.name}: an entry must have file, scope, before, after and why, "
                             f"and may have line, not {sorted(entry)}")
        if not entry["why"].strip():
            raise ValueError(f"{path.name}: why must be an argument, not {entry['why']!r}")
        found.append(Equivalent(**entry))
    return found


def argument_for(mutant: Mutant, known: list[Equivalent]) -> str | None:
    """Return why a mutant is equivalent, None if nobody says that it is."""
    return next((each.why for each in known if each.matches(mutant)), None)
