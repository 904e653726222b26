"""The interpreter: what a program means, one instruction after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode, Unit
from celosia.arch.registers import PROGRAM_ALIGN, UNIT_NAMES, Status
from celosia.model.checks import ROWS_LIMIT, Stop, check
from celosia.model.commands import Command, Dma, Matmul
from celosia.model.control import Control
from celosia.model.decode import Decoded, decode_checked
from celosia.model.effects import Effects
from celosia.model.fast.recordings import MOST_COMMANDS, Recordings
from celosia.model.memory import Memory
from celosia.model.state import RunResult, State
from celosia.model.timing import Timing

__all__ = ["Machine"]

#: Instructions that are read from memory together.
_FETCHED = 64
#: Instructions from one call of ``progress`` to the next.
_PACE = 256


class Machine(State):
    """A chip with its external memory.

    Parameters
    ----------
    config, memory
        As of `celosia.model.state.State`, whose attributes it has, too.
    timing
        Latencies of the cycle estimate.

    Attributes
    ----------
    observer
        Called with index and command of every tensor instruction that has been executed; None.
    """

    def __init__(self, config: TpuConfig, memory: Memory | None = None,
                 timing: Timing | None = None):
        super().__init__(config, memory)
        self.timing = Timing() if timing is None else timing
        self.observer: Callable[[int, Command], None] | None = None
        self._recordings = Recordings()

    def run(self, program: int, length: int, windows: Sequence[tuple[int, int]] = (),
            watchdog: int = 0, max_instructions: int | None = None,
            progress: Callable[[int], None] | None = None) -> RunResult:
        """Run a program until it halts or faults.

        Parameters
        ----------
        program
            Byte address of its first instruction, a multiple of ``PROGRAM_ALIGN``.
        length
            Its number of instructions.
        windows
            First and last byte of each range of external memory that loads and stores may touch.
        watchdog
            Estimated cycles after which the run faults; 0 for no limit.
        max_instructions
            Executed instructions after which the model gives up; None for no limit.
        progress
            Called now and then with the estimated cycles so far; what it raises ends the run.

        Raises
        ------
        ValueError
            If ``program`` is not a multiple of it.
        TimeoutError
            If ``max_instructions`` were executed, or an instruction walks millions of rows
            (where there is a watchdog, that is taken for its expiry).
        """
        if program % PROGRAM_ALIGN:
            raise ValueError(f"program address must be a multiple of {PROGRAM_ALIGN}, "
                             f"not {program:#x}")
        size = length * isa.INSTRUCTION_BYTES
        if self.observer or max_instructions is not None or not (
                length and self.memory.sound and self.memory.answers(program, 1, size, 0)):
            run = _Run(self, program, length, windows, watchdog)
            return run.go(max_instructions, progress)
        key = program, length, tuple(windows), watchdog
        code = self.memory.read(program, size).tobytes()
        known = self._recordings.find(key, code)
        if known is not None:
            return known.repeat(self, progress)
        run = _Run(self, program, length, windows, watchdog)
        result = run.go(None, progress)
        if result.status == Status.DONE and not run.has_read:
            self._recordings.keep(key, code, run.commands, result)
        return result


class _Run(Control):
    """State that a run does not leave behind."""

    def __init__(self, machine: Machine, program: int, length: int,
                 windows: Sequence[tuple[int, int]], watchdog: int):
        super().__init__(machine.config, machine.timing, length, watchdog)
        self.machine, self.program, self.length = machine, program, length
        self.windows = windows
        self.effects = Effects(machine)
        self.loaded = False
        self.commands: list[Command] = []
        self.has_read = False  # a word of the accumulators
        self.first, self.code = 0, b""  # instructions that have been read: the first, and all

    def go(self, limit: int | None, progress: Callable[[int], None] | None) -> RunResult:
        executed = 0
        while True:
            try:
                running = self.step()
            except Stop as stop:
                return self.result(Status.FAULTED, stop.fault, stop.addr, executed)
            executed += 1
            if progress is not None and executed % _PACE == 0:
                progress(self.clock.now)
            if not running:
                return self.result(Status.DONE, Fault.NONE, 0, executed)
            if executed == limit:
                self.effects.flush()
                raise TimeoutError(f"the program must halt within {limit} instructions, "
                                   f"it is at instruction {self.pc}")

    def result(self, status: Status, cause: Fault, addr: int, executed: int) -> RunResult:
        self.effects.flush()
        if status == Status.FAULTED:
            self.clock.halt()
        cycles = self.clock.now
        counters = {"cycles": cycles, "instructions": executed,
                    "bytes_read": self.effects.bytes_read,
                    "bytes_written": self.effects.bytes_written}
        counters |= {f"{name}_busy": busy
                     for name, busy in zip(UNIT_NAMES, self.clock.busy, strict=True)}
        return RunResult(status, cause, self.pc, addr, executed, cycles, counters)

    def fetch(self) -> Decoded:
        pc, size = self.pc, isa.INSTRUCTION_BYTES
        if pc >= self.length:
            raise Stop(Fault.PC_RANGE, pc)
        if not self.first <= pc < self.first + len(self.code) // size:
            memory, addr = self.machine.memory, self.program + size * pc
            count = min(_FETCHED, self.length - pc)
            if not memory.answers(addr, 1, size * count, 0):
                count = 1  # that the bus fails later must not matter now
                if not memory.answers(addr, 1, size, 0):
                    raise Stop(Fault.BUS_FETCH, pc)
            self.first, self.code = pc, memory.read(addr, size * count).tobytes()
        at = size * (pc - self.first)
        return decode_checked(self.machine.config, self.code[at:at + size])

    def read(self, row: int, lane: int) -> int:
        config = self.machine.config
        if row >= config.acc_rows:
            raise Stop(Fault.ACC_RANGE, row)
        if lane >= config.dim:
            raise Stop(Fault.INDEX_RANGE, lane)
        self.effects.flush()
        self.has_read = True
        return int(self.machine.acc[row, lane])

    def tensor(self, decoded: Decoded, values: list[int]) -> None:
        machine = self.machine
        if decoded.opcode == Opcode.MATMUL and not (decoded.fields["wload"] or self.loaded):
            raise Stop(Fault.ILLEGAL_FIELD)
        command = check(machine.config, decoded, values, self.strides, self.windows)
        if command.length > ROWS_LIMIT:
            if self.watchdog:
                raise Stop(Fault.WATCHDOG)
            raise TimeoutError(f"instruction {self.pc} must walk at most {ROWS_LIMIT} rows, "
                               f"not {command.length}")
        if isinstance(command, Dma) and not machine.memory.answers(
                command.addr, command.rows, command.row_bytes, command.pitch):
            raise Stop(Fault.BUS_WRITE if command.store else Fault.BUS_READ)
        bad = self.effects.execute(command)
        self.loaded |= isinstance(command, Matmul)
        if len(self.commands) <= MOST_COMMANDS:
            self.commands.append(command)
        self.clock.tensor(command)
        if machine.observer is not None:
            machine.observer(self.pc, command)
        if bad is not None:
            raise Stop(Fault.INDEX_RANGE, bad)


assert Unit.SCALAR == len(UNIT_NAMES) - 1
