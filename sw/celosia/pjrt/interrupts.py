"""Ctrl-C: ends the runs that are under way, and comes to a caller in Python."""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from time import monotonic, sleep
from types import CodeType, FrameType
from typing import Protocol

__all__ = ["Calls", "watch"]

#: Seconds after which an interrupt that could not be raised is tried again.
_SOON = 0.001
#: Seconds that a call may take to its end before it is interrupted itself.
_PATIENCE = 2.0


class _Client(Protocol):
    def interrupt(self) -> None: ...


class Calls:
    """The functions that C calls, which an exception must not leave.

    It would be lost there, and C would take what is in a register for the result. Inside of a call
    an exception can be caught; but its caller then tells its own caller of a call that failed, not
    of an interrupt. So an interrupt waits for the end of a call, though not for long.

    Attributes
    ----------
    code
        Of these functions.
    guarded
        Of functions whose exceptions those catch.
    """

    def __init__(self) -> None:
        self.code: set[CodeType] = set()
        self.guarded: set[CodeType] = set()
        self._waiting: SimpleQueue[None] = SimpleQueue()
        self._since: float | None = None  # the first interrupt that has not been raised

    @property
    def waiting(self) -> bool:
        """Whether there is an interrupt that has not been raised."""
        return self._since is not None

    def start(self) -> None:
        """Start the thread that tries interrupts again."""
        threading.Thread(target=self._again, name="celosia-interrupts", daemon=True).start()

    def later(self) -> None:
        """Interrupt the main thread a little later; of use in signal handlers."""
        if self._since is None:
            self._since = monotonic()
        self._waiting.put(None)

    def forget(self) -> None:
        """Try no interrupt again."""
        self._since = None

    def let(self, frame: FrameType | None) -> bool:
        """Whether an interrupt may be raised in a frame now; else it comes `later`."""
        while frame is not None:
            if frame.f_code in self.code or (frame.f_code in self.guarded and not self._is_long()):
                self.later()
                return False
            if frame.f_code in self.guarded:
                break
            frame = frame.f_back
        self.forget()
        return True

    def _is_long(self) -> bool:
        return self._since is not None and monotonic() - self._since > _PATIENCE

    def _again(self) -> None:
        while True:
            self._waiting.get()
            sleep(_SOON)
            if self.waiting:
                _thread.interrupt_main()


def watch(calls: Calls, clients: Iterable[_Client]) -> Callable[[], None]:
    """Let Ctrl-C end the runs of clients, where Python's own handler is in place.

    Returns
    -------
    unwatch
        Puts Python's handler back.
    """
    if threading.current_thread() is not threading.main_thread() or (
            signal.getsignal(signal.SIGINT) is not signal.default_int_handler):
        return lambda: None

    def interrupted(number: int, frame: FrameType | None) -> None:
        again = calls.waiting
        raises = calls.let(frame)
        if raises or not again:  # else what was given meanwhile would fail before it is raised
            for client in tuple(clients):
                client.interrupt()
        if raises:
            signal.default_int_handler(number, frame)

    def unwatch() -> None:
        calls.forget()
        if signal.getsignal(signal.SIGINT) is interrupted:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    calls.start()
    signal.signal(signal.SIGINT, interrupted)
    return unwatch
