"""Buffers of programs that are made by hand."""

from __future__ import annotations

from numpy.typing import NDArray

from celosia.arch.words import ceil_div
from celosia.program import DTYPES, Buffer

__all__ = ["Arena"]

#: Buffers begin at multiples of this: rows of the widest bus do not straddle beats.
ALIGNMENT = 128


class Arena:
    """Buffers of a program, one after another."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self.constants: dict[str, NDArray] = {}
        self.size = 0

    def add(self, name: str, shape: tuple[int, ...], dtype: str, kind: str) -> int:
        """Place a buffer; return its offset."""
        buffer = Buffer(name, self.size, shape, dtype, kind)
        self.buffers.append(buffer)
        self.size += ceil_div(buffer.nbytes, ALIGNMENT) * ALIGNMENT
        return buffer.offset

    def constant(self, name: str, value: NDArray) -> int:
        """Place a constant; return its offset."""
        dtype = next(key for key, known in DTYPES.items() if known == value.dtype)
        self.constants[name] = value
        return self.add(name, value.shape, dtype, "constant")
