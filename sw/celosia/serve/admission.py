"""Which requests are in the server: their number, their bytes, and how their bodies arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from celosia.serve.errors import Refusal
from celosia.serve.limits import Limits
from celosia.serve.metrics import Metrics
from celosia.serve.unfinished import Unfinished

__all__ = ["Admission", "Ticket"]


@dataclass(eq=False)
class Ticket:
    """A request in the server.

    Attributes
    ----------
    address
        Of its client.
    held
        Bytes of its body and answer.
    """

    address: str
    held: int = 0
    _refusal: Refusal | None = None
    _patience: asyncio.Timeout | None = None

    def refuse(self, refusal: Refusal) -> None:
        """Let a body that is being read go; its client is told why."""
        self._refusal = refusal
        if self._patience is not None and not self._patience.expired():
            self._patience.reschedule(0)


class Admission:
    """Bounds the requests in the server.

    Where there is no place, or no memory, it is taken from the request whose body has been read
    for longest: a client that sends slowly, or stops, keeps nobody out. Only where all have
    arrived is the newcomer refused.

    Parameters
    ----------
    limits
        ``queue``, ``body``, ``stall`` and ``connections`` of them.
    most
        Bytes of all bodies and answers.
    metrics
        Told of number and bytes.

    Attributes
    ----------
    unfinished
        Requests that have not arrived in full.
    """

    def __init__(self, limits: Limits, most: int, metrics: Metrics):
        self.unfinished = Unfinished(limits.connections)
        self._limits, self._most, self._metrics = limits, most, metrics
        self._reading: dict[Ticket, None] = {}
        self._open = self._held = 0

    @contextmanager
    def ticket(self, address: str) -> Iterator[Ticket]:
        """Have a place in the server; `Refusal` if there is none."""
        if self._open >= self._limits.queue:
            self._displace(None, f"at most {self._limits.queue} requests may be in it at once")
        ticket = Ticket(address)
        self._open += 1
        self._metrics.open.set(self._open)
        try:
            yield ticket
        finally:
            self._open -= 1
            self._metrics.open.set(self._open)
            self._count(ticket, -ticket.held)

    def hold(self, ticket: Ticket, count: int) -> None:
        """Count bytes for a request until it leaves; `Refusal` if there are too many."""
        self._count(ticket, count)
        while self._held > self._most:
            self._displace(ticket, f"bodies and answers may have at most {self._most} bytes "
                                   f"together")

    async def read(self, ticket: Ticket, body: AsyncIterable[bytes],
                   length: int | None) -> bytearray:
        """Return a body, in full.

        Parameters
        ----------
        ticket
            Whose it is.
        body
            In pieces.
        length
            What the client says that it has; None: nothing.

        Raises
        ------
        Refusal
            If it is too large (413), stands still (408), or has to go for others (429, 503).
        """
        limits = self._limits
        if length is not None and length > limits.body:
            raise self._large(length)
        loop = asyncio.get_running_loop()
        text = bytearray()
        self._reading[ticket] = None
        self.unfinished.add(ticket.address, ticket.refuse)
        try:
            async with asyncio.timeout(limits.stall) as patience:
                ticket._patience = patience
                async for chunk in body:
                    if ticket._refusal is not None:
                        raise ticket._refusal
                    patience.reschedule(loop.time() + limits.stall)
                    self.hold(ticket, len(chunk))
                    text += chunk
                    if len(text) > limits.body:
                        raise self._large(len(text))
        except TimeoutError:
            raise ticket._refusal or Refusal(408, (
                f"the body must not stand still for {limits.stall:g} s; {len(text)} bytes of it "
                f"came")) from None
        finally:
            ticket._patience = None
            self._reading.pop(ticket, None)
            self.unfinished.discard(ticket.address, ticket.refuse)
        return text

    def _count(self, ticket: Ticket, count: int) -> None:
        ticket.held += count
        self._held += count
        self._metrics.held.set(self._held)

    def _displace(self, ticket: Ticket | None, reason: str) -> None:
        """Make room; `Refusal` if ``ticket`` itself has to go, or nobody can."""
        refusal = Refusal(503, f"the server is busy: {reason}; try again", 1)
        oldest = next(iter(self._reading), ticket)
        if oldest is ticket or oldest is None:
            raise refusal
        del self._reading[oldest]
        self._count(oldest, -oldest.held)
        oldest.refuse(refusal)

    def _large(self, size: int) -> Refusal:
        return Refusal(413, f"the body must have at most {self._limits.body} bytes, "
                            f"not {size} or more")
