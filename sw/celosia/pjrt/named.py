"""Values with names, as they go over the interface: an array of ``PJRT_NamedValue``."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping
from typing import Any

from celosia.pjrt.handles import Text
from celosia.pjrt.structs import structure

__all__ = ["NamedValues"]

_NAMED = structure("NamedValue")
#: Types of values.
_INT64, _INT64S, _FLOAT, _BOOL = 1, 2, 3, 4


class NamedValues:
    """Values in memory, which lasts as long as this.

    Parameters
    ----------
    values
        Integers, lists of them, floats, which get 32 bits, and booleans.

    Attributes
    ----------
    address, count
        Where they are, and how many.
    """

    def __init__(self, values: Mapping[str, int | float | bool | list[int]]):
        self._kept: list[Any] = []
        self.count = len(values)
        self._memory = (_NAMED * max(self.count, 1))(
            *(self._made(name, value) for name, value in values.items()))
        self.address = ctypes.addressof(self._memory)

    def _made(self, name: str, value: int | float | bool | list[int]) -> Any:
        text = Text(name)
        self._kept.append(text)
        size = 1
        if isinstance(value, bool):
            type, word = _BOOL, int(value)
        elif isinstance(value, int):
            type, word = _INT64, value
        elif isinstance(value, float):
            type, word = _FLOAT, int.from_bytes(struct.pack("<f", value), "little")
        else:
            array = (ctypes.c_int64 * len(value))(*value)
            self._kept.append(array)
            type, word, size = _INT64S, ctypes.addressof(array), len(value)
        return _NAMED(ctypes.sizeof(_NAMED), 0, text.address, text.size, type, word, size)
