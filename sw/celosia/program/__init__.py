"""Programs of the chip: what they hold, the file that they are kept in, and their text."""

from celosia.program.buffer import DTYPES, KINDS, Buffer
from celosia.program.program import Program

__all__ = ["DTYPES", "KINDS", "Buffer", "Program"]
