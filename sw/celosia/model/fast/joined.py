"""Runs of chips that links connect, which are repeated: what they send and receive are steps, too.

How long a message is under way is not found out again: as long as all chips of a pod do what they
did, each result is what it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from celosia.arch.isa import Mem
from celosia.arch.messages import MessageCommand
from celosia.model import links
from celosia.model.checks import Stop
from celosia.model.fast.steps import BadIndex
from celosia.model.machine import PlainMachine
from celosia.model.state import ModelResult

__all__ = ["JoinedRecording", "Message", "JoinedRepeat"]


class Message:
    """A step that sends or receives, by the links that the chip has when it is called.

    Attributes
    ----------
    pc
        Of the instruction.
    receives
        Whether it needs a message that has arrived.
    """

    __slots__ = ("_command", "_machine", "_memory", "pc", "receives")

    def __init__(self, machine: PlainMachine, command: MessageCommand, pc: int):
        self._machine, self._command, self.pc = machine, command, pc
        self._memory = machine.ub if command.mem == Mem.UB else machine.acc
        self.receives = command.op is not None

    def __call__(self) -> None:
        """Send or receive."""
        if self.receives:
            links.receive(self._machine.config, self._command, self._machine.ports, self._memory)
        else:
            links.send(self._command, self._machine.ports, self._memory)

    def waits(self) -> int | None:
        """Return the port at which the message that it takes has not arrived; None: at none."""
        port = self._command.port
        return None if not self.receives or self._machine.ports.inbox(port) else port


@dataclass(frozen=True)
class JoinedRecording:
    """A run that can be repeated with those of the other chips: its steps, how it ended."""

    steps: list[Callable[[], object]]
    result: ModelResult

    def start(self) -> JoinedRepeat:
        """Return a run that does it again."""
        return JoinedRepeat(self)


class JoinedRepeat:
    """A run that is repeated by its steps: as far as `celosia.model.machine.Run` is needed.

    Attributes
    ----------
    executed
        Steps so far.
    pc
        Of the message at which it is.
    """

    def __init__(self, recording: JoinedRecording):
        self._steps, self._result = recording.steps, recording.result
        self._at = self.executed = self.pc = 0

    def waits(self) -> int | None:
        """Return the port at which the next step waits for a message; None: at none."""
        step = self._steps[self._at] if self._at < len(self._steps) else None
        if not isinstance(step, Message):
            return None
        self.pc = step.pc
        return step.waits()

    def step(self) -> bool:
        """Do the next step; False where it was the last."""
        if self._at < len(self._steps):
            step = self._steps[self._at]
            self._at += 1
            try:
                with np.errstate(all="ignore"):
                    step()
            except BadIndex as bad:
                self._result, self._at = bad.result, len(self._steps)
        return self._at < len(self._steps)

    def result(self, stop: Stop | None = None) -> ModelResult:
        """Return how the run ends: at a bad index where there is one, else as it did."""
        assert stop is None, stop  # what is sent has not changed
        return self._result
