"""Places in external memory."""

from celosia.arch.registers import PROGRAM_ALIGN
from celosia.arch.words import ceil_div
from celosia.driver.errors import OutOfDeviceMemory

__all__ = ["Allocator"]


class Allocator:
    """First fit in a range of addresses; holes that touch are merged.

    Every allocation begins at a multiple of `PROGRAM_ALIGN`: so may a program, and every bus
    transfers whole beats.

    Parameters
    ----------
    size
        Bytes; addresses are 0 .. size - 1. What does not fill a multiple of `PROGRAM_ALIGN` is
        unused.
    """

    def __init__(self, size: int):
        if size < PROGRAM_ALIGN:
            raise ValueError(f"size must be at least {PROGRAM_ALIGN}, not {size!r}")
        self.size = size // PROGRAM_ALIGN * PROGRAM_ALIGN
        self._holes: list[tuple[int, int]] = [(0, self.size)]  # (begin, end), ascending
        self._blocks: dict[int, int] = {}  # begin -> end

    @property
    def free_bytes(self) -> int:
        """Bytes in all holes together."""
        return sum(end - begin for begin, end in self._holes)

    @property
    def blocks(self) -> dict[int, int]:
        """First byte of each allocation, and the first byte after it."""
        return dict(self._blocks)

    def allocate(self, nbytes: int, *, high: bool = False) -> int:
        """Return the address of ``nbytes`` bytes: in the lowest hole that is large enough, or,
        with ``high``, at the end of the highest.

        Raises
        ------
        ValueError
            If ``nbytes`` is negative.
        OutOfDeviceMemory
            If no hole is large enough.
        """
        if nbytes < 0:
            raise ValueError(f"nbytes must be at least 0, not {nbytes!r}")
        size = max(ceil_div(nbytes, PROGRAM_ALIGN), 1) * PROGRAM_ALIGN
        order = range(len(self._holes) - 1, -1, -1) if high else range(len(self._holes))
        for i in order:
            begin, end = self._holes[i]
            if end - begin < size:
                continue
            at = end - size if high else begin
            rest = (begin, at) if high else (at + size, end)
            self._holes[i:i + 1] = [rest] if rest[0] < rest[1] else []
            self._blocks[at] = at + size
            return at
        largest = max((end - begin for begin, end in self._holes), default=0)
        raise OutOfDeviceMemory(
            f"device memory must have {size} bytes in one piece, not {largest} "
            f"({self.free_bytes} of {self.size} bytes are free in all)")

    def free(self, address: int) -> None:
        """Give back an allocation.

        Raises
        ------
        ValueError
            If nothing is allocated at the address: a double free, or an address inside a block.
        """
        end = self._blocks.pop(address, None)
        if end is None:
            raise ValueError(f"address must be that of an allocation, not {address:#x}")
        self._holes.append((address, end))
        self._holes.sort()
        merged: list[tuple[int, int]] = []
        for hole in self._holes:
            if merged and merged[-1][1] == hole[0]:
                merged[-1] = (merged[-1][0], hole[1])
            else:
                merged.append(hole)
        self._holes = merged
