"""Objects that the other side of the interface knows by a number in place of a pointer."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

from celosia.pjrt.native import STAYS, Native, keep, native

__all__ = ["HANDLES", "Handles", "Text", "bytes_at", "integers_at", "pointers"]


class Handles:
    """Objects by number; each number stands for one reference to an object.

    A number is the address of a cell of memory, in which C says that the reference is gone; see
    native.c. Safe among threads.

    Parameters
    ----------
    library
        Who says so; that of the process.
    """

    _MANY = 1024

    def __init__(self, library: Native | None = None):
        self._library = library
        self._objects: dict[int, Any] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        self.sweep()
        return len(self._objects)

    def add(self, thing: Any) -> int:
        """Return a new number for an object."""
        self.sweep()
        try:
            number = self._free.pop()
        except IndexError:
            cells = (ctypes.c_size_t * self._MANY)()
            keep(cells)
            first, size = ctypes.addressof(cells), ctypes.sizeof(ctypes.c_size_t)
            number, *more = range(first, first + self._MANY * size, size)
            self._free += more
        self._objects[number] = thing
        return number

    def add_for_good(self, thing: Any) -> int:
        """Return a number that no destroying ends."""
        number = self.add(thing)
        ctypes.c_size_t.from_address(number).value = STAYS
        return number

    def __getitem__(self, number: int) -> Any:
        return self._objects[number]

    def drop(self, number: int) -> Any:
        """Forget a number and return the object; None if there is none."""
        if number not in self._objects:
            return None
        thing = self._objects.pop(number)
        self._free.append(number)
        return thing

    def sweep(self) -> None:
        """Forget what was destroyed."""
        if self._library is None:
            self._library = native()
        for number in self._library.take():
            self.drop(number)


class Text:
    """A text in memory that stays where it is as long as this object."""

    def __init__(self, text: str | bytes):
        self._bytes = text.encode() if isinstance(text, str) else text
        self._memory = ctypes.create_string_buffer(self._bytes)
        self.address, self.size = ctypes.addressof(self._memory), len(self._bytes)


def pointers(numbers: Iterable[int]) -> Any:
    """Return an array of pointers in memory; at least one, so that it has an address."""
    found = list(numbers)
    return (ctypes.c_size_t * max(len(found), 1))(*found)


def integers_at(address: int, count: int) -> Sequence[int]:
    """Return 64-bit integers that a caller passes."""
    return (ctypes.c_int64 * count).from_address(address)[:] if count else ()


def bytes_at(address: int, size: int) -> bytes:
    """Return bytes that a caller passes."""
    return ctypes.string_at(address, size) if size else b""


#: All objects of this process that are known across the interface.
HANDLES = Handles()
