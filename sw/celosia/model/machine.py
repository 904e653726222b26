"""The interpreter: what a program means, one instruction after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from celosia.arch import isa
from celosia.arch.commands import Command, Dma, Matmul, Store
from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Mem, Opcode, Unit
from celosia.arch.messages import MessageCommand
from celosia.arch.registers import PROGRAM_ALIGN, UNIT_NAMES, Status
from celosia.model import dma, links, vpu
from celosia.model.checks import Stop, check
from celosia.model.control import ScalarInterpreter
from celosia.model.decode import Decoded, decode_checked
from celosia.model.memory import Memory
from celosia.model.mxu import Mxu
from celosia.model.state import ModelResult, State
from celosia.model.timing import Timing

__all__ = ["JoinedRun", "KeptRun", "PlainMachine", "Run"]

#: Rows of one instruction that the model is willing to walk; a walk may legally have 2**48.
_ROWS_LIMIT = 1 << 22
#: Instructions from one call of ``progress`` to the next.
_PACE = 256


class PlainMachine(State):
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
    ports
        Its links; at first it is alone.
    """

    def __init__(self, config: TpuConfig, memory: Memory | None = None,
                 timing: Timing | None = None):
        super().__init__(config, memory)
        self.timing = Timing() if timing is None else timing
        self.observer: Callable[[int, Command], None] | None = None
        self.ports: links.MessagePorts = links.Unconnected()

    def run(self, program: int, length: int, windows: Sequence[tuple[int, int]] = (),
            watchdog: int = 0, max_instructions: int | None = None,
            progress: Callable[[int], None] | None = None) -> ModelResult:
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
        return self.start(program, length, windows, watchdog).go(max_instructions, progress)

    def start(self, program: int, length: int, windows: Sequence[tuple[int, int]] = (),
              watchdog: int = 0) -> Run:
        """Return a run that is executed by its steps; parameters and errors as of `run`."""
        return Run(self, program, length, windows, watchdog)

    def code(self, program: int, length: int) -> bytes | None:
        """Return a program as memory has it; None if its runs cannot be kept."""
        del program, length
        return None


class JoinedRun(Protocol):
    """A run of a chip among others, step by step.

    Attributes
    ----------
    executed
        Steps so far.
    pc
        Of the instruction that comes, where it waits.
    """

    executed: int
    pc: int

    def waits(self) -> int | None:
        """Return the port at which the next instruction waits for a message; None: at none."""
        ...

    def step(self) -> bool:
        """Do the next step; False where it was the last."""
        ...

    def result(self, stop: Stop | None = None) -> ModelResult:
        """Return how the run ends."""
        ...


class KeptRun(Protocol):
    """A run that can be repeated together with those of the other chips."""

    def start(self) -> JoinedRun:
        """Return a run that does it again."""
        ...


