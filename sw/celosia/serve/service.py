"""Predictions of a model, with limits: what a server does, without HTTP's routes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from numpy.typing import NDArray

from celosia.arch.words import ceil_div
from celosia.driver import Device, DeviceError
from celosia.serve.admission import Admission, Ticket
from celosia.serve.batcher import Batcher
from celosia.serve.errors import Refusal
from celosia.serve.limits import Limits
from celosia.serve.metrics import Metrics
from celosia.serve.model import Model
from celosia.serve.protocol import InferenceRequest, answer, parse
from celosia.serve.rows import answer_rows, parse_rows
from celosia.serve.runner import Runner
from celosia.serve.unfinished import Unfinished

__all__ = ["Service"]

#: Bytes of JSON that are read or written between two other requests; more of it would make these
#: wait, and is for another thread.
_INLINE = 1 << 16

_T = TypeVar("_T")


class Service:
    """Answers requests for predictions. An async context manager: the device is open in it.

    Parameters
    ----------
    model
        What predicts.
    make
        Opens the device that it runs on.
    limits
        See `Limits`.
    check
        Try at the start whether rows depend on each other.

    Raises
    ------
    ValueError
        If the limit of a run is more than the program's batch.
    """

    def __init__(self, model: Model, make: Callable[[], Device], limits: Limits | None = None, *,
                 check: bool = True):
        limits = limits or Limits()
        rows = model.batch if limits.batch is None else limits.batch
        if rows > model.batch:
            raise ValueError(f"limit of batch must be at most {model.batch}, the batch of "
                             f"{model.name}, not {rows}")
        self.model, self.limits = model, limits
        self.metrics = Metrics(model.name)
        self._runner = Runner(model, make, limits.cycles)
        self._batcher: Batcher | None = None
        self._rows, self._check = rows, check
        run = sum(each.type.nbytes for each in model.outputs)
        self._row = max(1, ceil_div(run, model.batch))
        self._most = max(2 * run, limits.held or max(4 * limits.body, 64 << 20))
        self._admission = Admission(limits, self._most, self.metrics)
        self._threads = ThreadPoolExecutor(1, "celosia json")
        #: Whether everything ended in time.
        self.ended = True

    async def __aenter__(self) -> Self:
        self._batcher = Batcher(self._runner, self.metrics, self._rows, self.limits.wait)
        try:
            await self._batcher.start(check=self._check)
        except BaseException:
            await self._batcher.close(1.0)
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        traceback: TracebackType | None) -> None:
        if self._batcher is not None:
            batcher, self._batcher = self._batcher, None
            self.ended = await batcher.close(self.limits.timeout)
        self._threads.shutdown(wait=False)

    @property
    def ready(self) -> bool:
        """Whether requests can be answered."""
        return self._batcher is not None and self._batcher.ready

    @property
    def unfinished(self) -> Unfinished:
        """Requests that have not arrived in full."""
        return self._admission.unfinished

    async def infer(self, body: AsyncIterable[bytes], length: int | None, address: str,
                    gone: Callable[[], Awaitable[None]], *, rows: bool = False) -> bytes:
        """Return the body of the answer to a request.

        Parameters
        ----------
        body
            Of the request, in pieces.
        length
            What the client says that it has; None: nothing.
        address
            Of the client.
        gone
            Called when the body is read, to wait until the client has gone: nothing more is run
            for it then.
        rows
            In TensorFlow Serving's form.

        Raises
        ------
        Refusal
            With the status that the client gets.
        """
        start = time.perf_counter()
        status = 200
        try:
            with self._admission.ticket(address) as ticket:
                return await self._infer(ticket, body, length, gone, rows)
        except Refusal as refusal:
            status = refusal.status
            raise
        except asyncio.CancelledError:
            status = 499
            raise
        except BaseException:
            status = 500
            raise
        finally:
            self.metrics.requests.labels(str(status)).inc()
            self.metrics.latency.observe(time.perf_counter() - start)

    async def _infer(self, ticket: Ticket, body: AsyncIterable[bytes], length: int | None,
                     gone: Callable[[], Awaitable[None]], rows: bool) -> bytes:
        limits = self.limits
        read, write = (parse_rows, answer_rows) if rows else (parse, answer)
        what = ""
        try:
            async with asyncio.timeout(limits.timeout):
                text = await self._admission.read(ticket, body, length)
                what = f"bytes of the body: {len(text)}"
                most = max(self.model.batch, self._most // self._row)
                request = await self._aside(len(text), partial(read, text, self.model, most))
                del text
                what = f"rows: {request.rows}"
                size = request.rows * self._row
                self._admission.hold(ticket, size)
                results = await self._run(request, gone)
                return await self._aside(size, partial(write, self.model, request, results))
        except TimeoutError:
            if not what:
                raise Refusal(408, f"the request must arrive within {limits.timeout:g} s; "
                                   f"{ticket.held} bytes of its body came") from None
            raise Refusal(504, f"there was no answer within {limits.timeout:g} s ({what}); the "
                               f"server is busy, or the model too slow for so many") from None

    async def _aside(self, size: int, function: Callable[[], _T]) -> _T:
        """Return what a function returns that works on some bytes of JSON."""
        if size <= _INLINE:
            return function()
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)

    async def _run(self, request: InferenceRequest,
                   gone: Callable[[], Awaitable[None]]) -> list[NDArray[Any]]:
        """Return the model's outputs, unless the client goes before."""
        if self._batcher is None:
            raise Refusal(503, "the server is shutting down", 1)
        job = asyncio.ensure_future(self._batcher.infer(request.inputs, request.rows))
        leaving = asyncio.ensure_future(gone())
        try:
            await asyncio.wait((job, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not job.done():
                raise Refusal(499, "the client has gone")
            return job.result()
        except DeviceError as error:
            raise Refusal(500, f"{self.model.name} failed on the chip: {error}") from error
        finally:
            job.cancel()
            leaving.cancel()
