"""What tensor instructions do to the memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.arch.isa import Mem
from celosia.model import dma, vpu
from celosia.model.commands import DST_MEM, Command, Dma, Matmul
from celosia.model.mxu import Mxu

if TYPE_CHECKING:
    from celosia.model.machine import Machine

__all__ = ["Effects"]


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
