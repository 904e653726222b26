"""What keeps a test from running for ever: a limit of the processor's time, and where testbenches
wait that have come to the end of theirs.
"""

import contextlib
import inspect
import linecache
import signal
from pathlib import Path

__all__ = ["WaitedTooLong", "processor_time", "where"]

_TESTS = Path(__file__).resolve().parents[1]
#: What is between a test and the clock, and says nothing of what it waits for.
_BETWEEN = {"engine.py", "simulation.py"}


class WaitedTooLong(AssertionError):
    """A test has not ended within its limit."""


@contextlib.contextmanager
def processor_time(seconds: float):
    """Raise `WaitedTooLong` where this process is when it has computed for ``seconds``.

    What it spends beside that (stopped, or beside others on a busy machine) is not counted.
    """
    def over(*_):
        raise WaitedTooLong(f"a test must end within {seconds:g} s of the processor, but this one "
                            "is here")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def where(coroutine) -> str:
    """Return where a testbench waits, and what called that: file, line, function, the loop around
    the line, and what it says.
    """
    found = []
    while inspect.iscoroutine(coroutine) and coroutine.cr_frame is not None:
        path, line = Path(coroutine.cr_code.co_filename), coroutine.cr_frame.f_lineno
        if path.is_relative_to(_TESTS) and path.name not in _BETWEEN:
            said = [*_loops(str(path), line, coroutine.cr_code.co_firstlineno),
                    linecache.getline(str(path), line).strip()]
            found.append(f"{path.relative_to(_TESTS.parent)}:{line}: {coroutine.__qualname__}: "
                         + " ".join(said))
        coroutine = coroutine.cr_await
    return "\n".join(found)


def _loops(path: str, line: int, first: int) -> list[str]:
    """Return the head of the innermost loop around a line of a function that begins at another."""
    def indent(text: str) -> int:
        return len(text) - len(text.lstrip())

    inside = indent(linecache.getline(path, line))
    for number in range(line - 1, first, -1):
        text = linecache.getline(path, number)
        if text.strip() and indent(text) < inside:
            inside = indent(text)
            if text.lstrip().startswith(("while ", "for ", "async for ")):
                return [text.strip()]
    return []
