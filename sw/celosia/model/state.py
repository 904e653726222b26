"""What a chip holds between instructions, and how a run ends."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.faults import AnyFault
from celosia.arch.registers import Status
from celosia.model.memory import Memory

__all__ = ["ModelResult", "State"]


class State:
    """The memories of a chip.

    Parameters
    ----------
    config
        The chip.
    memory
        External memory; a new empty one if None.

    Attributes
    ----------
    ub
        Unified buffer, shape (ub_rows, D): ``uint16`` lanes on a chip with bf16, else ``uint8``.
    acc
        Accumulators, shape (acc_rows, D), ``uint32``. Both memories are zero at first and keep
        their rows from run to run.
    """

    def __init__(self, config: TpuConfig, memory: Memory | None = None):
        self.config = config
        self.memory = Memory() if memory is None else memory
        lane = np.uint16 if config.bf16 else np.uint8
        self.ub: NDArray = np.zeros((config.ub_rows, config.dim), lane)
        self.acc: NDArray[np.uint32] = np.zeros((config.acc_rows, config.dim), np.uint32)


@dataclass(frozen=True)
class ModelResult:
    """How a run ended.

    Attributes
    ----------
    status
        ``DONE`` or ``FAULTED``.
    cause, addr
        FAULT_CAUSE and FAULT_ADDR; ``Fault.NONE`` and 0 where the program halted.
    pc
        Index of the halt, or of the instruction at fault.
    instructions
        Instructions that were executed, the halt included, the one at fault not.
    cycles
        An estimate (:mod:`celosia.model.timing`).
    counters
        Estimates of some performance counters, by their names in ``celosia.arch.registers``.
    """

    status: Status
    cause: AnyFault
    pc: int
    addr: int
    instructions: int
    cycles: int
    counters: dict[str, int] = field(default_factory=dict)
