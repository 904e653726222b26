"""What a run will cost, for programs whose way depends on data as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Opcode
from celosia.program import Program

if TYPE_CHECKING:
    from celosia.model.timing import Timeline, Timing
    from celosia.model.timing.predict import Prediction

__all__ = ["decisions", "expected"]


def decisions(program: Program) -> frozenset[int]:
    """Return the instructions that read a word on which a branch depends.

    The compiler puts the branch behind the read; the words of other reads are numbers of bytes
    that are added to addresses.
    """
    opcodes = [insn.instruction.opcode for insn in program.insns]
    return frozenset(i for i, pair in enumerate(zip(opcodes, opcodes[1:], strict=False))
                     if pair == (Opcode.READ, Opcode.BEQ))


def expected(program: Program, config: TpuConfig, timing: Timing | None = None,
             timeline: Timeline | None = None) -> Prediction:
    """Return what a run is expected to cost; ``timing`` and ``timeline`` as of `predict`.

    A loop whose end depends on data is taken once, of the branches that such a word chooses from
    the second; dynamic slices are taken from the beginning of their tensors.
    """
    from celosia.model.timing.predict import predict
    chosen = decisions(program)
    return predict(program, config, timing, timeline=timeline,
                   reads=lambda pc, count: int(pc in chosen and count % 2 == 0))
