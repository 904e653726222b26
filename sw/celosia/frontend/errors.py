"""What a frontend cannot take."""

from collections.abc import Sequence

from celosia.graph import DType, TensorType

__all__ = ["FrontendError", "Unsupported", "too_wide"]


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


def too_wide(type: TensorType, where: str = "") -> str:
    """Return what is said of elements of 64 bits, with what does instead."""
    text = f"elements must have at most 32 bits{where}, not {type}"
    return f"{text}: cast them to f32" if type.dtype is DType.F64 else text
