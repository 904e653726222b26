"""The golden model: a sequential interpreter of the ISA, which defines what the chip does."""

from celosia.model.machine import Machine
from celosia.model.memory import Memory
from celosia.model.state import RunResult
from celosia.model.timing import Timing

__all__ = ["Machine", "Memory", "RunResult", "Timing"]
