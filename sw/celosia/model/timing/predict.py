"""What a program will cost, from its instructions alone: no data, no arithmetic.

The walk executes scalar instructions as the machine does and gives tensor instructions to the
estimator (:mod:`celosia.model.timing.estimator`): the golden model's cycles depend on nothing else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from celosia.arch.commands import Command, Dma, Matmul, Store
from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode
from celosia.arch.messages import MessageCommand
from celosia.arch.registers import UNIT_NAMES
from celosia.arch.words import WORD_MASK
from celosia.model.checks import EVERYWHERE, Stop, check
from celosia.model.control import ScalarInterpreter
from celosia.model.decode import Decoded, flaw, opcodes
from celosia.model.timing import Timeline, Timing
from celosia.program import Program

__all__ = ["Prediction", "ProgramWalk", "predict"]


@dataclass(frozen=True)
class Prediction:
    """What a run of a program is expected to cost.

    Attributes
    ----------
    cycles
        From the doorbell to the interrupt.
    instructions
        Instructions executed, the halt included.
    by_source, by_instruction
        Cycles of each text of ``Program.sources`` ("" where it has none), and of each instruction
        by its index. An instruction is given the cycles by which its end lies behind every end
        before it, so that the numbers add up to ``cycles`` and what runs in the shadow of
        something else costs nothing.
    busy
        Cycles in which each unit moves or computes rows, by its name.
    bytes_read, bytes_written
        Of external memory, without the instructions themselves.
    macs
        Products that matmuls form, those of padded lanes included.
    """

    cycles: int
    instructions: int
    by_source: dict[str, int] = field(default_factory=dict)
    by_instruction: dict[int, int] = field(default_factory=dict)
    busy: dict[str, int] = field(default_factory=dict)
    bytes_read: int = 0
    bytes_written: int = 0
    macs: int = 0


def predict(program: Program, config: TpuConfig, timing: Timing | None = None, *,
            reads: Callable[[int, int], int] | None = None, trips: int = 1,
            max_instructions: int | None = None, timeline: Timeline | None = None) -> Prediction:
    """Predict the cycles of a program.

    Parameters
    ----------
    program
        The program; it must halt.
    config
        The chip that it is for.
    timing
        The chip's memory; the default one if None.
    reads
        Called with the index of a ``read`` and how often it was executed before; returns the word
        that it reads. None: see ``trips``.
    trips
        Without ``reads``: each ``read`` gives 1 so many times, then 0 once, and so on. A loop whose
        condition is read is then run ``trips`` times, a conditional part is executed.
    max_instructions
        Executed instructions after which to give up; None for no limit.
    timeline
        Where to note each tensor instruction.

    Raises
    ------
    ValueError
        If an instruction faults; the message names it and the fault.
    TimeoutError
        If ``max_instructions`` were executed.
    """
    walk = ProgramWalk(program, config, timing,
                       _alternating(trips) if reads is None else reads, timeline=timeline)
    executed = 0
    frontier = 0
    sources = program.sources or ("",) * len(program.insns)
    by_instruction: defaultdict[int, int] = defaultdict(int)
    running = True
    while running:
        if executed == max_instructions:
            raise TimeoutError(f"the program must halt within {max_instructions} instructions, "
                               f"it is at instruction {walk.pc}")
        pc = walk.pc
        try:
            running = walk.step()
        except Stop as stop:
            raise ValueError(f"instruction {pc} must not fault, it does with {stop.fault.name}"
                             + (f": {stop.wanted}" if stop.wanted else "")) from None
        executed += 1
        end = walk.clock.last
        if end > frontier:
            by_instruction[pc] += end - frontier
            frontier = end
    by_source: defaultdict[str, int] = defaultdict(int)
    for pc, cycles in by_instruction.items():
        by_source[sources[pc]] += cycles
    return Prediction(walk.clock.now, executed, dict(by_source), dict(by_instruction),
                      dict(zip(UNIT_NAMES, walk.clock.busy, strict=True)), walk.bytes_read,
                      walk.bytes_written, walk.macs)


def _alternating(trips: int) -> Callable[[int, int], int]:
    return lambda pc, count: int(count % (trips + 1) < trips)


class ProgramWalk(ScalarInterpreter):
    """A run without memories.

    Parameters
    ----------
    program, config, timing
        As of `predict`.
    reads
        As of `predict`; None: each word is 0.
    timeline
        Where to note each tensor instruction.
    base
        Address of the arena.
    """

    def __init__(self, program: Program, config: TpuConfig, timing: Timing | None = None,
                 reads: Callable[[int, int], int] | None = None, *,
                 timeline: Timeline | None = None, base: int = 0):
        super().__init__(config, Timing() if timing is None else timing, len(program.insns),
                         timeline=timeline)
        self._config, self._insns, self._reads = config, program.relocated(base), reads
        self._counts: Counter[int] = Counter()
        self.bytes_read = self.bytes_written = self.macs = 0

    def fetch(self) -> Decoded:
        """Return the instruction at ``pc``."""
        if self.pc >= len(self._insns):
            raise Stop(Fault.PC_RANGE, self.pc)
        insn = self._insns[self.pc]
        if insn.instruction.opcode not in opcodes(self._config.ports):
            raise Stop(Fault.ILLEGAL_OPCODE, insn.instruction.opcode)
        if wanted := flaw(self._config, insn):
            raise Stop(Fault.ILLEGAL_FIELD, wanted=wanted)
        return Decoded(insn)

    def read(self, row: int, lane: int) -> int:
        """Return what the caller says."""
        count = self._counts[self.pc]
        self._counts[self.pc] += 1
        return self._reads(self.pc, count) & WORD_MASK if self._reads else 0

    def chip(self) -> int:
        """Return 0."""
        return 0

    def tensor(self, decoded: Decoded, values: list[int]) -> None:
        """Count a tensor instruction."""
        if decoded.opcode in (Opcode.SEND, Opcode.RECV):  # as if what is received were there
            message = MessageCommand.of(decoded.fields, values, self.strides)
            check(self._config, message, ())
            self.clock.message(message)
            return
        command = decoded.command(values, self.strides)
        check(self._config, command, EVERYWHERE)
        self.touched(command)
        if isinstance(command, Dma):
            if isinstance(command, Store):
                self.bytes_written += command.rows * command.row_bytes
            else:
                self.bytes_read += command.rows * command.row_bytes
        elif isinstance(command, Matmul):
            self.macs += command.length * self._config.pes
        self.clock.tensor(command)

    def touched(self, command: Command) -> None:
        """Do something about the rows that a tensor instruction touches."""
