"""The golden model: a sequential interpreter of the ISA, which defines what the chip does."""

from celosia.model.machine import Machine, RunResult
from celosia.model.memory import Memory
from celosia.model.timing import Timing

__all__ = ["Machine", "Memory", "RunResult", "Timing"]
