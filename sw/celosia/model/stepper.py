"""A run of the golden model by single instructions, forth and back."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from celosia.arch.commands import Command
from celosia.model.checks import Stop
from celosia.model.machine import PlainMachine, Run
from celosia.model.state import ModelResult

__all__ = ["Stepper"]

#: Instructions that are remembered.
_MOST = 32


class Stepper:
    """A run that is executed as told.

    Going back is to begin again, with memories as they were, and to stop earlier: a run has no
    input but these.

    Parameters
    ----------
    machine
        The chip, whose memories the run changes.
    program, length, windows, watchdog
        As of `PlainMachine.run`.

    Attributes
    ----------
    run
        Its state: ``pc``, ``registers``, ``loops``, ``clock``.
    passed
        Indices of the last instructions so far.
    command
        What the last one was, if it was a tensor instruction.
    ended
        How the run ended; None: it has not.
    """

    run: Run
    passed: deque[int]
    command: Command | None
    ended: ModelResult | None

    def __init__(self, machine: PlainMachine, program: int, length: int,
                 windows: Sequence[tuple[int, int]] = (), watchdog: int = 0):
        self.machine = machine
        self._what = program, length, windows, watchdog
        self._first = machine.memory.pages(), machine.ub.copy(), machine.acc.copy()
        self._begin()

    def _begin(self) -> None:
        self.run = Run(self.machine, *self._what)
        self.command, self.ended = None, None
        self.passed = deque(maxlen=_MOST)

    @property
    def program(self) -> int:
        """Address of the first instruction."""
        return self._what[0]

    @property
    def executed(self) -> int:
        """Instructions so far."""
        return self.run.executed

    @property
    def pc(self) -> int:
        """Index of the instruction that comes next, or at which the run ended."""
        return self.run.pc

    def _note(self, pc: int, command: Command) -> None:
        self.command = command

    def step(self) -> bool:
        """Execute an instruction; False if the run has ended."""
        if self.ended is not None:
            return False
        self.command = None
        pc, before = self.run.pc, self.machine.observer
        self.machine.observer = self._note
        try:
            going = self.run.step()
        except Stop as stop:
            self.ended = self.run.result(stop)
            return False
        finally:
            self.machine.observer = before
        self.run.executed += 1
        self.passed.append(pc)
        if not going:
            self.ended = self.run.result()
        return going

    def back(self, count: int = 1) -> None:
        """Go to where so many instructions fewer were executed, to the beginning at most."""
        target = max(self.executed - count, 0)
        pages, ub, acc = self._first
        self.machine.memory.restore(pages)
        self.machine.ub[...], self.machine.acc[...] = ub, acc
        self._begin()
        while self.executed < target:
            self.step()

    def finish(self) -> ModelResult:
        """Execute what is left."""
        while self.step():
            pass
        assert self.ended is not None
        return self.ended
