"""Signals: what a handler raises comes to the caller in Python, and ends the runs waited for."""

from __future__ import annotations

import _signal  # pyright: ignore[reportMissingImports]  # it has no stub
import _thread
import signal
import threading
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from time import monotonic, sleep
from types import CodeType, FrameType
from typing import Any, Protocol

__all__ = ["Calls", "watch"]

#: Seconds after which an exception that could not be raised is tried again.
_SOON = 0.01
#: Seconds that a call may take to its end before it is interrupted itself.
_PATIENCE = 2.0
#: Those that a handler may have.
_SIGNALS = sorted(map(int, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}))
#: That of `signal` looks for names of handlers, 2 us for each; all are asked for in every call.
_getsignal: Callable[[int], Any] = _signal.getsignal


class _Client(Protocol):
    def interrupt(self) -> None: ...
    def interrupt_unwanted(self) -> None: ...


class _Handler:
    """Stands before the handler of a signal that somebody has set."""

    def __init__(self, calls: Calls, inner: Callable[[int, FrameType | None], Any]):
        self.calls, self.inner = calls, inner

    def __call__(self, number: int, frame: FrameType | None) -> Any:
        return self.calls.handle(self.inner, number, frame)


class Calls:
    """The functions that C calls, which an exception must not leave, nor end halfway.

    It would be lost there, and C would take what is in a register for the result. Inside of a call
    an exception can be caught; but jaxlib ends the process where some calls fail, and tells its
    caller of others that they failed, not why. So handlers of signals run when they are to, but
    what they raise waits for the end of a call, though not for long, and then is raised in what
    called jaxlib.

    Attributes
    ----------
    code
        Of these functions.
    guarded
        Of functions whose exceptions those catch.
    waits
        Of functions that wait for runs.
    error
        What a handler has raised in a call, until it is raised in the caller.
    """

    def __init__(self) -> None:
        self.code: set[CodeType] = {Calls.adopt.__code__}
        self.guarded: set[CodeType] = set()
        self.waits: set[CodeType] = set()
        self.error: BaseException | None = None
        self._number = 0  # its signal
        self._since = 0.0
        self._inside = False  # whether it was raised in the call, too
        self._tripped = False  # whether a handler is to be called for it
        self._clients: Iterable[_Client] = ()
        self._main = threading.main_thread().ident
        self._on = False
        self._seen: tuple[Any, ...] = ()
        self._waiting: SimpleQueue[None] = SimpleQueue()

    def start(self, clients: Iterable[_Client]) -> None:
        """Begin: `adopt` does something from now on."""
        self._clients, self._on = clients, True
        threading.Thread(target=self._again, name="celosia-interrupts", daemon=True).start()

    def stop(self) -> None:
        """Put everything back."""
        self._on = False
        self.error = None
        if _thread.get_ident() == self._main:
            for number in _SIGNALS:
                if isinstance(handler := _getsignal(number), _Handler) and handler.calls is self:
                    signal.signal(number, handler.inner)

    def adopt(self, raised: BaseException | None = None) -> None:
        """Stand before the handlers that were set since the last time; in the main thread only.

        Parameters
        ----------
        raised
            What one of them has raised in here meanwhile: it waits for the end of the call, too.
        """
        if _thread.get_ident() == self._main and self._on:
            handlers = tuple(map(_getsignal, _SIGNALS))
            if handlers != self._seen:
                for number, handler in zip(_SIGNALS, handlers, strict=True):
                    if callable(handler) and not isinstance(handler, _Handler):
                        signal.signal(number, _Handler(self, handler))
                self._seen = tuple(map(_getsignal, _SIGNALS))
        if raised is not None and self.error is None:
            self._cancel(raised, False)
            self._keep(raised, 0)

    def handle(self, inner: Callable[[int, FrameType | None], Any], number: int,
               frame: FrameType | None) -> Any:
        """Be the handler of a signal that arrives in a frame, in place of another."""
        inside, guarded, waits = self._place(frame)
        tripped, self._tripped = self._tripped, False
        if self.error is None:
            if tripped:  # for an error that was raised already
                return None
            try:
                return inner(number, frame)
            except BaseException as error:
                self._cancel(error, waits)
                if not inside:
                    raise
                self._keep(error, number)
                return None
        if not inside:
            error, self.error = self.error, None
            self._cancel(error, False)  # what the call has given since then, too
            raise error
        if guarded and not self._inside and monotonic() - self._since > _PATIENCE:
            self._inside = True
            raise KeyboardInterrupt  # to end the call; the error itself waits
        return None

    def due(self) -> int:
        """Return the signal whose handler is to be called when the call has ended, or 0."""
        if self.error is None or _thread.get_ident() != self._main:
            return 0
        number = self._channel()
        self._tripped = number > 0
        return number

    def _place(self, frame: FrameType | None) -> tuple[bool, bool, bool]:
        """Whether a frame is in a call, whether that catches exceptions there, and whether it
        waits.
        """
        guarded = waits = False
        while frame is not None:
            if frame.f_code in self.code:
                return True, guarded, waits
            guarded = guarded or frame.f_code in self.guarded
            waits = waits or frame.f_code in self.waits
            frame = frame.f_back
        return False, False, False

    def _cancel(self, error: BaseException, waits: bool) -> None:
        for client in tuple(self._clients):
            if waits or isinstance(error, KeyboardInterrupt):
                client.interrupt()
            else:
                client.interrupt_unwanted()

    def _keep(self, error: BaseException, number: int) -> None:
        self._number, self._since, self._inside = number, monotonic(), False
        self.error = error
        self._waiting.put(None)

    def _channel(self) -> int:
        """Return a signal with a handler of ours: that of the error, if it has it still."""
        for number in (self._number, *_SIGNALS):
            if number and isinstance(_getsignal(number), _Handler):
                return number
        self.error = None  # nobody is left to raise it
        return 0

    def _again(self) -> None:
        while True:
            self._waiting.get()
            while self.error is not None:
                sleep(_SOON)
                if self.error is not None and (number := self._channel()):
                    self._tripped = True
                    _thread.interrupt_main(signal.Signals(number))


def watch(calls: Calls, clients: Iterable[_Client]) -> Callable[[], None]:
    """Let what handlers of signals raise end runs of clients, and come to the caller.

    Ctrl-C ends all runs. What another handler raises ends those that somebody waits for, and those
    whose results nobody has; the results of others may be wanted, such as by a program that is told
    to save its state and leave.

    Returns
    -------
    unwatch
        Puts the handlers back.
    """
    calls.start(clients)
    calls.adopt()
    return calls.stop
