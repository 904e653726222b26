"""What tensor instructions do to the memories."""

from __future__ import annotations

from celosia.arch.isa import Mem
from celosia.model import dma, vpu
from celosia.model.commands import DST_MEM, Command, Dma, Matmul
from celosia.model.mxu import Mxu
from celosia.model.state import State

__all__ = ["Effects"]


class Effects:
    """What the tensor instructions of one run do.

    Attributes
    ----------
    bytes_read, bytes_written
        Bytes of external memory.
    """

    def __init__(self, state: State):
        self._state = state
        self._mxu = Mxu(state.config)
        self.bytes_read = self.bytes_written = 0

    def flush(self) -> None:
        """Bring the accumulators up to date."""
        self._mxu.flush(self._state.acc)

    def execute(self, command: Command) -> int | None:
        """Execute a command; return the first index out of its table, if there is one."""
        state, mxu = self._state, self._mxu
        if isinstance(command, Matmul):
            mxu.execute(command, state.ub, state.acc)
            return None
        mxu.settle(state.acc, command.acc_spans)
        if isinstance(command, Dma):
            chip = state.ub if command.mem == Mem.UB else state.acc
            if command.store:
                dma.store(command, state.memory, chip)
                self.bytes_written += command.rows * command.row_bytes
            else:
                dma.load(command, state.memory, chip)
                self.bytes_read += command.rows * command.row_bytes
                if command.mem == Mem.UB:
                    mxu.changed(command.chip.base, command.chip.last)
            return None
        bad = vpu.execute(command, state.ub, state.acc)
        if DST_MEM[command.kind] == Mem.UB:
            mxu.changed(command.dst.base, command.dst.last)
        return bad
