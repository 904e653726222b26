"""How a run ended: its result, or the error that says what went wrong where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from numpy.typing import NDArray

from celosia.arch.config import COUNT_BITS, COUNT_MAX, TpuConfig
from celosia.arch.encoding import Imm
from celosia.arch.faults import FAULTS, AnyFault, Fault, LinkFault
from celosia.arch.isa import DmaFormat, Opcode
from celosia.arch.registers import Status
from celosia.arch.vector import INDEXED_OPS
from celosia.driver.chip import Chip
from celosia.driver.errors import ChipFault, DeviceError, Divergence, RunTimeout
from celosia.driver.handles import LoadedProgram

__all__ = ["RunResult", "error_of", "located"]


@dataclass(frozen=True)
class RunResult:
    """A run that ended well.

    Attributes
    ----------
    outputs
        Contents of the output buffers, by name; also ``result[name]``.
    counters
        The chip's performance counters, see `celosia.arch.registers.counter_names`.
    """

    outputs: Mapping[str, NDArray]
    counters: Mapping[str, int]

    def __getitem__(self, name: str) -> NDArray:
        return self.outputs[name]

    @property
    def cycles(self) -> int:
        """Clock cycles from start to end."""
        return self.counters["cycles"]

    @property
    def instructions(self) -> int:
        """Instructions that were executed."""
        return self.counters["instructions"]


def error_of(chip: Chip, loaded: LoadedProgram, config: TpuConfig,
             timeout: int | None) -> DeviceError | None:
    """Return what went wrong with a run, or None.

    Parameters
    ----------
    chip
        Its registers; a run that goes on still is one that took too long.
    loaded
        The program that ran.
    config
        The chip's configuration.
    timeout
        Cycles that the run may take.
    """
    status = chip.read("STATUS")
    if status == Status.DONE:
        return None
    if status == Status.RUNNING:
        return _timeout(loaded, chip.read("PC"), timeout)
    if status != Status.FAULTED:
        return DeviceError(f"register STATUS must be {Status.DONE.value} (done) after a run, "
                           f"not {status}")
    cause, pc = chip.read("FAULT_CAUSE"), chip.read("FAULT_PC")
    if cause == Fault.WATCHDOG:
        return _timeout(loaded, pc, timeout)
    if cause == Fault.NONE or cause not in FAULTS:
        return DeviceError(f"register FAULT_CAUSE must hold a fault, not {cause}")
    address = chip.read("FAULT_ADDR")
    return ChipFault(FAULTS[cause], pc, address, *_describe(loaded, pc),
                     _place(loaded, config, FAULTS[cause], pc, address),
                     _reason(loaded, config, FAULTS[cause], pc))


def located(error: Divergence, loaded: LoadedProgram) -> Divergence:
    """Return a difference with the place of its instruction in a program."""
    return error.located(*_describe(loaded, error.pc))


def _timeout(loaded: LoadedProgram, pc: int, timeout: int | None) -> RunTimeout:
    return RunTimeout(timeout or 0, pc, *_describe(loaded, pc))


def _describe(loaded: LoadedProgram, pc: int) -> tuple[str, str, str]:
    """Return text, source and program of an instruction."""
    from celosia.program.asm import format_at  # what goes well needs no disassembler
    program = loaded.program
    if not 0 <= pc < len(program.insns):
        return "(outside the program)", "", program.name
    return format_at(program, pc), program.sources[pc] if program.sources else "", program.name


def _place(loaded: LoadedProgram, config: TpuConfig, cause: AnyFault, pc: int,
           address: int) -> str:
    """Say what FAULT_ADDR lies in, or how many rows or lanes there are."""
    if cause is Fault.INDEX_RANGE:
        return _limit(loaded, config, pc)
    if cause is Fault.UB_RANGE:
        return f"of {config.ub_rows} rows"
    if cause is Fault.ACC_RANGE:
        return f"of {config.acc_rows} rows"
    if cause is LinkFault.LINK_MISMATCH:
        return _message(loaded, pc, address)
    offset = address - loaded.arena
    if cause in (Fault.WINDOW, Fault.MISALIGNED) and 0 <= offset < loaded.program.arena_bytes:
        from celosia.program.asm import format_address
        return f"which is {format_address(loaded.program, offset)}"
    return ""


def _reason(loaded: LoadedProgram, config: TpuConfig, cause: AnyFault, pc: int) -> str:
    """Say what the instruction at fault should have been, as far as its bits tell."""
    from celosia.model.explain import explain  # what goes well needs no reasons
    insns = loaded.program.insns
    return explain(config, insns[pc], cause) if 0 <= pc < len(insns) else ""


def _message(loaded: LoadedProgram, pc: int, head: int) -> str:
    """Say what message has arrived, and which one was wanted."""
    insns = loaded.program.insns
    if pc >= len(insns) or insns[pc].instruction.opcode is not Opcode.RECV:
        return ""
    fields, counts = insns[pc].fields, insns[pc].operand("counts")
    rows = "as many rows as a register says"
    if isinstance(counts, Imm):
        n0, n1 = counts.value & COUNT_MAX, counts.value >> COUNT_BITS
        rows = f"{n0 * n1} rows"
    arrived = DmaFormat(head >> 12 & 3).name.lower()
    return (f"which is tag {head & 0xFFF} with {head >> 16} rows of {arrived}; port "
            f"{fields['port']} was to bring tag {fields['tag']} with {rows} of "
            f"{DmaFormat(fields['fmt']).name.lower()}")


def _limit(loaded: LoadedProgram, config: TpuConfig, pc: int) -> str:
    """Say what a lane, or an index of a gather or scatter, must be below."""
    insns = loaded.program.insns
    if pc < len(insns) and insns[pc].fields.get("op") in INDEXED_OPS:
        rows = insns[pc].operand("param")
        return f"of {rows.value if isinstance(rows, Imm) else f'r{rows.number}'} rows of the table"
    return f"of {config.dim} lanes"
