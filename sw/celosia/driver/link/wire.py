"""What carries bytes between a host and a board."""

from typing import Protocol

__all__ = ["Wire"]


class Wire(Protocol):
    """A line in both directions that may lose, change and double bytes, but not reorder them.

    Attributes
    ----------
    name
        Of the port, for messages.
    byte_seconds
        How long a byte takes.
    """

    name: str
    byte_seconds: float

    def write(self, data: bytes) -> None:
        """Send bytes; OSError if the line is gone."""
        ...

    def read(self, seconds: float) -> bytes:
        """Return what has come, waiting at most about ``seconds`` for the first byte; OSError if
        the line is gone.
        """
        ...

    def close(self) -> None:
        """Give the port back."""
        ...
