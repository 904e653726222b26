"""A connection of a client, with an end to its patience: HTTP is uvicorn's, times are ours.

uvicorn closes a connection on which nothing comes after an answer (``timeout_keep_alive``), and
no other: not one that says nothing, or begins a request and does not go on.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from celosia.serve.errors import Refusal
from celosia.serve.limits import Limits
from celosia.serve.unfinished import Unfinished

__all__ = ["Connection", "protocol"]

#: Bytes of further requests for which a connection is listened to while one is answered. Only
#: who listens hears that the client has gone.
_PIPELINED = 16 << 10


def protocol(limits: Limits, unfinished: Unfinished) -> type[Connection]:
    """Return what uvicorn shall make of a connection.

    Parameters
    ----------
    limits
        ``headers`` seconds are the time for the headers of a request, from the connection or, on
        one that is kept, from their first byte. Who gets an answer before the body has arrived
        has as long to end it. ``stall`` seconds are the time for which a client may take nothing
        of an answer.
    unfinished
        Told of connections whose headers have not arrived.
    """
    return type("Connection", (Connection,), {"limits": limits, "unfinished": unfinished})


class Connection(H11Protocol):
    """A connection; made by uvicorn. See `protocol`."""

    limits: Limits
    unfinished: Unfinished

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Wait for headers."""
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._since = self.loop.time()
        self._deadline: asyncio.TimerHandle | None = None
        self._untaken: asyncio.TimerHandle | None = None
        self._await_headers()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Wait as long as what came allows."""
        super().data_received(data)
        self._follow(data)

    def on_response_complete(self) -> None:
        """Wait for the rest of a request, or for the next one."""
        super().on_response_complete()
        self._since = self.loop.time()
        self._follow(self.conn.trailing_data[0])

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that was idle for too long."""
        self._close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._wait_no_longer()
        self._drained()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait until the client takes its answer."""
        super().pause_writing()
        self._drain()

    def resume_writing(self) -> None:
        """Wait for that no longer."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._drained()

    def refuse(self, refusal: Refusal) -> None:
        """Tell the client why its connection is closed, unless it was answered already."""
        if not self.transport.is_closing() and self.conn.our_state is h11.IDLE:
            body = json.dumps({"error": refusal.message}).encode()
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body)),
                       **refusal.headers, "Connection": "close"}
            for event in (h11.Response(status_code=refusal.status, headers=list(headers.items())),
                          h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self._close()

    @property
    def _busy(self) -> bool:
        """Whether there is a request to answer."""
        return self.cycle is not None and not self.cycle.response_complete

    def _follow(self, data: bytes) -> None:
        """Wait for what h11 waits for, after some data."""
        state = self.conn.their_state
        if self.transport.is_closing():
            self._close()
        elif state is h11.IDLE:
            if data and self._deadline is None:
                self._await_headers()
        elif state is h11.SEND_BODY and not self._busy:  # it was answered before its end
            if self._deadline is None:
                self._deadline = self.loop.call_later(self.limits.headers, self._close)
        else:
            self._wait_no_longer()
            if state is h11.DONE and len(self.conn.trailing_data[0]) < _PIPELINED:
                self.flow.resume_reading()

    def _await_headers(self) -> None:
        self._deadline = self.loop.call_later(self.limits.headers, self._late)
        self.unfinished.add(self._address, self.refuse)

    def _late(self) -> None:
        if self.conn.trailing_data[0]:
            self.refuse(Refusal(408, f"the headers of a request must arrive within "
                                     f"{self.limits.headers:g} s"))
        else:
            self._close()

    def _wait_no_longer(self) -> None:
        self._unset_keepalive_if_required()
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
            self.unfinished.discard(self._address, self.refuse)

    def _close(self) -> None:
        """Close when the client has taken its answer."""
        self._wait_no_longer()
        self.transport.close()
        self._drain()

    def _drain(self, before: int | None = None) -> None:
        """Look whether the client takes its answer, of which ``before`` bytes were left."""
        left = self.transport.get_write_buffer_size()
        if before is not None and left >= before:
            self.transport.abort()
            return
        self._drained()
        if left:
            self._untaken = self.loop.call_later(self.limits.stall, self._drain, left)

    def _drained(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None

    def _make_room(self) -> None:
        """Where there are too many connections, close one on which nothing is being answered.

        It is the oldest of the address that has the most of them.
        """
        limit = self.limits.open_connections
        if len(self.connections) <= limit:
            return
        alive = [each for each in self.connections
                 if isinstance(each, Connection) and not each.transport.is_closing()]
        if len(alive) <= limit:
            return
        waiting = [each for each in alive if not each._busy]
        address, _ = Counter(each._address for each in waiting).most_common(1)[0]
        oldest = min((each for each in waiting if each._address == address),
                     key=lambda each: each._since)
        if oldest._deadline is None:  # kept after an answer: no news is expected on it
            oldest._close()
        else:
            oldest.refuse(Refusal(503, f"the server is busy: at most {limit} connections may be "
                                       f"open; try again", 1))
