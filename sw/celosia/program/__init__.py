"""Programs of the chip: what they hold, and the file that they are kept in."""

from celosia.program.buffer import DTYPES, KINDS, Buffer
from celosia.program.program import Program

__all__ = ["DTYPES", "KINDS", "Buffer", "Program"]
