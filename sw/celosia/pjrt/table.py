"""The table of functions that a PJRT plugin is, and the way into Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from celosia.pjrt.errors import Code, PjrtError, as_error
from celosia.pjrt.events import Event
from celosia.pjrt.handles import HANDLES, Text
from celosia.pjrt.interrupts import Calls
from celosia.pjrt.native import guards, keep
from celosia.pjrt.structs import ENTRIES, MAJOR, MINOR, Api, arguments

__all__ = ["CALLS", "DESTROYING", "FUNCTIONS", "Failure", "entry", "fail", "make_table", "silence"]

#: Every function takes the address of its arguments and returns that of an error, or 0; here it
#: takes that of where this goes, too, see `celosia.pjrt.native.guards`.
_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_size_t)
_Numbers = ctypes.c_size_t * 2
_BEGUN = 2

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

    def call(address: int, place: int) -> None:
        CALLS.adopt()  # what a handler raises before that is of no harm
        numbers = _Numbers.from_address(place)
        numbers[0] = _BEGUN
        try:
            _attempt(function, at, address)
            result = 0
        except BaseException as error:
            result = fail(error)
        numbers[1] = CALLS.due()
        numbers[0] = result

    CALLS.code.add(call.__code__)
    return _FUNCTION(call)


def _attempt(function: Callable[[Any], None], at: Callable[[int], Any], address: int) -> None:
    function(at(address))


CALLS.guarded.add(_attempt.__code__)
CALLS.waits.add(Event.wait.__code__)


def make_table() -> Api:
    """Return the table; what is not implemented says so when it is called."""
    table = Api(struct_size=ctypes.sizeof(Api), version_size=40, major=MAJOR, minor=MINOR)
    table.version_size = Api.minor.offset + 4 - Api.version_size.offset
    for name in DESTROYING:
        setattr(table, name, HANDLES.graveyard.destroy)
    names = [name for name in ENTRIES if name not in DESTROYING]
    callbacks = [_callback(name) for name in names]
    _alive.extend(callbacks)
    error = HANDLES.add_for_good(Failure(PjrtError(Code.CANCELLED, "interrupted")))
    places = guards([ctypes.cast(each, ctypes.c_void_p).value or 0 for each in callbacks], error)
    for name, place in zip(names, places, strict=True):
        setattr(table, name, place)
    keep(table)
    return table


def silence(table: Api) -> None:
    """Let all functions do nothing, without Python: objects outlive the interpreter."""
    for name in ENTRIES:
        if name not in DESTROYING:
            setattr(table, name, HANDLES.graveyard.nothing)
