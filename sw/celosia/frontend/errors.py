"""What a frontend cannot take."""

from collections.abc import Sequence

__all__ = ["FrontendError", "Unsupported"]


class FrontendError(ValueError):
    """A program that cannot become a graph.

    Attributes
    ----------
    problems
        All of them: each one an operation or a type, with its place in the source.
    """

    def __init__(self, what: str, problems: Sequence[str]):
        self.problems = tuple(problems)
        super().__init__("\n  ".join((what, *problems)))


class Unsupported(Exception):
    """Something about the operation at hand has no counterpart in the graph."""
