"""What the compiler says when it cannot make a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from celosia.compiler.demand import Demand

if TYPE_CHECKING:
    from celosia.compiler.ways import Way

__all__ = ["CompileError", "IllFormed", "MemoryTooSmall", "WorkTooLarge"]


class CompileError(ValueError):
    """A graph cannot become a program for this chip; the message says what was wanted and where."""


class WorkTooLarge(CompileError):
    """A piece of work finds no room on chip; the message says which and how much it needs."""


class MemoryTooSmall(CompileError):
    """A program needs more external memory than there is; the message says for what.

    Attributes
    ----------
    demand
        What it needs.
    ways
        What it fits with: its memory was planned with each of them.
    """

    def __init__(self, demand: Demand, ways: Sequence[Way] = ()):
        self.demand, self.ways = demand, tuple(ways)
        super().__init__("\n".join(map(str, (demand, *ways))))


class IllFormed(RuntimeError):
    """A pass of the compiler has made what the next one does not take: a bug of the compiler.

    `celosia.compiler.verify` finds them; the message has every rule that is broken, and where.
    """
