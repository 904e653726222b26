"""What tensor instructions do to the memories, and runs that are repeated.

A program that reads nothing back into the scalar unit does the same instructions in every run, and
takes as many cycles by the estimate. So the golden model keeps the commands of a run, and a later
one of the same code executes them at once: what they do is the same, only finding them is left out.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from celosia.arch.isa import Mem
from celosia.arch.vector import INDEXED_OPS
from celosia.model import dma, vpu
from celosia.model.commands import DST_MEM, Command, Dma, Matmul, Vector
from celosia.model.mxu import Mxu

if TYPE_CHECKING:
    from celosia.model.machine import Machine, RunResult

__all__ = ["MOST_COMMANDS", "Effects", "Recording", "Recordings"]

#: Commands of a run that are kept at most.
MOST_COMMANDS = 200_000
_MOST_RUNS = 8


class Effects:
    """What the tensor instructions of one run do.

    Attributes
    ----------
    bytes_read, bytes_written
        Bytes of external memory.
    """

    def __init__(self, machine: Machine):
        self._machine = machine
        self._mxu = Mxu(machine.config)
        self.bytes_read = self.bytes_written = 0

    def flush(self) -> None:
        """Bring the accumulators up to date."""
        self._mxu.flush(self._machine.acc)

    def execute(self, command: Command) -> int | None:
        """Execute a command; return the first index out of its table, if there is one."""
        machine, mxu = self._machine, self._mxu
        if isinstance(command, Matmul):
            mxu.execute(command, machine.ub, machine.acc)
            return None
        mxu.settle(machine.acc, command.acc_spans)
        if isinstance(command, Dma):
            chip = machine.ub if command.mem == Mem.UB else machine.acc
            if command.store:
                dma.store(command, machine.memory, chip)
                self.bytes_written += command.rows * command.row_bytes
            else:
                dma.load(command, machine.memory, chip)
                self.bytes_read += command.rows * command.row_bytes
                if command.mem == Mem.UB:
                    mxu.changed(command.chip.base, command.chip.last)
            return None
        bad = vpu.execute(command, machine.ub, machine.acc)
        if DST_MEM[command.kind] == Mem.UB:
            mxu.changed(command.dst.base, command.dst.last)
        return bad


@dataclass
class Recording:
    """A run that can be repeated: its code, its commands, how it ended."""

    code: bytes
    commands: list[Command]
    result: RunResult


class Recordings:
    """The last runs that can be repeated, by where and how they were started."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple, Recording] = OrderedDict()

    def find(self, key: tuple, code: bytes) -> Recording | None:
        """Return the recording of the same code, if there is one."""
        found = self._kept.get(key)
        if found is None or found.code != code:
            return None
        self._kept.move_to_end(key)
        return found

    def keep(self, key: tuple, code: bytes, commands: list[Command], result: RunResult) -> None:
        """Keep a run that has ended with its halt, unless it is too long."""
        indexed = any(isinstance(command, Vector) and command.op in INDEXED_OPS
                      for command in commands)
        if indexed or len(commands) > MOST_COMMANDS:
            return  # a bad index would have to be found again
        self._kept[key] = Recording(code, commands, result)
        if len(self._kept) > _MOST_RUNS:
            self._kept.popitem(last=False)
