"""A run whose commands are known: prepared once, executed again and again.

What :class:`celosia.model.effects.Effects` finds out for each command, a replay has found out
before: rows, operations, and which matmuls can be computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.arch.isa import MatmulFormat, Mem
from celosia.model.commands import DST_MEM, Command, Dma, Matmul, Vector
from celosia.model.effects import Effects
from celosia.model.fast import dma, vpu
from celosia.model.fast.batches import Batch, Job
from celosia.model.mxu import Mxu
from celosia.model.state import State
from celosia.model.streams import Stream, rounds

__all__ = ["Replay"]

#: Words of the sums of a batch: they and their products fit a second-level cache.
_BLOCK = 1 << 16
#: Steps from one call of ``progress`` to the next.
_PACE = 64


class Replay:
    """The commands of a run.

    Parameters
    ----------
    state
        The memories on which they work.
    commands
        Commands of a run that ended with its halt, without gathers and scatters.
    """

    def __init__(self, state: State, commands: list[Command]):
        self._state, self._commands = state, commands
        self._steps = _Preparation(state).steps(commands)

    def run(self, progress: Callable[[float], None] | None = None) -> None:
        """Do what the commands do.

        Parameters
        ----------
        progress
            Called now and then with the part that is done, up to 1; what it raises ends the run.
        """
        if self._steps is None:
            effects = Effects(self._state)
            for index, command in enumerate(self._commands):
                if progress is not None and index % _PACE == 0:
                    progress(index / len(self._commands))
                effects.execute(command)
            effects.flush()
            return
        with np.errstate(all="ignore"):
            for index, step in enumerate(self._steps):
                if progress is not None and index % _PACE == 0:
                    progress(index / len(self._steps))
                step()


class _Preparation:
    def __init__(self, state: State):
        self._state = state
        self._steps: list[Callable[[], object]] = []
        # Matmuls that wait, the rows that they read and write, and their targets.
        self._jobs: list[Job] = []
        self._read: NDArray[np.bool_] = np.zeros(len(state.ub), np.bool_)
        self._written: NDArray[np.bool_] = np.zeros(len(state.acc), np.bool_)
        self._targets: set[Stream] = set()
        self._scratch: NDArray[np.float32] = np.empty((2, 0), np.float32)

    def steps(self, commands: list[Command]) -> list[Callable[[], object]] | None:
        """Return functions that do what the commands do, or None where none are known."""
        state = self._state
        matmuls = [command for command in commands if isinstance(command, Matmul)]
        apart = all(matmul.fmt == MatmulFormat.INT8 for matmul in matmuls)
        jobs = None if apart else _jobs(commands)
        if jobs is None and not apart:
            return None
        mxu = Mxu(state.config)
        if jobs is not None:
            longest = max(matmul.length for matmul in matmuls)
            self._scratch = np.empty((2, _BLOCK + longest * state.config.dim), np.float32)
        for command in commands:
            if not isinstance(command, Matmul):
                self._settle(command)
                self._steps.append(self._prepared(command))
            elif jobs is None:
                self._steps.append(partial(mxu.execute, command, state.ub, state.acc))
            else:
                self._add(next(jobs))
        self._close()
        return self._steps

    def _prepared(self, command: Dma | Vector) -> Callable[[], object]:
        state = self._state
        if isinstance(command, Vector):
            return vpu.prepare(command, state.ub, state.acc)
        chip = state.ub if command.mem == Mem.UB else state.acc
        return dma.prepare(command, state.memory, chip)

    def _add(self, job: Job) -> None:
        command = job.command
        target = command.acc
        full = len(self._jobs) * target.length * self._state.config.dim >= _BLOCK
        clash = (target not in self._targets
                 and self._written[target.base:target.last + 1].any())
        if self._jobs and (full or clash or self._jobs[0].shape != job.shape):
            self._close()
        self._jobs.append(job)
        self._targets.add(target)
        self._written[target.base:target.last + 1] = True
        for stream in (command.acts, job.weights):
            self._read[stream.base:stream.last + 1] = True

    def _settle(self, command: Dma | Vector) -> None:
        """Have the matmuls done before what they touch is read or written."""
        span = _written_ub(command)
        if (span is not None and self._read[span[0]:span[1] + 1].any()
                or any(self._written[first:last + 1].any() for first, last in command.acc_spans)):
            self._close()

    def _close(self) -> None:
        if not self._jobs:
            return
        batch = Batch(self._jobs, self._scratch)
        self._steps.append(partial(batch.execute, self._state.ub, self._state.acc))
        self._jobs = []
        self._read[:] = False
        self._written[:] = False
        self._targets.clear()


def _jobs(commands: list[Command]) -> Iterator[Job] | None:
    """Return the matmuls with their tiles, or None where some cannot be put together."""
    jobs: list[Job] = []
    weights, transpose = None, False
    for command in commands:
        if isinstance(command, Matmul):
            if command.weights is not None:
                weights, transpose = command.weights, command.transpose
            if (weights is None or command.fmt != MatmulFormat.BF16
                    or len(rounds(command.acc) or ()) > 1):
                return None
            jobs.append(Job(command, weights, transpose))
        elif weights is not None:
            span = _written_ub(command)
            if span is not None and span[0] <= weights.last and weights.base <= span[1]:
                weights = None  # the tile may still be kept, but is no longer in the buffer
    return iter(jobs)


def _written_ub(command: Dma | Vector) -> tuple[int, int] | None:
    """Return first and last row of the unified buffer that it writes."""
    if isinstance(command, Vector):
        stream = command.dst if DST_MEM[command.kind] == Mem.UB else None
    else:
        stream = command.chip if command.mem == Mem.UB and not command.store else None
    return None if stream is None else (stream.base, stream.last)
