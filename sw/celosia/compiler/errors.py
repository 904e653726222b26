"""What the compiler says when it cannot make a program."""

from __future__ import annotations

__all__ = ["CompileError"]


class CompileError(ValueError):
    """A graph cannot become a program for this chip; the message says what was wanted and where."""
