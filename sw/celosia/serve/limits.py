"""What a server takes upon itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

from celosia.driver.device import DEFAULT_TIMEOUT

__all__ = ["Limits"]


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
    connections
        Those of one address on which a request has not arrived in full.
    sockets
        All connections; None: two for each request in the server, at least 512.
    held
        Bytes of all bodies and answers in the server; None: four of the largest bodies, at least
        64 MiB. One run may always have its answers.
    timeout
        Seconds that a request may take.
    headers
        Seconds in which the headers of a request must arrive.
    stall
        Seconds for which its body may stand still, or its answer not be taken.
    idle
        Seconds for which a connection may be kept between requests.
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
    headers: float = 5.0
    stall: float = 10.0
    idle: int = 30
    connections: int = 16
    sockets: int | None = None
    wait: float = 0.002
    cycles: int = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        for name in ("batch", "queue", "connections", "sockets", "body", "held", "idle",
                     "cycles"):
            value = getattr(self, name)
            if value is None and name in ("batch", "held", "sockets"):
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"limit of {name} must be an integer of at least 1, "
                                 f"not {value!r}")
        for name, least in (("timeout", 1e-3), ("headers", 1e-3), ("stall", 1e-3), ("wait", 0.0)):
            value = getattr(self, name)
            if (isinstance(value, bool) or not isinstance(value, (int, float))
                    or not least <= value < math.inf):
                raise ValueError(f"limit of {name} must be at least {least:g} seconds, "
                                 f"not {value!r}")

    @property
    def open_connections(self) -> int:
        """``sockets``, as a number."""
        return self.sockets or max(2 * self.queue, 512)
