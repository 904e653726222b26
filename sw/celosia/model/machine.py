"""The interpreter: what a program means, one instruction after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Mem, Opcode, Unit
from celosia.arch.registers import PROGRAM_ALIGN, UNIT_NAMES, Status
from celosia.model import dma, vpu
from celosia.model.checks import ROWS_LIMIT, Stop, check
from celosia.model.commands import Command, Dma, Matmul
from celosia.model.decode import Decoded, decode_checked
from celosia.model.memory import Memory
from celosia.model.mxu import Mxu
from celosia.model.timing import Estimator, Timing

__all__ = ["Machine", "RunResult"]

_MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class RunResult:
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
    cause: Fault
    pc: int
    addr: int
    instructions: int
    cycles: int
    counters: dict[str, int] = field(default_factory=dict)


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


_ALU: dict[Opcode, Callable[[int, int], int]] = {
    Opcode.ADD: lambda a, b: a + b & _MASK,
    Opcode.SUB: lambda a, b: a - b & _MASK,
    Opcode.MUL: lambda a, b: a * b & _MASK,
    Opcode.AND: lambda a, b: a & b,
    Opcode.OR: lambda a, b: a | b,
    Opcode.XOR: lambda a, b: a ^ b,
    Opcode.SHL: lambda a, b: a << (b & 31) & _MASK,
    Opcode.SHR: lambda a, b: a >> (b & 31),
    Opcode.SAR: lambda a, b: _signed(a) >> (b & 31) & _MASK,
    Opcode.SLT: lambda a, b: int(_signed(a) < _signed(b)),
    Opcode.SLTU: lambda a, b: int(a < b),
}
_BRANCH: dict[Opcode, Callable[[int, int], bool]] = {
    Opcode.BEQ: lambda a, b: a == b,
    Opcode.BNE: lambda a, b: a != b,
    Opcode.BLT: lambda a, b: _signed(a) < _signed(b),
    Opcode.BGE: lambda a, b: _signed(a) >= _signed(b),
    Opcode.BLTU: lambda a, b: a < b,
    Opcode.BGEU: lambda a, b: a >= b,
}
#: Scalar instructions that take longer than others (taken branches do too), by so many cycles.
_SLOWER = {Opcode.MUL: 1, Opcode.JUMP: 1, Opcode.LOOP: 1, Opcode.READ: 2}


class Machine:
    """A chip with its external memory.

    Parameters
    ----------
    config
        The chip.
    memory
        External memory; a new empty one if None.
    timing
        Latencies of the cycle estimate.

    Attributes
    ----------
    ub
        Unified buffer, shape (ub_rows, D): ``uint16`` lanes on a chip with bf16, else ``uint8``.
    acc
        Accumulators, shape (acc_rows, D), ``uint32``. Both memories are zero at first and keep
        their rows from run to run.
    observer
        Called with index and command of every tensor instruction that has been executed; None.
    """

    def __init__(self, config: TpuConfig, memory: Memory | None = None,
                 timing: Timing | None = None):
        self.config = config
        self.memory = Memory() if memory is None else memory
        self.timing = Timing() if timing is None else timing
        lane = np.uint16 if config.bf16 else np.uint8
        self.ub: NDArray = np.zeros((config.ub_rows, config.dim), lane)
        self.acc: NDArray[np.uint32] = np.zeros((config.acc_rows, config.dim), np.uint32)
        self.observer: Callable[[int, Command], None] | None = None

    def run(self, program: int, length: int, windows: Sequence[tuple[int, int]] = (),
            watchdog: int = 0, max_instructions: int | None = None) -> RunResult:
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
        return _Run(self, program, length, windows, watchdog).go(max_instructions)


class _Run:
    """State that a run does not leave behind."""

    def __init__(self, machine: Machine, program: int, length: int,
                 windows: Sequence[tuple[int, int]], watchdog: int):
        self.machine, self.program, self.length = machine, program, length
        self.windows, self.watchdog = windows, watchdog
        self.pc = 0
        self.registers = [0] * isa.NUM_REGISTERS
        self.strides = [(0, 0, 0)] * isa.NUM_STRIDES
        self.loops: list[list[int]] = []  # innermost last: start, end, count
        self.mxu = Mxu(machine.config)
        self.loaded = False
        self.clock = Estimator(machine.config, machine.timing)
        self.bytes_read = self.bytes_written = 0
        self.decoded: dict[int, Decoded] = {}

    def go(self, limit: int | None) -> RunResult:
        executed = 0
        while True:
            try:
                running = self.step()
            except Stop as stop:
                return self.result(Status.FAULTED, stop.fault, stop.addr, executed)
            executed += 1
            if not running:
                return self.result(Status.DONE, Fault.NONE, 0, executed)
            if executed == limit:
                self.mxu.flush(self.machine.acc)
                raise TimeoutError(f"the program must halt within {limit} instructions, "
                                   f"it is at instruction {self.pc}")

    def result(self, status: Status, cause: Fault, addr: int, executed: int) -> RunResult:
        self.mxu.flush(self.machine.acc)
        if status == Status.FAULTED:
            self.clock.drain()
        cycles = self.clock.now
        counters = {"cycles": cycles, "instructions": executed, "bytes_read": self.bytes_read,
                    "bytes_written": self.bytes_written}
        counters |= {f"{name}_busy": busy
                     for name, busy in zip(UNIT_NAMES, self.clock.busy, strict=True)}
        return RunResult(status, cause, self.pc, addr, executed, cycles, counters)

    def fetch(self) -> Decoded:
        pc = self.pc
        decoded = self.decoded.get(pc)
        if decoded is None:
            if pc >= self.length:
                raise Stop(Fault.PC_RANGE, pc)
            memory, addr = self.machine.memory, self.program + isa.INSTRUCTION_BYTES * pc
            if not memory.answers(addr, 1, isa.INSTRUCTION_BYTES, 0):
                raise Stop(Fault.BUS_FETCH, pc)
            code = memory.read(addr, isa.INSTRUCTION_BYTES).tobytes()
            decoded = self.decoded[pc] = decode_checked(self.machine.config, code)
        if decoded.fault:
            raise Stop(decoded.fault, decoded.addr)
        return decoded

    def step(self) -> bool:
        """Execute one instruction; False where it was the halt."""
        if self.watchdog and self.clock.now > self.watchdog:
            raise Stop(Fault.WATCHDOG)
        decoded = self.fetch()
        opcode = decoded.opcode
        values = decoded.resolve(self.registers)
        self.clock.scalar(self.pc, 2 + len(decoded.registers) + _SLOWER.get(opcode, 0))
        if opcode >= Opcode.LOAD:
            self.tensor(decoded, values)
            self.go_on(self.pc + 1)
            return True
        target = self.pc + 1
        if opcode in _ALU:
            self.registers[decoded.fields["rd"]] = _ALU[opcode](*values)
        elif opcode == Opcode.MOV:
            self.registers[decoded.fields["rd"]] = values[0]
        elif opcode in _BRANCH:
            if _BRANCH[opcode](*values[:2]):
                target = values[2]
                self.clock.now += 1
        elif opcode == Opcode.JUMP:
            target = values[0]
        elif opcode == Opcode.STRIDE:
            s0, s1, s2 = (value & 0xFFFF for value in values)
            self.strides[decoded.fields["x"]] = (s0, s1, s2)
        elif opcode == Opcode.LOOP:
            target = self.loop(*values)
        elif opcode == Opcode.READ:
            self.clock.drain()
            self.registers[decoded.fields["rd"]] = self.read(*values)
        elif opcode in (Opcode.HALT, Opcode.FENCE):
            self.clock.drain()
            if opcode == Opcode.HALT:
                if self.watchdog and self.clock.now > self.watchdog:
                    raise Stop(Fault.WATCHDOG)
                return False
        self.go_on(target)
        return True

    def read(self, row: int, lane: int) -> int:
        config = self.machine.config
        if row >= config.acc_rows:
            raise Stop(Fault.ACC_RANGE, row)
        if lane >= config.dim:
            raise Stop(Fault.INDEX_RANGE, lane)
        self.mxu.flush(self.machine.acc)
        return int(self.machine.acc[row, lane])

    def loop(self, count: int, end: int) -> int:
        if count == 0:
            return end
        if end != self.pc + 1:
            if len(self.loops) == isa.LOOP_DEPTH:
                raise Stop(Fault.LOOP_DEPTH)
            self.loops.append([self.pc + 1, end, count])
        return self.pc + 1

    def go_on(self, target: int) -> None:
        while self.loops and self.loops[-1][1] == target:
            loop = self.loops[-1]
            loop[2] -= 1
            if loop[2]:
                target = loop[0]
                break
            self.loops.pop()
        self.pc = target

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
        if not isinstance(command, Matmul):
            self.mxu.settle(machine.acc, command.acc_spans)
        bad = None
        if isinstance(command, Dma):
            if not machine.memory.answers(command.addr, command.rows, command.row_bytes,
                                          command.pitch):
                raise Stop(Fault.BUS_WRITE if command.store else Fault.BUS_READ)
            chip = machine.ub if command.mem == Mem.UB else machine.acc
            if command.store:
                dma.store(command, machine.memory, chip)
                self.bytes_written += command.rows * command.row_bytes
            else:
                dma.load(command, machine.memory, chip)
                self.bytes_read += command.rows * command.row_bytes
        elif isinstance(command, Matmul):
            self.mxu.execute(command, machine.ub, machine.acc)
            self.loaded = True
        else:
            bad = vpu.execute(command, machine.ub, machine.acc)
        self.clock.tensor(command)
        if machine.observer is not None:
            machine.observer(self.pc, command)
        if bad is not None:
            raise Stop(Fault.INDEX_RANGE, bad)


assert Unit.SCALAR == len(UNIT_NAMES) - 1
