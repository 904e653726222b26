"""Requests that have not arrived in full, by the address that they come from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from celosia.serve.errors import Refusal

__all__ = ["Unfinished"]

#: Seconds in which a request may arrive whatever else comes from its address: that many clients
#: begin at once is no attack, that many take long is.
_GRACE = 1.0


class Unfinished:
    """Bounds how many requests of an address may be waited for.

    A connection that says nothing counts as well. Where there are more than ``most``, those that
    are older than ``grace`` seconds are refused, the oldest first: what is new always has a place,
    so that nobody is locked out by the connections of others behind the same address.

    Parameters
    ----------
    most
        Of an address.
    grace
        Seconds.
    """

    def __init__(self, most: int, grace: float = _GRACE):
        self.most, self.grace = most, grace
        self._of: dict[str, dict[Callable[[Refusal], None], float]] = {}

    def add(self, address: str, refuse: Callable[[Refusal], None]) -> None:
        """Wait for a request; ``refuse`` is called when it has to go, and may call `discard`."""
        loop = asyncio.get_running_loop()
        waiting = self._of.setdefault(address, {})
        waiting[refuse] = now = loop.time()
        if len(waiting) > self.most:
            loop.call_later(self.grace, self._trim, address, now)

    def discard(self, address: str, refuse: Callable[[Refusal], None]) -> None:
        """Wait no longer: it arrived, or has gone. Nothing if it is not waited for."""
        waiting = self._of.get(address, {})
        waiting.pop(refuse, None)
        if not waiting:
            self._of.pop(address, None)

    def _trim(self, address: str, until: float) -> None:
        """Refuse what came until a time and is too many."""
        waiting = self._of.get(address, {})
        old = [refuse for refuse, since in waiting.items() if since <= until]
        for refuse in old[:max(0, len(waiting) - self.most)]:
            self.discard(address, refuse)
            refuse(Refusal(429, f"an address may have at most {self.most} connections on which a "
                                f"request has not arrived in full, and this was the oldest; "
                                f"try again", 1))
