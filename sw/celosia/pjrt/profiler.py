"""The profiler of PJRT: what ``jax.profiler.trace`` asks of a plugin.

Eight functions that JAX calls, hung on the table as an extension, ``PJRT_Profiler_Extension`` of
XLA's pjrt_c_api_profiler_extension.h. While a session is under way each chip notes its runs; the
session's end makes planes of them (`celosia.profile.exports.xplane`).
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

from celosia.pjrt.hlo import hlo_of
from celosia.pjrt.programs import DeviceProgram

__all__ = ["Profiler", "extension", "note", "now"]

#: Runs that a session keeps; of a longer one, the first.
_MOST_RUNS = 100_000
#: What viewers are told.
_SAYS = ("Celosia: times of a chip are its cycles at 100 MHz; those of a run were counted, those "
         "of its operations are the cycle model's")
#: Of the extension, and of its functions: what jaxlib 0.8 to 0.12 take.
_EXTENSION_SIZE, _PROFILER, _API_SIZE = 40, 1, 80
_Word = ctypes.c_size_t
_Function = ctypes.CFUNCTYPE(_Word, _Word)


class Profiler:
    """A session: the runs of all chips from its start to its stop."""

    def __init__(self) -> None:
        self._runs: list[tuple[DeviceProgram, int, int, int]] = []
        self._lost = 0
        self._lock = threading.Lock()
        self.data = b""

    def start(self) -> None:
        """Begin to note runs."""
        _sessions.append(self)

    def stop(self) -> None:
        """Note no more."""
        if self in _sessions:
            _sessions.remove(self)

    def note(self, program: DeviceProgram, begin: int, device: int, cycles: int) -> None:
        """Note a run."""
        with self._lock:
            if len(self._runs) < _MOST_RUNS:
                self._runs.append((program, begin, device, cycles))
            else:
                self._lost += 1

    def collect(self) -> bytes:
        """Return the runs as an XSpace."""
        from celosia.profile import Profile
        from celosia.profile.exports.xplane import DeviceRun, xspace
        if not self._runs:
            return b""
        profiles: dict[int, Profile] = {}
        programs: dict[int, DeviceProgram] = {}
        runs = []
        for program, begin, device, cycles in sorted(self._runs, key=lambda run: run[1]):
            if id(program) not in profiles:
                made = profiles[id(program)] = Profile(program.compiled, program.spmd.graph)
                programs[id(made)] = program
            runs.append(DeviceRun(profiles[id(program)], begin, device, cycles))
        says = [_SAYS]
        if self._lost:
            says.append(f"Celosia: {self._lost:,} more runs were not kept")
        return xspace(runs, modules=lambda profile: hlo_of(programs[id(profile)]), warnings=says)


_sessions: list[Profiler] = []
#: Sessions that the other side has, by the numbers that it has for them; and what must stay.
_handles: dict[int, Profiler] = {}
_kept: list[Any] = []
_failure = ""


def note(program: DeviceProgram, begin: int, device: int, cycles: int) -> None:
    """Note a run in the sessions that are under way.

    Parameters
    ----------
    program
        What ran.
    begin
        When, in nanoseconds since 1970.
    device, cycles
        On which chip; how many it had.
    """
    for session in tuple(_sessions):
        session.note(program, begin, device, cycles)


def now() -> int | None:
    """Return the time, in nanoseconds since 1970, if somebody wants to know; else None."""
    return time.time_ns() if _sessions else None


def _word(address: int, index: int) -> Any:
    """Return a member of a structure of words. Their sizes, which come first, are not set."""
    return _Word.from_address(address + 8 * index)


def _create(address: int) -> None:
    profiler = Profiler()
    number = id(profiler)
    _handles[number] = profiler
    _word(address, 3).value = number


def _destroy(address: int) -> None:
    profiler = _handles.pop(_word(address, 1).value, None)
    if profiler is not None:
        profiler.stop()


def _start(address: int) -> None:
    _handles[_word(address, 1).value].start()


def _stop(address: int) -> None:
    _handles[_word(address, 1).value].stop()


def _collect(address: int) -> None:
    profiler = _handles[_word(address, 1).value]
    profiler.data = profiler.data or profiler.collect()
    data = profiler.data
    if place := _word(address, 2).value:
        ctypes.memmove(place, data, len(data))
    else:
        kept = ctypes.create_string_buffer(data, len(data) + 1)
        _kept[1:] = [kept]  # until the next one is asked for
        _word(address, 2).value = ctypes.addressof(kept)
    _word(address, 3).value = len(data)


def _called(function: Callable[[int], None]) -> Any:
    """Return a function for the other side: an error of it is kept, for `_message`."""
    def call(address: int) -> int:
        global _failure
        try:
            function(address)
        except BaseException as error:
            _failure = f"celosia: {type(error).__name__}: {error}"
            return 1
        return 0
    return _Function(call)


def _message(address: int) -> None:
    text = ctypes.create_string_buffer(_failure.encode())
    _kept[2:] = [text]
    _word(address, 3).value = ctypes.addressof(text)
    _word(address, 4).value = len(text.raw) - 1


def _code(address: int) -> None:
    ctypes.c_int32.from_address(address + 24).value = 13  # INTERNAL


def extension() -> int:
    """Return the address of the extension; it stays as long as the process does."""
    functions = [_called(each) for each in (
        lambda _: None, _message, _code, _create, _destroy, _start, _stop, _collect)]
    table = (_Word * (2 + len(functions)))(_API_SIZE, 0, *(
        ctypes.cast(each, ctypes.c_void_p).value or 0 for each in functions))
    made = (_Word * (_EXTENSION_SIZE // 8))(_EXTENSION_SIZE, _PROFILER, 0,
                                            ctypes.addressof(table), 0)
    _kept[:1] = [(functions, table, made)]
    return ctypes.addressof(made)
