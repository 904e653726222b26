"""What happens later: work that a device has been given, and who waits for its end."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence

from celosia.pjrt.errors import PjrtError

__all__ = ["Event", "InFlight"]

#: Seconds of sleep between looks.
_NAP = 0.05


class Event:
    """Something that will have happened, well or with an error. Safe among threads.

    Attributes
    ----------
    done
        Whether it has happened.
    error
        What went wrong; None before it has happened, and if nothing did.
    """

    __slots__ = ("_callbacks", "_lock", "done", "error")

    def __init__(self) -> None:
        self.done = False
        self.error: PjrtError | None = None
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[PjrtError | None], None]] = []

    def set(self, error: PjrtError | None = None) -> None:
        """Let it happen; a second time does nothing."""
        with self._lock:
            if self.done:
                return
            self.done, self.error = True, error
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(error)

    def then(self, callback: Callable[[PjrtError | None], None]) -> None:
        """Call a function with the error when it happens: at once, if it has happened."""
        with self._lock:
            if not self.done:
                self._callbacks.append(callback)
                return
        callback(self.error)

    def wait(self) -> None:
        """Wait until it has happened."""
        if self.done:
            return
        there = threading.Event()
        self.then(lambda _: there.set())
        while not there.wait(_NAP):
            pass


class InFlight:
    """Work that was given and has not ended: there may be so much of it. Safe among threads.

    Who gives work faster than it is done waits here: what the work needs is kept until then.
    """

    def __init__(self, most: int):
        self._most = most
        self._given: deque[Sequence[Event]] = deque()
        self._lock = threading.Lock()

    def make_room(self) -> None:
        """Wait until there is less than the most."""
        while True:
            with self._lock:
                if len(self._given) < self._most:
                    return
                oldest = self._given.popleft()
            for event in oldest:
                event.wait()

    def add(self, events: Sequence[Event]) -> None:
        """Note work by the events of its ends."""
        with self._lock:
            self._given.append(events)
