"""External memory as the model sees it: sparse pages in a 4 GiB address space."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from celosia.arch.words import ceil_div

__all__ = ["Memory"]

ByteArray = NDArray[np.uint8]

#: Pages are made when they are written first; NumPy's zeros cost nothing until touched.
_PAGE_BITS = 22
_PAGE = 1 << _PAGE_BITS
_SPACE = 1 << 32


class Memory:
    """Byte memory, zero where it was never written.

    Parameters
    ----------
    size
        Bytes from address 0 on that the memory answers for; beyond, every access is a bus error.

    Raises
    ------
    ValueError
        From ``read`` and ``write``, if a range leaves the address space of 4 GiB.
    """

    def __init__(self, size: int = _SPACE):
        if not 0 < size <= _SPACE:
            raise ValueError(f"memory size must be from 1 to {_SPACE}, not {size!r}")
        self.size = size
        self._pages: dict[int, ByteArray] = {}
        self._errors: list[tuple[int, int]] = []

    def fail(self, addr: int, length: int) -> None:
        """Answer every access that touches ``length`` bytes from ``addr`` on with a bus error."""
        self._errors.append((addr, addr + length - 1))

    def heal(self) -> None:
        """Take back every :meth:`fail`."""
        self._errors.clear()

    @property
    def sound(self) -> bool:
        """Whether no :meth:`fail` is in force."""
        return not self._errors

    def pages(self) -> dict[int, ByteArray]:
        """Return a copy of all that was ever written, for `restore`."""
        return {number: page.copy() for number, page in self._pages.items()}

    def restore(self, pages: Mapping[int, ByteArray]) -> None:
        """Have every byte as it was when `pages` was called; views stay good."""
        for number, page in self._pages.items():
            page[...] = pages.get(number, 0)

    def answers(self, addr: int, rows: int, length: int, pitch: int) -> bool:
        """Whether ``rows`` pieces of ``length`` bytes, ``pitch`` apart, meet no bus error."""
        if addr + (rows - 1) * pitch + length > self.size:
            return False
        for base, last in self._errors:
            if pitch == 0:
                row = 0
            else:  # the first row that ends at or behind the start of the range
                row = min(max(ceil_div(base - addr - length + 1, pitch), 0), rows - 1)
            start = addr + row * pitch
            if start <= last and start + length > base:
                return False
        return True

    def read(self, addr: int, length: int) -> ByteArray:
        """Copy ``length`` bytes from ``addr`` on."""
        return self.read_rows(addr, 1, length, 0)[0]

    def write(self, addr: int, data: bytes | bytearray | memoryview | ByteArray) -> None:
        """Write ``data``, taken as bytes, from ``addr`` on."""
        if isinstance(data, np.ndarray):
            row = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        else:
            row = np.frombuffer(data, np.uint8)
        self.write_rows(addr, row[np.newaxis], 0)

    def read_rows(self, addr: int, rows: int, length: int, pitch: int) -> ByteArray:
        """Copy ``rows`` pieces of ``length`` bytes, ``pitch`` apart; shape (rows, length)."""
        view = self.view(addr, rows, length, pitch)
        if view is not None:
            return view.copy()
        out = np.empty((rows, length), np.uint8)
        for row in range(rows):
            done = 0
            while done < length:
                page, offset, count = self._piece(addr + row * pitch + done, length - done)
                out[row, done:done + count] = page[offset:offset + count]
                done += count
        return out

    def write_rows(self, addr: int, data: ByteArray, pitch: int) -> None:
        """Write the rows of ``data``, shape (rows, length), ``pitch`` apart, in order."""
        rows, length = data.shape
        if rows == 1 or pitch >= length:
            view = self.view(addr, rows, length, pitch)
            if view is not None:
                view[...] = data
                return
        for row in range(rows):
            done = 0
            while done < length:
                page, offset, count = self._piece(addr + row * pitch + done, length - done)
                page[offset:offset + count] = data[row, done:done + count]
                done += count

    def view(self, addr: int, rows: int, length: int, pitch: int) -> ByteArray | None:
        """Return pieces as a view that stays good, or None where they lie in several pages."""
        if length == 0 or rows == 0:
            return np.empty((rows, length), np.uint8)
        span = (rows - 1) * pitch + length
        if addr < 0 or addr + span > _SPACE:
            raise ValueError(f"address range must lie in 0..{_SPACE - 1:#x}, "
                             f"not {addr:#x}..{addr + span - 1:#x}")
        page, offset, count = self._piece(addr, span)
        if count < span:
            return None
        return np.ndarray((rows, length), np.uint8, page, offset, (pitch, 1))

    def together(self, addr: int, rows: int, length: int, pitch: int) -> int:
        """Return how many of the first pieces :meth:`view` gives at once."""
        room = _PAGE - (addr & _PAGE - 1) - length
        if room < 0:
            return 0
        return min(rows, room // pitch + 1) if pitch else rows

    def _piece(self, addr: int, length: int) -> tuple[ByteArray, int, int]:
        """Page and offset of ``addr``, and how many of ``length`` bytes the page holds."""
        number, offset = addr >> _PAGE_BITS, addr & _PAGE - 1
        page = self._pages.get(number)
        if page is None:
            page = self._pages[number] = np.zeros(_PAGE, np.uint8)
        return page, offset, min(length, _PAGE - offset)
