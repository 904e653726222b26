"""Runs that are repeated.

A program that reads nothing back into the scalar unit does the same instructions in every run, and
takes as many cycles by the estimate. So the golden model keeps the commands of a run, and a later
one of the same code executes them at once: what they do is the same, only finding them is left out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from celosia.arch.vector import INDEXED_OPS
from celosia.model.commands import Command, Vector
from celosia.model.fast.steps import Replay
from celosia.model.state import RunResult, State

__all__ = ["MOST_COMMANDS", "Recording", "Recordings"]

#: Commands of a run that are kept at most.
MOST_COMMANDS = 200_000
_MOST_RUNS = 8


@dataclass
class Recording:
    """A run that can be repeated: its code, its commands, how it ended."""

    code: bytes
    commands: list[Command]
    result: RunResult
    _replay: Replay | None = None

    def repeat(self, state: State,
               progress: Callable[[int], None] | None = None) -> RunResult:
        """Run it again, always on the same memories; ``progress`` as of `Machine.run`."""
        if self._replay is None:
            self._replay = Replay(state, self.commands)
        if progress is None:
            self._replay.run()
        else:
            cycles = self.result.counters["cycles"]
            self._replay.run(lambda part: progress(int(part * cycles)))
        return self.result


class Recordings:
    """The last runs that can be repeated, by where and how they were started."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple, Recording] = OrderedDict()

    def find(self, key: tuple, code: bytes) -> Recording | None:
        """Return the recording of the same code, if there is one."""
        found = self._kept.get(key)
        if found is None or found.code != code:
            return None
        self._kept.move_to_end(key)
        return found

    def keep(self, key: tuple, code: bytes, commands: list[Command], result: RunResult) -> None:
        """Keep a run that has ended with its halt, unless it is too long."""
        indexed = any(isinstance(command, Vector) and command.op in INDEXED_OPS
                      for command in commands)
        if indexed or len(commands) > MOST_COMMANDS:
            return  # a bad index would have to be found again
        self._kept[key] = Recording(code, commands, result)
        if len(self._kept) > _MOST_RUNS:
            self._kept.popitem(last=False)
