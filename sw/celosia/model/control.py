"""Control flow: pc, registers, strides and loops, and what scalar instructions do with them."""

from __future__ import annotations

from collections.abc import Callable

from celosia.arch import isa
from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode
from celosia.arch.words import WORD_MASK
from celosia.model.checks import Stop
from celosia.model.decode import Decoded
from celosia.model.timing import Estimator, Timeline, Timing

__all__ = ["ScalarInterpreter"]



def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


_ALU: dict[Opcode, Callable[[int, int], int]] = {
    Opcode.ADD: lambda a, b: a + b & WORD_MASK,
    Opcode.SUB: lambda a, b: a - b & WORD_MASK,
    Opcode.MUL: lambda a, b: a * b & WORD_MASK,
    Opcode.AND: lambda a, b: a & b,
    Opcode.OR: lambda a, b: a | b,
    Opcode.XOR: lambda a, b: a ^ b,
    Opcode.SHL: lambda a, b: a << (b & 31) & WORD_MASK,
    Opcode.SHR: lambda a, b: a >> (b & 31),
    Opcode.SAR: lambda a, b: _signed(a) >> (b & 31) & WORD_MASK,
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


class ScalarInterpreter:
    """The scalar unit of one run.

    Subclasses say where instructions come from (:meth:`fetch`), what a tensor instruction does
    or a message does (:meth:`tensor`), what a lane of the accumulators holds (:meth:`read`), and
    which chip it is (:meth:`chip`).

    Parameters
    ----------
    config
        The chip.
    timing
        Its memory, for the clock.
    length
        Instructions of the program.
    watchdog
        Estimated cycles after which the run faults; 0 for no limit.
    timeline
        Where the clock notes tensor instructions, or None.

    Attributes
    ----------
    pc
        Index of the instruction that is executed.
    registers, strides, loops
        The architecture's; a loop is (start, end, count left), the innermost last.
    clock
        Estimate of the cycles.
    decoded
        Instructions so far, by their index.
    """

    def __init__(self, config: TpuConfig, timing: Timing, length: int, watchdog: int = 0,
                 timeline: Timeline | None = None):
        self.watchdog = watchdog
        self.pc = 0
        self.registers = [0] * isa.NUM_REGISTERS
        self.strides = [(0, 0, 0)] * isa.NUM_STRIDES
        self.loops: list[list[int]] = []
        self.clock = Estimator(config, timing, length, self.loops, timeline)
        self.decoded: dict[int, Decoded] = {}

    def fetch(self) -> Decoded:
        """Return the instruction at ``pc``, which is a new one; Stop where there is none."""
        raise NotImplementedError

    def tensor(self, decoded: Decoded, values: list[int]) -> None:
        """Execute a tensor instruction whose operands have these values."""
        raise NotImplementedError

    def read(self, row: int, lane: int) -> int:
        """Return a word of the accumulators."""
        raise NotImplementedError

    def chip(self) -> int:
        """Return the number of the chip."""
        raise NotImplementedError

    def step(self) -> bool:
        """Execute one instruction; False where it was the halt."""
        clock, pc = self.clock, self.pc
        if self.watchdog and clock.now > self.watchdog:
            raise Stop(Fault.WATCHDOG)
        decoded = self.decoded.get(pc)
        if decoded is None:
            decoded = self.decoded[pc] = self.fetch()
        if decoded.fault:
            raise Stop(decoded.fault, decoded.addr)
        opcode, values = decoded.opcode, decoded.values
        if decoded.registers:
            values = values.copy()
            for operand, number in decoded.registers:
                values[operand] = self.registers[number]
        clock.scalar(pc, decoded.cycles)
        target = pc + 1
        if opcode >= Opcode.LOAD:
            self.tensor(decoded, values)
        elif opcode in _ALU:
            self.registers[decoded.fields["rd"]] = _ALU[opcode](*values)
        elif opcode == Opcode.MOV:
            self.registers[decoded.fields["rd"]] = values[0]
        elif opcode in _BRANCH:
            if _BRANCH[opcode](*values[:2]):
                target = values[2]
                clock.now += 2
        elif opcode == Opcode.JUMP:
            target = values[0]
        elif opcode == Opcode.STRIDE:
            s0, s1, s2 = (value & COUNT_MAX for value in values)
            self.strides[decoded.fields["x"]] = (s0, s1, s2)
            clock.stride()
        elif opcode == Opcode.LOOP:
            target = self._loop(*values)
        elif opcode == Opcode.CHIP:
            self.registers[decoded.fields["rd"]] = self.chip()
        elif opcode == Opcode.READ:
            clock.read()
            self.registers[decoded.fields["rd"]] = self.read(*values)
        elif opcode == Opcode.FENCE:
            clock.fence()
        elif opcode == Opcode.HALT:
            clock.halt()
            if self.watchdog and clock.now > self.watchdog:
                raise Stop(Fault.WATCHDOG)
            return False
        if self.loops and self.loops[-1][1] == target:
            self._go_on(target)
        else:
            self.pc = target
        return True

    def _loop(self, count: int, end: int) -> int:
        if count == 0:
            return end
        if end != self.pc + 1:
            if len(self.loops) == isa.LOOP_DEPTH:
                raise Stop(Fault.LOOP_DEPTH)
            self.loops.append([self.pc + 1, end, count])
        return self.pc + 1

    def _go_on(self, target: int) -> None:
        while self.loops and self.loops[-1][1] == target:
            loop = self.loops[-1]
            loop[2] -= 1
            if loop[2]:
                target = loop[0]
                break
            self.loops.pop()
        self.pc = target
