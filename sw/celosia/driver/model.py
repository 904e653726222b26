"""The golden model behind a transport."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.arch import registers
from celosia.arch.config import TpuConfig
from celosia.arch.registers import AccessMode, Control, Status
from celosia.arch.words import WORD_MASK
from celosia.driver.errors import BusError
from celosia.model import Machine, Memory, ModelResult, Timing

__all__ = ["ModelTransport"]

_BY_OFFSET = {register.offset: register for register in registers.REGISTERS}
#: Written between runs only.
_FIXED = {"PROGRAM", "LENGTH", "WATCHDOG"} | {
    f"WINDOW{i}_{end}" for i in range(registers.NUM_WINDOWS) for end in ("BASE", "LAST")}


class ModelTransport:
    """Registers, memory and interrupt of a chip whose programs the golden model executes.

    A run that was started takes place when it is waited for, or when anything else is done, and
    has ended when that returns; its cycles are an estimate. Accesses that the chip answers with an
    error raise BusError.

    Parameters
    ----------
    config
        The chip.
    memory_bytes
        Size of the external memory; pages that are never written cost nothing.
    timing
        Latencies of the estimate.

    Attributes
    ----------
    machine
        The model; on-chip memories can be looked at there.
    """

    def __init__(self, config: TpuConfig, memory_bytes: int = 1 << 32,
                 timing: Timing | None = None):
        self.memory_bytes = memory_bytes
        self._machine = Machine(config, Memory(memory_bytes), timing)
        self._started = False
        self._values = {register.name: register.init for register in registers.REGISTERS}
        self._values |= {
            "MAGIC": registers.MAGIC, "VERSION": registers.ISA_VERSION,
            "FINGERPRINT": config.fingerprint, "DIM": config.dim,
            "FORMATS": config.int8 | config.bf16 << 1 | config.ports << 8,
            "UB_ROWS": config.ub_rows, "ACC_ROWS": config.acc_rows, "BUS_BYTES": config.bus_bytes,
            "WINDOW": config.window, "IBUF": config.ibuf,
        }

    @property
    def machine(self) -> Machine:
        """The model, between runs."""
        self._finish()
        return self._machine

    def read_register(self, offset: int) -> int:
        """Return a register; BusError where there is none."""
        self._finish()
        register = _BY_OFFSET.get(offset)
        if register is None:
            raise BusError(f"read of register {offset:#05x} must be of one that the chip has")
        return self._values[register.name]

    def write_register(self, offset: int, value: int) -> None:
        """Write a register; BusError where there is none, or it cannot be written now."""
        self._finish()
        register = _BY_OFFSET.get(offset)
        if register is None or register.access is AccessMode.RO:
            raise BusError(f"write of register {offset:#05x} must be to one that can be written")
        if not 0 <= value <= WORD_MASK:
            raise ValueError(f"value must be 32 bits unsigned, not {value!r}")
        if register.name in _FIXED:
            if self._values["STATUS"] == Status.RUNNING:
                raise BusError(f"write of register {register.name} must be between runs")
            self._values[register.name] = value
        elif register.name == "IRQ_ENABLE":
            self._values["IRQ_ENABLE"] = value & 1
        elif register.name == "IRQ_STATUS":
            self._values["IRQ_STATUS"] &= ~value
        elif value & Control.RESET:
            self._values |= {"STATUS": Status.IDLE, "IRQ_STATUS": 0, "FAULT_CAUSE": 0,
                             "FAULT_PC": 0, "FAULT_ADDR": 0, "PC": 0}
        elif value & Control.START:
            self._start()

    def _start(self) -> None:
        values = self._values
        if values["STATUS"] not in (Status.IDLE, Status.DONE):
            raise BusError("START must come while the chip is idle or done")
        if values["PROGRAM"] % registers.PROGRAM_ALIGN:
            raise BusError(f"START must come with a PROGRAM that is a multiple of "
                           f"{registers.PROGRAM_ALIGN}")
        values["STATUS"] = Status.RUNNING
        self._started = True

    def _finish(self, progress: Callable[[int], None] | None = None) -> None:
        """Do the run that was started, if there is one."""
        if not self._started:
            return
        self._started = False
        values = self._values
        windows = [(values[f"WINDOW{i}_BASE"], values[f"WINDOW{i}_LAST"])
                   for i in range(registers.NUM_WINDOWS)]
        result = self._run(values["PROGRAM"], values["LENGTH"], windows, values["WATCHDOG"],
                           progress)
        values |= {"STATUS": result.status, "IRQ_STATUS": 1, "PC": result.pc,
                   "FAULT_CAUSE": result.cause, "FAULT_ADDR": result.addr & WORD_MASK,
                   "FAULT_PC": result.pc if result.cause else 0}
        for name in registers.COUNTERS:
            count = result.counters.get(name, 0)
            values[f"{name.upper()}_LO"] = count & WORD_MASK
            values[f"{name.upper()}_HI"] = count >> 32

    def _run(self, program: int, length: int, windows: Sequence[tuple[int, int]], watchdog: int,
             progress: Callable[[int], None] | None) -> ModelResult:
        return self._machine.run(program, length, windows, watchdog, progress=progress)

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return a copy of a part of external memory."""
        self._check(address, size)
        return self.machine.memory.read(address, size)

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        """Write a part of external memory."""
        self._check(address, len(data))
        self.machine.memory.write(address, data)

    def _check(self, address: int, size: int) -> None:
        if address < 0 or size < 0 or address + size > self.memory_bytes:
            raise BusError(f"access to memory must end inside its {self.memory_bytes} bytes, not "
                           f"at {address + size:#x}")

    def wait_interrupt(self, timeout_cycles: int | None,
                       progress: Callable[[int], None] | None = None) -> bool:
        """Do the run that was started; return whether the interrupt is high then."""
        self._finish(progress)
        if progress is not None:
            progress(self._values["CYCLES_LO"] | self._values["CYCLES_HI"] << 32)
        return bool(self._values["IRQ_STATUS"] & self._values["IRQ_ENABLE"])

    def close(self) -> None:
        """Do nothing: the memory goes with the object."""
