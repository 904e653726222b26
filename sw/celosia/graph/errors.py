"""What is wrong with a graph, and where."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

__all__ = ["GraphError", "suggest"]


class GraphError(ValueError):
    """A graph, an operation or its text that is not well formed.

    Attributes
    ----------
    problems
        Every problem that was found, each a sentence with its place.
    """

    def __init__(self, problems: Sequence[str] | str):
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


def suggest(name: str, names: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the name that is closest, or "" if none is close."""
    close = get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
