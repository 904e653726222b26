"""A memory port's other side: it refuses at random and keeps what it refuses."""

from collections.abc import Callable
from typing import Any

__all__ = ["Keeper"]


class Keeper:
    """Answers the requests of one port, as of `celosia_hw.memory.ports`.

    Parameters
    ----------
    port
    refuses
        Called in each cycle in which something is asked for: whether it is refused.
    """

    def __init__(self, port, refuses: Callable[[], bool]):
        self.port, self.refuses = port, refuses
        self.kept: Any = None

    def answer(self, ctx, request: Any, *, reset: bool = False) -> Any:
        """Return what is granted in the cycle that ends, in which ``request`` was taken (or None).

        Sets what the port says in the next one; after a cycle of ``reset``, that nothing is kept.
        """
        assert request is None or self.kept is None
        asked = request if self.kept is None else self.kept
        granted = None if reset or (asked is not None and self.refuses()) else asked
        self.kept = None if reset or granted is not None else asked
        ctx.set(self.port.ready, self.kept is None)
        ctx.set(self.port.granted, granted is not None)
        return granted
