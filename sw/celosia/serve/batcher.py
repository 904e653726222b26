"""Requests that share runs of the chip."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.driver import ChipFault
from celosia.serve.metrics import Metrics
from celosia.serve.runner import Runner, Worker

__all__ = ["Batcher"]

#: Seconds between attempts to open a device that was lost.
_REOPEN = 5.0


@dataclass(eq=False)
class _Job:
    """Rows that wait for runs. ``taken`` of them are in runs, ``done`` are answered."""

    inputs: Sequence[NDArray[Any]]
    outputs: list[NDArray[Any]]
    rows: int
    future: asyncio.Future[list[NDArray[Any]]]
    taken: int = 0
    done: int = 0


@dataclass(frozen=True)
class _Part:
    """Rows ``first`` to ``end`` of a job, at row ``at`` of a run."""

    job: _Job
    first: int
    end: int
    at: int


@dataclass
class _Run:
    """Parts of jobs for one run."""

    parts: list[_Part] = field(default_factory=list)
    rows: int = 0


class Batcher:
    """Puts requests together into runs, in the order in which they come.

    A run begins when it is full, or ``wait`` seconds after the first of its requests was found.
    Requests with more rows than a run has are split, and take turns with the others. Rows that are
    left are filled with those of a request. While the chip runs, the next requests wait: nothing is
    refused here, the number of requests is bounded by the caller.

    Parameters
    ----------
    runner
        The model on its device; used in a thread of the batcher.
    metrics
        Told of each run.
    rows
        Most rows of a run; at most the program's batch.
    wait
        Seconds.
    """

    def __init__(self, runner: Runner, metrics: Metrics, rows: int, wait: float):
        self.runner, self.rows, self.wait = runner, rows, wait
        self._metrics, self._model = metrics, runner.model
        self._jobs: deque[_Job] = deque()
        self._waiting = 0
        self._more = asyncio.Event()
        self._closing = False
        self._worker = Worker("celosia device")
        self._task: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        """Whether requests can be answered."""
        return (self.runner.ready and not self._closing
                and self._task is not None and not self._task.done())

    async def start(self, *, check: bool = True) -> None:
        """Open the device and try it; errors of the driver, ValueError as of `check_rows`."""
        await self._worker.call(self.runner.open)
        if check:
            await self._worker.call(self.runner.check_rows)
        self._task = asyncio.create_task(self._serve())

    async def close(self, timeout: float) -> bool:
        """Answer what waits, close the device; return whether that was done in ``timeout`` s."""
        self._closing = True
        self._more.set()
        end = time.monotonic() + timeout
        if self._task is not None:
            await asyncio.wait([self._task], timeout=timeout)
            self._task.cancel()
        closing = asyncio.create_task(self._worker.call(self.runner.close))
        done, _ = await asyncio.wait([closing], timeout=max(0.0, end - time.monotonic()) + 0.1)
        if not done:
            closing.cancel()
        return self._worker.close(1.0) if done else False

    async def infer(self, inputs: Sequence[NDArray[Any]], rows: int) -> list[NDArray[Any]]:
        """Return the model's outputs for some rows.

        Raises
        ------
        DeviceError
            If a run failed.
        """
        model = self._model
        outputs = [np.empty(each.shape(model.axis, rows), each.dtype.numpy)
                   for each in model.outputs]
        job = _Job(inputs, outputs, rows, asyncio.get_running_loop().create_future())
        self._jobs.append(job)
        self._waiting += rows
        self._metrics.waiting.set(self._waiting)
        self._more.set()
        try:
            return await job.future
        finally:  # who does not wait any more needs no run
            if job in self._jobs:
                self._jobs.remove(job)
                self._count(job.taken - job.rows)

    def _count(self, rows: int) -> None:
        self._waiting += rows
        self._metrics.waiting.set(self._waiting)

    async def _serve(self) -> None:
        while True:
            while not self._jobs:
                if self._closing:
                    return
                await self._idle()
            await self._fill()
            if run := self._take():
                await self._answer(run)

    async def _idle(self) -> None:
        """Wait for a request; a device that was lost is opened meanwhile."""
        self._more.clear()
        if not self.runner.ready:
            with contextlib.suppress(Exception):  # the next request will be told
                await self._worker.call(self.runner.open)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if self.runner.ready else _REOPEN):
                await self._more.wait()

    async def _fill(self) -> None:
        """Wait until a run is full, but not for long."""
        end = time.monotonic() + self.wait
        while self._waiting < self.rows and not self._closing:
            left = end - time.monotonic()
            if left <= 0:
                return
            self._more.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._more.wait()

    def _take(self) -> _Run:
        """Return the next run."""
        run = _Run()
        while self._jobs and run.rows < self.rows:
            job = self._jobs[0]
            end = min(job.rows, job.taken + self.rows - run.rows)
            run.parts.append(_Part(job, job.taken, end, run.rows))
            run.rows += end - job.taken
            job.taken = end
            self._jobs.popleft()
            if end < job.rows:  # the others first: nobody waits for all runs of a large request
                self._jobs.append(job)
        self._count(-run.rows)
        return run

    async def _answer(self, run: _Run) -> None:
        try:
            await self._worker.call(lambda: self._do(run))
        except ChipFault as error:
            if len(run.parts) == 1:
                self._fail(run, error)
                return
            # The rows of one client must not fail those of the others: each alone.
            for part in run.parts:
                rows = part.end - part.first
                if not part.job.future.done():
                    await self._answer(_Run([_Part(part.job, part.first, part.end, 0)], rows))
            return
        except Exception as error:
            self._fail(run, error)
            return
        for part in run.parts:
            job = part.job
            job.done += part.end - part.first
            if job.done == job.rows and not job.future.done():
                job.future.set_result(job.outputs)

    def _fail(self, run: _Run, error: Exception) -> None:
        self._metrics.failed.labels(type(error).__name__).inc()
        for part in run.parts:
            if not part.job.future.done():
                part.job.future.set_exception(error)
            if part.job in self._jobs:  # the rest of it is of no use
                self._jobs.remove(part.job)
                self._count(part.job.taken - part.job.rows)

    def _do(self, run: _Run) -> None:
        """Run; in the worker's thread."""
        model = self._model
        inputs = []
        for number, tensor in enumerate(model.inputs):
            array = np.empty(tensor.type.shape, tensor.dtype.numpy)
            rows = np.moveaxis(array, model.axis, 0)
            for part in run.parts:
                given = np.moveaxis(part.job.inputs[number], model.axis, 0)
                rows[part.at:part.at + part.end - part.first] = given[part.first:part.end]
            rows[run.rows:] = rows[0]
            inputs.append(array)
        start = time.perf_counter()
        results = self.runner.run(inputs, len(run.parts))
        self._metrics.ran(run.rows, model.batch, time.perf_counter() - start, self.runner.cycles)
        for number, result in enumerate(results):
            rows = np.moveaxis(result, model.axis, 0)
            for part in run.parts:
                answers = np.moveaxis(part.job.outputs[number], model.axis, 0)
                answers[part.first:part.end] = rows[part.at:part.at + part.end - part.first]
