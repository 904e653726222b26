"""Commands made into functions that do what they do, prepared once and called again and again.

By a library of C where there is one, else by NumPy; the bits are the same.

What :class:`celosia.model.machine.Run` finds out for each command, its step has found out before:
rows, operations, and which matmuls can be computed together.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import Command, Dma, Load, Matmul, Store, Touch, Vector
from celosia.arch.isa import Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import INDEXED_OPS
from celosia.model.fast import dma, native, vpu
from celosia.model.fast.batches import Batch, Job
from celosia.model.fast.mxu import FastMxu, repeats
from celosia.model.state import ModelResult, State

__all__ = ["BadIndex", "NativeSteps", "Steps", "steps"]

#: Words of the sums of a batch: they and their products fit a second-level cache.
_BLOCK = 1 << 16


class BadIndex(Exception):
    """An index is beyond its table: the run ends, with ``result``."""

    def __init__(self, result: ModelResult):
        super().__init__(result)
        self.result = result


class Steps:
    """The commands of a run, as far as they have come.

    Parameters
    ----------
    state
        The memories on which they work.
    mxu
        Its array.

    Attributes
    ----------
    made
        The steps, in order; called with NumPy's warnings switched off. Those of gathers and
        scatters may raise `BadIndex`. Matmuls that wait for others are in none until :meth:`close`.
    """

    def __init__(self, state: State, mxu: FastMxu | None = None):
        self._state = state
        self.made: list[Callable[[], object]] = []
        self._mxu = FastMxu(state.config) if mxu is None else mxu
        #: Rows of the unified buffer that are the tile, transposed or not; whether the unit has it.
        self._weights: tuple[Stream, bool] | None = None
        self._held = False
        # Matmuls that wait, and the rows that they read and write.
        self._jobs: list[Job] = []
        self._read: NDArray[np.bool_] = np.zeros(len(state.ub), np.bool_)
        self._written: NDArray[np.bool_] = np.zeros(len(state.acc), np.bool_)
        #: First rows of their targets, which are alike but for these; what all of them are like.
        self._targets: set[int] = set()
        self._shape: tuple = ()

    def anew(self) -> Steps:
        """Return those of another run on the same chip."""
        return Steps(self._state, self._mxu)

    @property
    def size(self) -> int:
        """How much has been made."""
        return len(self.made)

    def add(self, command: Command, beyond: ModelResult | None = None) -> None:
        """Add a command; how the run ends at it if it is a gather or scatter with a bad index."""
        if isinstance(command, Matmul):
            self._matmul(command)
            return
        self._settle(command)
        self.made.append(_prepared(command, self._state, beyond))

    def close(self) -> None:
        """Make steps of all commands so far."""
        if not self._jobs:
            return
        batch = Batch(self._jobs)
        self.made.append(partial(batch.execute, self._state.ub, self._state.acc))
        self._jobs = []
        self._read[:] = False
        self._written[:] = False
        self._targets.clear()

    def _matmul(self, command: Matmul) -> None:
        if command.weights is not None:
            self._weights, self._held = (command.weights, command.transpose), False
        if self._weights is not None and not repeats(command.acc):
            self._job(Job(command, *self._weights))
            return
        self.close()
        if not self._held:
            assert self._weights is not None
            weights, transpose = self._weights
            command = replace(command, weights=weights, transpose=transpose)
            self._held = True
        self.made.append(partial(self._mxu.execute, command, self._state.ub, self._state.acc))

    def _job(self, job: Job) -> None:
        target, shape = job.command.acc, job.shape
        full = len(self._jobs) * target.length * self._state.config.dim >= _BLOCK
        if self._jobs and (full or shape != self._shape or (
                target.base not in self._targets
                and self._written[target.base:target.last + 1].any())):
            self.close()
        self._jobs.append(job)
        self._shape = shape
        self._targets.add(target.base)
        self._written[target.base:target.last + 1] = True
        for stream in (job.command.acts, job.weights):
            self._read[stream.base:stream.last + 1] = True

    def _settle(self, command: Dma | Vector) -> None:
        """Have done before a command what must be: matmuls that it touches, and keep the tile."""
        touches = command.touches(self._state.config)
        if (isinstance(command, Vector) and command.op in INDEXED_OPS) or any(map(
                self._waited, touches)):
            self.close()
        for _, space, first, last, written in touches:
            if not written or space != Mem.UB or self._weights is None:
                continue
            weights, transpose = self._weights
            if first <= weights.last and weights.base <= last:
                if not self._held:
                    self.made.append(partial(self._mxu.load, weights, transpose, self._state.ub))
                self._weights, self._held = None, True

    def _waited(self, touch: Touch) -> bool:
        """Whether matmuls wait that write these rows, or read what is written."""
        _, space, first, last, written = touch
        if space == Mem.ACC:
            return bool(self._written[first:last + 1].any())
        return space == Mem.UB and written and bool(self._read[first:last + 1].any())


class NativeSteps:
    """What `Steps` are, of runs of commands that a library does.

    Parameters
    ----------
    state
        The memories on which they work.
    library
        As of :func:`celosia.model.fast.native.load`.
    tile
        Of its array.
    """

    def __init__(self, state: State, library: ctypes.CDLL, tile: native.Tile | None = None):
        self._state, self._library = state, library
        self._tile = native.Tile(state.config.dim) if tile is None else tile
        self._records = native.Records(state, library, self._tile)
        self.made: list[Callable[[], object]] = []
        self.size = 0

    def anew(self) -> NativeSteps:
        """Return those of another run on the same chip."""
        return NativeSteps(self._state, self._library, self._tile)

    def add(self, command: Command, beyond: ModelResult | None = None) -> None:
        """Add a command; see `Steps.add`."""
        self.size += 1
        if self._records.full:
            self.close()
        parts = self._parts(command) if isinstance(command, Load | Store) else (command,)
        for part in parts:
            if not self._records.add(part):
                assert not isinstance(part, Matmul)
                self.close()
                self.made.append(_prepared(part, self._state, beyond))

    def _parts(self, command: Load | Store) -> Iterator[Load | Store]:
        """Cut a transfer into those that a view of external memory has, and rows that none has."""
        memory, made, size = self._state.memory, type(command), command.row_bytes
        row, addr, rows = command.row, command.addr, command.rows
        while rows:
            count = memory.together(addr, rows, size, command.pitch) or 1
            yield command if count == command.rows else made(
                command.mem, command.fmt, row, addr, count, command.cols, command.pitch,
                command.row_step, command.group_step)
            row, addr = row + count * command.row_step, addr + count * command.pitch
            rows -= count

    def close(self) -> None:
        """Make steps of all commands so far."""
        step = self._records.take()
        if step is not None:
            self.made.append(step)


def steps(state: State) -> Steps | NativeSteps:
    """Return steps by the library, where it is to be had, else by NumPy."""
    library = native.load()
    return Steps(state) if library is None else NativeSteps(state, library)


def _prepared(command: Dma | Vector, state: State,
              beyond: ModelResult | None) -> Callable[[], object]:
    """Return what does a command."""
    if isinstance(command, Dma):
        return dma.prepare(command, state.memory, state.ub if command.mem == Mem.UB else state.acc)
    step = vpu.prepare(command, state.ub, state.acc)
    if command.op not in INDEXED_OPS:
        return step
    assert beyond is not None
    return partial(_indexed, step, beyond)


def _indexed(step: Callable[[], object], beyond: ModelResult) -> None:
    bad = step()
    if bad is not None:
        assert isinstance(bad, int)
        raise BadIndex(replace(beyond, addr=bad))

