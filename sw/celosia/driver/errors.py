"""What can go wrong between a host and a chip."""

from __future__ import annotations

from celosia.arch.faults import FAULT_DOCS, AnyFault, Fault

__all__ = ["BusError", "ChipFault", "DeviceError", "Divergence", "OutOfDeviceMemory", "RunTimeout",
           "StaleHandle", "needs"]


#: Faults whose address is not a row or an index.
_HEXADECIMAL = (Fault.ILLEGAL_OPCODE, Fault.WINDOW, Fault.MISALIGNED)


class DeviceError(RuntimeError):
    """Base of all errors of the driver that are not a wrong argument."""


def needs(what: str, missing: ModuleNotFoundError | str, extra: str) -> DeviceError:
    """Return the error that says which extra of the package has what is missing."""
    name = missing if isinstance(missing, str) else missing.name
    return DeviceError(f"{what} needs the package {name}: pip install 'celosia[{extra}]'")


class BusError(DeviceError):
    """The chip, or its memory, answered an access with an error."""


class OutOfDeviceMemory(DeviceError):
    """External memory has no hole of the wanted size."""


class StaleHandle(DeviceError):
    """An array or a program was used after it was freed, or its device reset or closed."""


class _RunError(DeviceError):
    """A run that ended early; the device has been reset and is ready for the next program."""

    pc: int
    instruction: str
    source: str
    program: str

    def _where(self) -> str:
        text = f"instruction {self.pc} of {self.program or 'the program'}: {self.instruction}"
        return text + (f"\n  from {self.source}" if self.source else "")


class ChipFault(_RunError):
    """The chip stopped at a fault.

    Attributes
    ----------
    cause
        Why.
    pc
        Index of the instruction at fault.
    address
        FAULT_ADDR; what it means depends on the cause, see `celosia.arch.faults.FAULT_DOCS`.
    instruction
        The instruction as assembly text; "(outside the program)" where there is none.
    source
        What the instruction came from; "" where nothing is known.
    program
        Name of the program.
    place
        What else is to be said of the address, or "".
    reason
        What the instruction should have been, or "".
    """

    def __init__(self, cause: AnyFault, pc: int, address: int, instruction: str, source: str,
                 program: str, place: str = "", reason: str = ""):
        self.cause, self.pc, self.address = cause, pc, address
        self.instruction, self.source, self.program = instruction, source, program
        self.place, self.reason = place, reason
        what, meaning = FAULT_DOCS[cause]
        where = f"{address:#x}" if cause in _HEXADECIMAL else str(address)
        detail = "" if meaning == "0" else f" ({meaning}: {where}{place and f', {place}'})"
        super().__init__(f"fault {cause.name}: {reason or what}{detail}\n  at {self._where()}")


class Divergence(_RunError):
    """The RTL and the golden model differ; ``pc`` .. ``program`` as in `ChipFault`.

    Attributes
    ----------
    what
        What is wrong with what the instruction did.
    cycle
        Of the run, in which it was seen.
    now
        That cycle since the chip was made, as waveforms count.
    order
        Which of the tensor instructions that were executed it is, from 1; 0: no tensor instruction.
    """

    def __init__(self, pc: int, what: str, cycle: int, now: int, order: int = 0,
                 instruction: str = "", source: str = "", program: str = ""):
        self.pc, self.what, self.cycle, self.now, self.order = pc, what, cycle, now, order
        self.instruction, self.source, self.program = instruction, source, program
        super().__init__(f"RTL and golden model differ in cycle {cycle}: {what}\n"
                         f"  at {self._where()}")

    def located(self, instruction: str, source: str, program: str) -> Divergence:
        """Return the error with the instruction as text, its source and its program."""
        return Divergence(self.pc, self.what, self.cycle, self.now, self.order, instruction, source,
                          program)


class RunTimeout(_RunError):
    """A run took more cycles than it may; ``pc`` .. ``program`` as in `ChipFault`.

    Attributes
    ----------
    cycles
        The limit.
    """

    def __init__(self, cycles: int, pc: int, instruction: str, source: str, program: str):
        self.cycles, self.pc = cycles, pc
        self.instruction, self.source, self.program = instruction, source, program
        super().__init__(f"timeout: the run took more than {cycles} cycles\n  at {self._where()}")
