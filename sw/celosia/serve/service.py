"""Predictions of a model, with limits: what a server does, without HTTP's routes."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterable, Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from celosia.driver import Device, DeviceError
from celosia.driver.device import DEFAULT_TIMEOUT
from celosia.serve.batcher import Batcher
from celosia.serve.errors import Refusal
from celosia.serve.metrics import Metrics
from celosia.serve.model import Model
from celosia.serve.protocol import answer, parse
from celosia.serve.runner import Runner

__all__ = ["Limits", "Service"]


@dataclass(frozen=True)
class Limits:
    """What a server takes upon itself.

    Attributes
    ----------
    batch
        Most rows of a run; None: the program's batch.
    queue
        Requests that may be in the server at once, read, waiting or running.
    body
        Bytes of a request's body.
    held
        Bytes of all bodies and answers in the server; None: four of the largest bodies, at least
        64 MiB. One run may always have its answers.
    timeout
        Seconds that a request may take.
    wait
        Seconds that a run waits to be filled.
    cycles
        Clock cycles that a run may take.

    Raises
    ------
    ValueError
        If a limit is not a number of at least 1, or for seconds, more than 0.
    """

    batch: int | None = None
    queue: int = 256
    body: int = 16 << 20
    held: int | None = None
    timeout: float = 30.0
    wait: float = 0.002
    cycles: int = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        for name in ("batch", "queue", "body", "held", "cycles"):
            value = getattr(self, name)
            if value is None and name in ("batch", "held"):
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"limit of {name} must be an integer of at least 1, "
                                 f"not {value!r}")
        for name, least in (("timeout", 1e-3), ("wait", 0.0)):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not least <= value < math.inf:
                raise ValueError(f"limit of {name} must be at least {least:g} seconds, "
                                 f"not {value!r}")


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

    def __init__(self, model: Model, make: Callable[[], Device], limits: Limits = Limits(), *,
                 check: bool = True):
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
        self._row = max(1, -(-run // model.batch))
        self._most = max(2 * run, limits.held or max(4 * limits.body, 64 << 20))
        self._open = self._held = 0
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

    @property
    def ready(self) -> bool:
        """Whether requests can be answered."""
        return self._batcher is not None and self._batcher.ready

    async def infer(self, body: AsyncIterable[bytes], length: int | None) -> bytes:
        """Return the body of the answer to a request.

        Parameters
        ----------
        body
            Of the request, in pieces.
        length
            What the client says that it has; None: nothing.

        Raises
        ------
        Refusal
            With the status that the client gets.
        """
        start = time.perf_counter()
        status = 200
        try:
            with self._admitted():
                return await self._infer(body, length)
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

    @contextlib.contextmanager
    def _admitted(self) -> Iterator[None]:
        if self._open >= self.limits.queue:
            raise Refusal(503, f"the server is busy: at most {self.limits.queue} requests may be "
                               f"in it at once; try again", 1)
        self._open += 1
        self.metrics.open.set(self._open)
        try:
            yield
        finally:
            self._open -= 1
            self.metrics.open.set(self._open)

    async def _infer(self, body: AsyncIterable[bytes], length: int | None) -> bytes:
        limits = self.limits
        reading = True
        held = 0
        try:
            async with asyncio.timeout(limits.timeout):
                if length is not None and length > limits.body:
                    raise self._large(length)
                text = bytearray()
                async for chunk in body:
                    held += len(chunk)
                    self._hold(len(chunk))
                    text += chunk
                    if held > limits.body:
                        raise self._large(held)
                reading = False
                request = parse(text, self.model, max(self.model.batch, self._most // self._row))
                del text
                held += request.rows * self._row
                self._hold(request.rows * self._row)
                if self._batcher is None:
                    raise Refusal(503, "the server is shutting down", 1)
                try:
                    results = await self._batcher.infer(request.inputs, request.rows)
                except DeviceError as error:
                    raise Refusal(500, f"{self.model.name} failed on the chip: {error}") from error
                return answer(self.model, request, results)
        except TimeoutError:
            if reading:
                raise Refusal(408, f"the request must arrive within {limits.timeout:g} s; "
                                   f"{held} bytes of its body came") from None
            raise Refusal(504, f"there was no answer within {limits.timeout:g} s; the server is "
                               f"busy, or the model too slow") from None
        finally:
            self._hold(-held)

    def _hold(self, count: int) -> None:
        self._held += count
        self.metrics.held.set(self._held)
        if count > 0 and self._held > self._most:
            raise Refusal(503, f"the server is busy: bodies and answers may have at most "
                               f"{self._most} bytes together; try again", 1)

    def _large(self, size: int) -> Refusal:
        return Refusal(413, f"the body must have at most {self.limits.body} bytes, "
                            f"not {size} or more")
