"""A program written out: the instructions that it executes, without loops and registers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from celosia.arch.commands import Command
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn
from celosia.arch.isa import Mem, Opcode
from celosia.model.decode import Decoded
from celosia.model.timing.predict import ProgramWalk
from celosia.program import Program

__all__ = ["Straight", "StraightInsn", "straight"]

#: Where the arena is in a second walk: operands that move with it are addresses in the arena.
_BASE = 1 << 30
#: What may be otherwise in each run.
_UNKNOWN = (Opcode.READ, Opcode.CHIP)


class StraightInsn(NamedTuple):
    """An instruction that is executed.

    Attributes
    ----------
    time
        Cycle, by the cycle model, in which the scalar unit is done with it.
    insn
        It, with immediates only.
    source
        Its text of ``Program.sources``.
    relocations
        Which operands are addresses in the arena.
    """

    time: int
    insn: Insn
    source: str
    relocations: tuple[int, ...] = ()


@dataclass
class Straight:
    """A program without control flow.

    Attributes
    ----------
    insns
        In their order; no halt.
    cycles
        Of the program.
    acc_rows
        Rows of the accumulators from the first to behind the last one that it uses.
    """

    insns: list[StraightInsn] = field(default_factory=list)
    cycles: int = 0
    acc_rows: int = 0


def straight(program: Program, config: TpuConfig) -> Straight | None:
    """Write out a program; None if what it executes depends on data or the chip's number.

    Raises
    ------
    ValueError
        If it faults.
    """
    walks = [_Recorder(program, config, base) for base in (0, _BASE)]
    for walk in walks:
        walk.to_end()
    one, two = walks
    if one.unknown:
        return None
    for i, (here, there) in enumerate(zip(one.found.insns, two.found.insns, strict=True)):
        moved = tuple(number for number, (a, b) in enumerate(
            zip(here.insn.operands, there.insn.operands, strict=True)) if a != b)
        if moved:
            one.found.insns[i] = here._replace(relocations=moved)
    return one.found


class _Recorder(ProgramWalk):
    """A walk that notes what it executes."""

    def __init__(self, program: Program, config: TpuConfig, base: int):
        super().__init__(program, config, base=base)
        self._sources = program.sources or ("",) * len(program.insns)
        self.found = Straight()
        self.unknown = False

    def to_end(self) -> None:
        """Walk till the program halts, or cannot be written out."""
        while not self.unknown and self.step():
            pass
        self.found.cycles = self.clock.now

    def step(self) -> bool:
        """Execute one instruction; note what is no control flow."""
        pc = self.pc
        going_on = super().step()
        opcode = self.decoded[pc].opcode
        if opcode in _UNKNOWN:
            self.unknown = True
        elif opcode == Opcode.STRIDE:
            self._note(pc, list(self.strides[self.decoded[pc].fields["x"]]))
        elif opcode == Opcode.FENCE:
            self._note(pc, [])
        return going_on

    def tensor(self, decoded: Decoded, values: list[int]) -> None:
        """Note a tensor instruction."""
        pc = self.pc
        super().tensor(decoded, values)
        self._note(pc, values)

    def touched(self, command: Command) -> None:
        """Note rows of the accumulators."""
        for _, space, _, last, _ in command.touches(self._config):
            if space == Mem.ACC:
                self.found.acc_rows = max(self.found.acc_rows, last + 1)

    def _note(self, pc: int, values: list[int]) -> None:
        was = self._insns[pc]
        self.found.insns.append(StraightInsn(
            self.clock.now, Insn(was.instruction, was.fields, tuple(map(Imm, values))),
            self._sources[pc]))
