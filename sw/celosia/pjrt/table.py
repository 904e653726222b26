"""The table of functions that a PJRT plugin is, and the way into Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from celosia.pjrt.errors import Code, PjrtError, as_error
from celosia.pjrt.handles import HANDLES, Text
from celosia.pjrt.interrupts import Calls
from celosia.pjrt.native import keep
from celosia.pjrt.structs import ENTRIES, MAJOR, MINOR, Api, arguments

__all__ = ["CALLS", "DESTROYING", "FUNCTIONS", "Failure", "entry", "fail", "make_table", "silence"]

#: Every function takes the address of its arguments and returns that of an error, or 0.
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t)

#: Functions that destroy an object, which is their first argument; see `celosia.pjrt.native`.
DESTROYING = ("Error_Destroy", "Event_Destroy", "Executable_Destroy", "LoadedExecutable_Destroy",
              "Buffer_Destroy", "ExecuteContext_Destroy")
#: What is implemented, by the names of `ENTRIES`.
FUNCTIONS: dict[str, Callable[[Any], None]] = {}
CALLS = Calls()
#: Keeps what C has addresses of.
_alive: list[Any] = []


class Failure:
    """An error that the other side holds."""

    def __init__(self, error: PjrtError):
        self.code, self.text = int(error.code), Text(error.message)


def fail(error: BaseException | None) -> int:
    """Return a new handle of an error; 0 where there is none."""
    return HANDLES.add(Failure(as_error(error))) if error is not None else 0


def entry(*names: str) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Make a function that takes its arguments as a structure one of the table, or several."""
    def register(function: Callable[[Any], None]) -> Callable[[Any], None]:
        for name in names:
            assert name in ENTRIES, name
            FUNCTIONS[name] = function
        return function
    return register


def _missing(name: str) -> Callable[[Any], None]:
    def function(_: Any) -> None:
        raise PjrtError(Code.UNIMPLEMENTED, f"PJRT_{name} is not implemented by celosia")
    return function


def _callback(name: str) -> Any:
    function = FUNCTIONS.get(name) or _missing(name)
    at = arguments(name).from_address

    def call(address: int) -> int:
        try:
            _attempt(function, at, address)
        except KeyboardInterrupt as error:
            CALLS.later()  # the caller is to get it, too
            return fail(error)
        except BaseException as error:
            return fail(error)
        return 0

    CALLS.code.add(call.__code__)
    return _FUNCTION(call)


def _attempt(function: Callable[[Any], None], at: Callable[[int], Any], address: int) -> None:
    function(at(address))


CALLS.guarded.add(_attempt.__code__)


def make_table() -> Api:
    """Return the table; what is not implemented says so when it is called."""
    table = Api(struct_size=ctypes.sizeof(Api), version_size=40, major=MAJOR, minor=MINOR)
    table.version_size = Api.minor.offset + 4 - Api.version_size.offset
    for name in ENTRIES:
        if name in DESTROYING:
            setattr(table, name, HANDLES.graveyard.destroy)
            continue
        callback = _callback(name)
        _alive.append(callback)
        setattr(table, name, ctypes.cast(callback, ctypes.c_void_p).value)
    keep(table)
    return table


def silence(table: Api) -> None:
    """Let all functions do nothing, without Python: objects outlive the interpreter."""
    for name in ENTRIES:
        if name not in DESTROYING:
            setattr(table, name, HANDLES.graveyard.nothing)
