"""What can go wrong on the way to a bitstream."""

__all__ = ["FpgaError", "ToolFailed", "ToolMissing"]


class FpgaError(RuntimeError):
    """Base of the errors of this package."""


class ToolMissing(FpgaError):
    """A program is not installed, or is too old."""


class ToolFailed(FpgaError):
    """A program ended with an error; the message has its last lines and where the rest is."""
