"""What a tensor instruction writes, to the row and the byte."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import DST_MEM, Command, Dma, Matmul, Store, Vector
from celosia.arch.isa import Mem
from celosia.arch.vector import VectorOp
from celosia.model import vpu
from celosia.model.state import State

__all__ = ["written"]

_NAMES = {Mem.UB: "ub", Mem.ACC: "acc"}


def written(command: Command, state: State) -> tuple[str, NDArray[np.int64]]:
    """Return the memory that a command writes, "ub", "acc" or "memory", and its rows or bytes.

    Parameters
    ----------
    command
        What was executed.
    state
        The memories behind it: a scatter's rows depend on its indices.
    """
    if isinstance(command, Store):
        starts = command.addr + np.arange(command.rows, dtype=np.int64) * command.pitch
        return "memory", (starts[:, None] + np.arange(command.row_bytes)).reshape(-1)
    if isinstance(command, Dma):
        name, rows = _NAMES[command.mem], command.chip(state.config.dim)
    elif isinstance(command, Matmul):
        name, rows = "acc", command.acc
    else:
        name, rows = _NAMES[DST_MEM[command.kind]], command.dst
    found = np.arange(len(getattr(state, name)), dtype=np.int64)[rows.index()]
    if isinstance(command, Vector) and command.op == VectorOp.SCATTER:
        indices = vpu.indices(command, state.acc)
        found = found[indices[indices < command.param]]
    return name, found
