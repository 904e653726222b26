"""The table of functions that a PJRT plugin is, and the way into Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from celosia.pjrt.errors import ErrorCode, PjrtError, as_error
from celosia.pjrt.events import Event
from celosia.pjrt.handles import HANDLES, Text
from celosia.pjrt.interrupts import Calls
from celosia.pjrt.native import keep, native
from celosia.pjrt.structs import ENTRIES, MAJOR, MINOR, Api, arguments

__all__ = ["CALLS", "DESTROYING", "FUNCTIONS", "Failure", "entry", "fail", "make_table"]

#: Functions that destroy an object, which is their first argument; see native.c.
DESTROYING = ("Error_Destroy", "Event_Destroy", "Executable_Destroy", "LoadedExecutable_Destroy",
              "Buffer_Destroy", "ExecuteContext_Destroy")
#: What is implemented, by the names of `ENTRIES`.
FUNCTIONS: dict[str, Callable[[Any], None]] = {}
CALLS = Calls()


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
        raise PjrtError(ErrorCode.UNIMPLEMENTED, f"PJRT_{name} is not implemented by celosia")
    return function


def _call(name: str) -> Callable[[int], tuple[int, int]]:
    """Return what C calls, see `celosia.pjrt.native.Native.functions`."""
    function = FUNCTIONS.get(name) or _missing(name)
    at = arguments(name).from_address

    def call(address: int) -> tuple[int, int]:
        try:
            _attempt(function, at, address)
            result = 0
        except BaseException as error:
            result = fail(error)
        return result, CALLS.due()

    CALLS.code.add(call.__code__)
    return call


def _attempt(function: Callable[[Any], None], at: Callable[[int], Any], address: int) -> None:
    function(at(address))


CALLS.guarded.add(_attempt.__code__)
CALLS.waits.add(Event.wait.__code__)


def make_table() -> Api:
    """Return the table; what is not implemented says so when it is called."""
    table = Api(struct_size=ctypes.sizeof(Api), version_size=40, major=MAJOR, minor=MINOR)
    table.version_size = Api.minor.offset + 4 - Api.version_size.offset
    for name in DESTROYING:
        setattr(table, name, native().destroy)
    names = [name for name in ENTRIES if name not in DESTROYING]
    error = HANDLES.add_for_good(Failure(PjrtError(ErrorCode.CANCELLED, "interrupted")))
    places = native().functions([_call(name) for name in names], CALLS.adopt, error)
    for name, place in zip(names, places, strict=True):
        setattr(table, name, place)
    keep(table)
    return table
