"""What the compiler says when it cannot make a program."""

from __future__ import annotations

__all__ = ["CompileError", "MemoryTooSmall"]


class CompileError(ValueError):
    """A graph cannot become a program for this chip; the message says what was wanted and where."""


class MemoryTooSmall(CompileError):
    """A program needs more external memory than there is; the message says for what."""
