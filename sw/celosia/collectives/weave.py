"""An exchange beside a part of the chip: two lists of instructions, by their times, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn
from celosia.compiler.overlap import link_rows
from celosia.model.timing.straight import Straight, StraightInsn, straight
from celosia.program import Program

__all__ = ["beside_links", "woven"]

#: From a part's beginning to the first instruction of the exchange, which loads what the part
#: before has stored; from that of its last one to the part's end, as the next part wants what the
#: exchange stores; and of that store.
_HEAD, _TAIL, _LAST = 256, 2048, 256
#: Programs that are kept written out: those of a compiled program, for its next chip.
_KEPT = 64


@dataclass(frozen=True, eq=False)
class _Same:
    """A program, equal to itself alone: it is too long to be compared."""

    program: Program

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.program is other.program

    def __hash__(self) -> int:
        return id(self.program)


@lru_cache(_KEPT)
def _straight(same: _Same, config: TpuConfig) -> Straight | None:
    return straight(same.program, config)


def beside_links(program: Program, config: TpuConfig) -> Straight | None:
    """Return the instructions of a part, which an exchange may be beside; None: it may not."""
    found = _straight(_Same(program), config) if link_rows(config) else None
    room = found is not None and found.acc_rows <= config.acc_rows - link_rows(config)
    return found if room else None


def woven(code: Straight, moves: Sequence[StraightInsn], config: TpuConfig) -> list[StraightInsn]:
    """Return the instructions of a part of the chip and of an exchange, by their times.

    The exchange, whose rows are counted from its first one, takes as long as the part, if it needs
    less.
    """
    base = config.acc_rows - link_rows(config)
    last = moves[-1].time + _LAST if moves else 1
    scale = max(1, (code.cycles - _TAIL) / last)
    return sorted([*code.insns, *(
        each._replace(time=round(each.time * scale) + _HEAD, insn=_behind(each.insn, base))
        for each in moves)], key=lambda each: each.time)


def _behind(made: Insn, rows: int) -> Insn:
    """Return what moves a tensor with accumulators that are so many rows further on."""
    row, *rest = made.operands
    assert made.instruction.operands[0].name == "row"
    assert isinstance(row, Imm)
    return replace(made, operands=(Imm(row.value + rows), *rest))
