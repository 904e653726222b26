"""The golden model: a sequential interpreter of the ISA, which defines what the chip does.

The files here are its meaning, nothing else: `PlainMachine` executes one instruction after another
and may take its time. `celosia.model.fast` has the same bits sooner, as `Machine`, which is what
runs by default; `celosia.model.timing` has the cycles.
"""

from celosia.model.fast.machine import Machine
from celosia.model.machine import PlainMachine
from celosia.model.memory import Memory
from celosia.model.pod import Pod, PodProgram, PodStopped
from celosia.model.state import ModelResult
from celosia.model.timing import Timing

__all__ = ["Machine", "Memory", "ModelResult", "PlainMachine", "Pod", "PodProgram", "PodStopped",
           "Timing"]
