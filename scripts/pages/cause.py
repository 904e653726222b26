"""Why messages are said and what to do: what `pages.cures` is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Cause", "cause"]


@dataclass(frozen=True)
class Cause:
    """Messages with one cause.

    Attributes
    ----------
    where
        The modules that say them: names, or beginnings of names that end with a dot.
    words
        A pattern that is in each of them.
    why, cure
        What has happened, and what to do about it.
    """

    where: tuple[str, ...]
    words: str
    why: str
    cure: str

    def holds(self, module: str, text: str) -> bool:
        """Return whether a message is one of them."""
        return (any(module.startswith(each) if each.endswith(".") else module == each
                    for each in self.where) and re.search(self.words, text) is not None)


def cause(where: str, words: str, why: str, cure: str) -> Cause:
    """Return a cause; names of modules have spaces between them."""
    return Cause(tuple(where.split()), words, why, cure)
