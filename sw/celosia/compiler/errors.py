"""What the compiler says when it cannot make a program."""

from __future__ import annotations

__all__ = ["CompileError", "MemoryTooSmall", "WorkTooLarge"]


class CompileError(ValueError):
    """A graph cannot become a program for this chip; the message says what was wanted and where."""


class WorkTooLarge(CompileError):
    """A piece of work finds no room on chip; the message says which and how much it needs."""


class MemoryTooSmall(CompileError):
    """A program needs more external memory than there is; the message says for what."""