class Run(ScalarInterpreter):
    """A run, which executes commands as they come; its state is not left behind."""

    def __init__(self, machine: PlainMachine, program: int, length: int,
                 windows: Sequence[tuple[int, int]], watchdog: int):
        if program % PROGRAM_ALIGN:
            raise ValueError(f"program address must be a multiple of {PROGRAM_ALIGN}, "
                             f"not {program:#x}")
        super().__init__(machine.config, machine.timing, length, watchdog)
        self.machine, self.program, self.length = machine, program, length
        self.windows = windows
        self.mxu = Mxu(machine.config)
        self.has_tile = False
        self.executed = self.bytes_read = self.bytes_written = 0

    def go(self, limit: int | None, progress: Callable[[int], None] | None) -> ModelResult:
        """Execute until the halt or a fault; the parameters are those of `PlainMachine.run`."""
        while True:
            try:
                running = self.step()
            except Stop as stop:
                return self.result(stop)
            self.executed += 1
            if progress is not None and self.executed % _PACE == 0:
                progress(self.clock.now)
            if not running:
                return self.result()
            if self.executed == limit:
                raise TimeoutError(f"the program must halt within {limit} instructions, "
                                   f"it is at instruction {self.pc}")

    def result(self, stop: Stop | None = None) -> ModelResult:
        """Return how the run ends here, with a fault or with its halt."""
        cycles = self.clock.now if stop is None else self.clock.halted
        counters = {"cycles": cycles, "instructions": self.executed,
                    "bytes_read": self.bytes_read, "bytes_written": self.bytes_written}
        counters |= {f"{name}_busy": busy
                     for name, busy in zip(UNIT_NAMES, self.clock.busy, strict=True)}
        status, cause, addr = ((Status.DONE, Fault.NONE, 0) if stop is None
                               else (Status.FAULTED, stop.fault, stop.addr))
        return ModelResult(status, cause, self.pc, addr, self.executed, cycles, counters)

    def kept(self) -> KeptRun | None:
        """Return what can be started instead of this run when all chips do the same again."""
        return None

    def fetch(self) -> Decoded:
        """Return the instruction at ``pc``, as memory has it now."""
        memory, addr = self.machine.memory, self.program + isa.INSTRUCTION_BYTES * self.pc
        if self.pc >= self.length:
            raise Stop(Fault.PC_RANGE, self.pc)
        if not memory.answers(addr, 1, isa.INSTRUCTION_BYTES, 0):
            raise Stop(Fault.BUS_FETCH, self.pc)
        code = memory.read(addr, isa.INSTRUCTION_BYTES).tobytes()
        return decode_checked(self.machine.config, code)

    def read(self, row: int, lane: int) -> int:
        """Return a word of the accumulators."""
        config = self.machine.config
        if row >= config.acc_rows:
            raise Stop(Fault.ACC_RANGE, row)
        if lane >= config.dim:
            raise Stop(Fault.INDEX_RANGE, lane)
        return int(self.machine.acc[row, lane])

    def chip(self) -> int:
        """Return the number of the chip."""
        return self.machine.ports.chip

    def message(self, command: MessageCommand) -> None:
        """Send or receive; what is received must have arrived."""
        machine = self.machine
        memory = machine.ub if command.mem == Mem.UB else machine.acc
        if command.op is None:
            links.send(command, machine.ports, memory, self.clock.message(command))
        else:
            inbox = machine.ports.inbox(command.port)
            self.clock.message(command, inbox[0].comes if inbox else 0)
            links.receive(machine.config, command, machine.ports, memory)

    def tensor(self, decoded: Decoded, values: list[int]) -> None:
        """Check a tensor instruction or a message, count it, and execute its command."""
        machine = self.machine
        if decoded.opcode in (Opcode.SEND, Opcode.RECV):
            message = MessageCommand.of(decoded.fields, values, self.strides)
            check(machine.config, message, ())
            self._look_at_length(message.rows.length)
            self.message(message)
            return
        if decoded.opcode == Opcode.MATMUL and not (decoded.fields["wload"] or self.has_tile):
            raise Stop(Fault.ILLEGAL_FIELD)
        command = decoded.command(values, self.strides)
        check(machine.config, command, self.windows)
        length = (command.chip(machine.config.dim).length if isinstance(command, Dma)
                  else command.length)
        self._look_at_length(length)
        if isinstance(command, Dma):
            if not machine.memory.answers(command.addr, command.rows, command.row_bytes,
                                          command.pitch):
                raise Stop(Fault.BUS_WRITE if isinstance(command, Store) else Fault.BUS_READ)
            if isinstance(command, Store):
                self.bytes_written += command.rows * command.row_bytes
            else:
                self.bytes_read += command.rows * command.row_bytes
        self.has_tile |= isinstance(command, Matmul)
        self.clock.tensor(command)
        bad = self.execute(command)
        if machine.observer is not None:
            machine.observer(self.pc, command)
        if bad is not None:
            raise Stop(Fault.INDEX_RANGE, bad)

    def _look_at_length(self, length: int) -> None:
        if length > _ROWS_LIMIT:
            if self.watchdog:
                raise Stop(Fault.WATCHDOG)
            raise TimeoutError(f"instruction {self.pc} must walk at most {_ROWS_LIMIT} rows, "
                               f"not {length}")

    def waits(self) -> int | None:
        """Return the port at which the next instruction waits for a message; None: at none."""
        try:
            decoded = self.decoded.get(self.pc) or self.fetch()
            if decoded.fault or decoded.opcode != Opcode.RECV:
                return None
            values = decoded.values.copy()
            for operand, number in decoded.registers:
                values[operand] = self.registers[number]
            command = MessageCommand.of(decoded.fields, values, self.strides)
            check(self.machine.config, command, ())
        except Stop:
            return None
        inbox = self.machine.ports.inbox(command.port)
        return command.port if inbox is not None and not inbox else None

    def execute(self, command: Command) -> int | None:
        """Do what a command does to the memories.

        Returns
        -------
        int or None
            The first index of a gather or scatter that is not below the rows of its table.
        """
        machine = self.machine
        if isinstance(command, Matmul):
            self.mxu.execute(command, machine.ub, machine.acc)
        elif isinstance(command, Dma):
            chip = machine.ub if command.mem == Mem.UB else machine.acc
            (dma.store if isinstance(command, Store) else dma.load)(command, machine.memory, chip)
        else:
            return vpu.execute(command, machine.ub, machine.acc)
        return None


assert Unit.SCALAR == len(UNIT_NAMES) - 1
