"""The machine that runs by default: what :mod:`celosia.model.machine` does, sooner.

A run is decoded as far as its instructions do not depend on what they compute: to a read, a gather
or scatter (whose indices may be beyond the table), a halt or a fault. Then what has come is done.
A repeated run that reads another number than before is decoded anew; what it has done is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from celosia.arch import isa
from celosia.arch.commands import Command, Store, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.messages import MessageCommand
from celosia.arch.registers import Status
from celosia.arch.vector import INDEXED_OPS
from celosia.model.checks import Stop
from celosia.model.decode import Decoded, decode_checked
from celosia.model.fast.joined import JoinedRecording, Message
from celosia.model.fast.recordings import MOST_STEPS, Look, OtherNumber, Recording
from celosia.model.fast.steps import BadIndex, NativeSteps, Steps, steps
from celosia.model.kept import KeptRuns
from celosia.model.machine import PlainMachine, Run
from celosia.model.memory import Memory
from celosia.model.state import ModelResult
from celosia.model.timing import Timing
from celosia.storage.uncollected import uncollected

__all__ = ["Machine"]

#: Steps that may wait to be done.
_WAITING = 512


class Machine(PlainMachine):
    """A chip that does what a `PlainMachine` does, and keeps runs that can be repeated."""

    def __init__(self, config: TpuConfig, memory: Memory | None = None,
                 timing: Timing | None = None):
        super().__init__(config, memory, timing)
        self._recordings: KeptRuns[Recording] = KeptRuns()
        self._steps: Steps | NativeSteps | None = None

    def run(self, program: int, length: int, windows: Sequence[tuple[int, int]] = (),
            watchdog: int = 0, max_instructions: int | None = None,
            progress: Callable[[int], None] | None = None) -> ModelResult:
        """Run a program until it halts or faults: see `PlainMachine.run`."""
        key, read = (program, length, tuple(windows), watchdog), []
        code = self.code(program, length) if max_instructions is None else None
        if code is not None:
            known = self._recordings.find(key, code)
            try:
                if known is not None:
                    return known.repeat(progress)
            except OtherNumber as other:
                read = other.numbers
        run = _Run(self, program, length, windows, watchdog, code or b"", read)
        with uncollected():  # the steps stay
            result = run.go(max_instructions, progress)
        if code is not None and result.status == Status.DONE and run.repeatable:
            self._recordings.keep(key, code, Recording(run.steps, result), result.instructions)
        return result

    def start(self, program: int, length: int, windows: Sequence[tuple[int, int]] = (),
              watchdog: int = 0) -> Run:
        """Return a run that is executed by its steps, each at once where there is an observer."""
        return _Joined(self, program, length, windows, watchdog, self.code(program, length) or b"",
                       ())

    def code(self, program: int, length: int) -> bytes | None:
        """Return a program as memory has it; None if its run cannot be kept."""
        size, memory = length * isa.INSTRUCTION_BYTES, self.memory
        if (self.observer is None and memory.sound and length
                and memory.answers(program, 1, size, 0)):
            return memory.read(program, size).tobytes()
        return None

    def steps(self) -> Steps | NativeSteps:
        """Return steps for another run."""
        self._steps = steps(self) if self._steps is None else self._steps.anew()
        return self._steps


class _Run(Run):
    """A run whose commands wait until somebody looks. ``code`` is all of the program, or empty.

    ``read``: numbers that were read of it. What comes before the last one of them is done.
    """

    def __init__(self, machine: Machine, program: int, length: int,
                 windows: Sequence[tuple[int, int]], watchdog: int, code: bytes,
                 read: Sequence[int]):
        super().__init__(machine, program, length, windows, watchdog)
        self._code = code
        self._steps = machine.steps()
        self._done = 0  # steps
        self._numbers, self._ahead = list(read), len(read)
        self._reads = 0
        self.repeatable = True

    @property
    def _most(self) -> int:
        """Steps that may be kept."""
        return MOST_STEPS

    @property
    def steps(self) -> list[Callable[[], object]]:
        """All of the run, where it is repeatable."""
        return self._steps.made

    def go(self, limit: int | None, progress: Callable[[int], None] | None) -> ModelResult:
        try:
            return super().go(limit, progress)
        except TimeoutError:
            self._catch_up()
            raise

    def result(self, stop: Stop | None = None) -> ModelResult:
        self._catch_up()
        return super().result(stop)

    def fetch(self) -> Decoded:
        at = isa.INSTRUCTION_BYTES * self.pc
        if at >= len(self._code):
            return super().fetch()
        return decode_checked(self.machine.config, self._code[at:at + isa.INSTRUCTION_BYTES])

    def read(self, row: int, lane: int) -> int:
        self._catch_up()
        index, self._reads = self._reads, self._reads + 1
        if index < self._ahead:
            number = self._numbers[index]
        else:
            number = super().read(row, lane)
            if not self.repeatable:
                return number
            self._numbers.append(number)
        if self.repeatable:
            self._steps.made.append(Look(self.machine.acc, row, lane, self._numbers, index))
            self._done += 1
        return number

    def chip(self) -> int:
        self.repeatable = False
        return super().chip()

    def message(self, command: MessageCommand) -> None:
        self._catch_up()
        self.repeatable = False
        super().message(command)

    def execute(self, command: Command) -> int | None:
        made = self._steps
        if isinstance(command, Vector) and command.op in INDEXED_OPS:
            made.add(command, super().result(Stop(Fault.INDEX_RANGE)))
            try:
                self._catch_up()
            except BadIndex as bad:
                return bad.result.addr
            return None
        made.add(command)
        if isinstance(command, Store) and self._is_code(command):
            self._catch_up()
            self.repeatable, self._code = False, b""
        elif self.machine.observer is not None or len(made.made) - self._done >= _WAITING:
            self._catch_up()
        return None

    def _is_code(self, store: Store) -> bool:
        end = self.program + self.length * isa.INSTRUCTION_BYTES
        return store.addr < end and self.program < store.end

    def _catch_up(self) -> None:
        """Do what waits."""
        self._steps.close()
        made, done = self._steps.made, self._done
        self._done = len(made)
        if self._reads >= self._ahead:
            with np.errstate(all="ignore"):
                for step in made[done:]:
                    step()
        if not self.repeatable or self._steps.size > self._most:
            self.repeatable = False
            made.clear()
            self._done = 0


class _Joined(_Run):
    """A run of a chip among others, whose number and links stay as they are."""

    @property
    def _most(self) -> int:
        return MOST_STEPS // self.machine.ports.chips

    def chip(self) -> int:
        return Run.chip(self)

    def message(self, command: MessageCommand) -> None:
        self._catch_up()
        Run.message(self, command)
        if self.repeatable:
            self._steps.made.append(Message(self.machine, command, self.pc))
            self._done += 1

    def kept(self) -> JoinedRecording | None:
        if not self.repeatable or self._reads or not self._code:
            return None
        return JoinedRecording(self.steps, self.result())
