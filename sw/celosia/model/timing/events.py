"""What the clock of a run knows of each tensor instruction: when it ran, and what it waited for."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

__all__ = ["REASONS", "Reason", "Timeline"]


class Reason(IntEnum):
    """What decided when an instruction started: what it waited for last."""

    SCALAR = 0
    FETCH = 1
    CHECK = 2
    WINDOW = 3
    UNIT = 4
    DATA = 5
    ROWS = 6
    WEIGHTS = 7
    BUS = 8


#: What each reason is called, and what it says.
REASONS = {
    Reason.SCALAR: ("scalar", "the scalar unit came to it then"),
    Reason.FETCH: ("fetch", "it was not fetched before"),
    Reason.CHECK: ("check", "the checker was at it"),
    Reason.WINDOW: ("window", "the window was full"),
    Reason.UNIT: ("unit", "its unit was at the one before"),
    Reason.DATA: ("data", "it reads what another one wrote"),
    Reason.ROWS: ("rows", "it writes where another one read or wrote"),
    Reason.WEIGHTS: ("weights", "its weights come in behind those of the matmul before"),
    Reason.BUS: ("bus", "instructions were fetched before it was"),
}


class Timeline:
    """Tensor instructions in the order in which they were issued, a list for each fact.

    Attributes
    ----------
    pc
        Index of the instruction in its program.
    unit
        Of `celosia.arch.isa.Unit`.
    issued
        Cycle in which the scalar unit was done with it.
    checked
        Cycle in which it was in the window.
    start, occupied, end
        Cycle of its first row; cycles until its unit takes the next one; cycle in which its
        results are there.
    gate, gated
        Why it was not in the window before, of `Reason`: SCALAR, FETCH, CHECK or WINDOW; and the
        instruction, by its place in these lists, whose end made room, else -1.
    reason, blamed
        Why it did not start before, and the instruction that it waited for; those of the gate where
        it started as soon as it was in the window.
    amount
        Bytes that a load or store moves; rows of the others.
    ub_rows, acc_rows
        Rows of the unified buffer and of the accumulators that it reads and writes.
    lost
        Cycles of ``occupied`` that other rows in the same bank, or fetched instructions on the
        bus, cost.
    """

    __slots__ = ("acc_rows", "amount", "blamed", "checked", "end", "gate", "gated", "issued",
                 "lost", "occupied", "pc", "reason", "start", "ub_rows", "unit")

    def __init__(self) -> None:
        self.pc: list[int] = []
        self.amount: list[int] = []
        self.unit: list[int] = []
        self.ub_rows: list[int] = []
        self.acc_rows: list[int] = []
        self.issued: list[int] = []
        self.checked: list[int] = []
        self.start: list[int] = []
        self.occupied: list[int] = []
        self.end: list[int] = []
        self.gate: list[int] = []
        self.gated: list[int] = []
        self.reason: list[int] = []
        self.blamed: list[int] = []
        self.lost: list[int] = []

    def __len__(self) -> int:
        return len(self.pc)

    def add(self, pc: int, unit: int, amount: int, rows: tuple[int, int],
            times: tuple[int, int, int, int, int], gate: tuple[int, int], cause: tuple[int, int],
            lost: int = 0) -> None:
        """Note an instruction.

        Parameters
        ----------
        pc, unit, amount
            Of it.
        rows
            ub_rows, acc_rows.
        times
            issued, checked, start, occupied, end.
        gate, cause
            gate and gated; reason and blamed.
        lost
            Of it, as far as it is known.
        """
        self.pc.append(pc)
        self.unit.append(unit)
        self.amount.append(amount)
        self.ub_rows.append(rows[0])
        self.acc_rows.append(rows[1])
        for column, time in zip((self.issued, self.checked, self.start, self.occupied, self.end),
                                times, strict=True):
            column.append(time)
        self.gate.append(gate[0])
        self.gated.append(gate[1])
        self.reason.append(cause[0])
        self.blamed.append(cause[1])
        self.lost.append(lost)

    def delay(self, late: Sequence[tuple[int, int]], begun: bool) -> None:
        """Note that some instructions are later: the first of them takes longer if it has
        ``begun``, the others begin later.

        ``late``: of each, its place in these lists, and by how many cycles.
        """
        for place, (index, cycles) in enumerate(late):
            self.end[index] += cycles
            if place or not begun:
                self.start[index] += cycles
            else:
                self.occupied[index] += cycles
                self.lost[index] += cycles
