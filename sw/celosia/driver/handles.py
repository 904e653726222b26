"""Handles of what lives in external memory: arrays and loaded programs."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.driver.errors import StaleHandle
from celosia.program import DTYPES, Program

__all__ = ["DeviceArray", "LoadedProgram", "Owner"]


class Owner(Protocol):
    """The device whose memory a handle is of; see `celosia.driver.device.Device`."""

    closed: bool
    epoch: int

    def put(self, array: ArrayLike, into: DeviceArray | None = None) -> DeviceArray:
        """Copy an array into external memory."""
        ...

    def get(self, handle: DeviceArray) -> NDArray:
        """Return a copy of an array on the host."""
        ...

    def free(self, handle: DeviceArray | LoadedProgram) -> None:
        """Give memory back."""
        ...


class _Handle:
    def __init__(self, device: Owner):
        self._device = device
        self._epoch = device.epoch
        self._freed = False

    def _what(self) -> str:
        raise NotImplementedError

    def check(self) -> None:
        """Raise StaleHandle unless the handle can be used."""
        if self._device.closed:
            raise StaleHandle(f"{self._what()} cannot be used: its device is closed")
        if self._epoch != self._device.epoch:
            raise StaleHandle(f"{self._what()} cannot be used: its device was reset after it was "
                              f"made")
        if self._freed:
            raise StaleHandle(f"{self._what()} cannot be used: it has been freed")


class DeviceArray(_Handle):
    """A row-major array in external memory; made by `Device.alloc` and `Device.put`.

    Attributes
    ----------
    address
        Its first byte.
    shape, dtype, nbytes
        As of a NumPy array.
    owner, name
        The program whose buffer it is and the buffer's name, or None and "".
    """

    def __init__(self, device: Owner, address: int, shape: tuple[int, ...], dtype: np.dtype,
                 owner: LoadedProgram | None = None, name: str = ""):
        super().__init__(device)
        self.address, self.shape, self.dtype = address, shape, dtype
        self.nbytes = math.prod(shape) * dtype.itemsize
        self.owner, self.name = owner, name

    def _what(self) -> str:
        label = f" {self.name}" if self.name else ""
        return f"array{label} {self.dtype}{list(self.shape)} at {self.address:#x}"

    def __repr__(self) -> str:
        return f"<{self._what()}>"

    def check(self) -> None:
        """Raise StaleHandle unless the handle, and the program that owns it, can be used."""
        super().check()
        if self.owner is not None:
            self.owner.check()

    def numpy(self) -> NDArray:
        """Return a copy on the host."""
        return self._device.get(self)

    def free(self) -> None:
        """Give the memory back; StaleHandle if that was done before."""
        self._device.free(self)


class LoadedProgram(_Handle):
    """A program whose code and constants are in external memory; made by `Device.load`.

    Attributes
    ----------
    program
        What was loaded.
    arena
        Address of its arena.
    code
        Address of its first instruction.
    shares
        Whether the arena is an array that was there before it, and stays.
    """

    def __init__(self, device: Owner, program: Program, arena: int, code: int,
                 shares: bool = False):
        super().__init__(device)
        self.program, self.arena, self.code, self.shares = program, arena, code, shares
        self.filled: set[str] = set()

    def _what(self) -> str:
        return f"program {self.program.name or 'without a name'}"

    def __repr__(self) -> str:
        return f"<{self._what()}: arena at {self.arena:#x}, code at {self.code:#x}>"

    def array(self, name: str) -> DeviceArray:
        """Return one of its buffers as an array, to be read and written between runs.

        Raises
        ------
        ValueError
            If the program has no such buffer.
        """
        self.check()
        buffer = self.program.buffer(name)
        return DeviceArray(self._device, self.arena + buffer.offset, buffer.shape,
                           DTYPES[buffer.dtype], self, name)

    def free(self) -> None:
        """Give the memory back; StaleHandle if that was done before."""
        self._device.free(self)
