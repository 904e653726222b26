"""Arrays of JAX: on the host, on a chip, or not there yet."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.compiled import Executable, Resident
from celosia.pjrt.errors import as_error
from celosia.pjrt.events import Event
from celosia.pjrt.structs import ElementType

__all__ = ["PjrtBuffer", "BufferOwner"]


class BufferOwner(Protocol):
    """The device whose an array is; see `celosia.pjrt.chips.PjrtChip`."""

    handle: int
    memory_handle: int

    def submit(self, work: Callable[[], None]) -> None:
        """Give the device work, which must not raise."""
        ...


class PjrtBuffer:
    """An array of one device.

    ``host`` and ``resident`` belong to the thread of its chip once work with it has been given to
    the chip; both are None before ``ready``. Where both are there they are equal.

    Attributes
    ----------
    chip, shape, dtype
        Where it is and what.
    number
        Of the type of its elements.
    ready
        That its contents are there, or will never be.
    host
        Contents on the host, never changed.
    resident
        Contents in the chip's memory: where a program left them.
    asked
        Whether somebody has asked for its contents, or when they are there.
    deleted
        Whether it must not be used any more; work that was given before may.
    donated
        Whether a program that it was given to may write over it.
    pointed
        Whether somebody has asked where its contents are on the host.
    dims
        What `celosia.pjrt.calls_buffers` keeps of its shape.
    """

    __slots__ = ("__weakref__", "asked", "chip", "deleted", "dims", "donated", "dtype", "host",
                 "nbytes", "number", "pointed", "ready", "resident", "shape")

    def __init__(self, chip: BufferOwner, shape: tuple[int, ...], dtype: np.dtype):
        self.chip, self.shape, self.dtype = chip, shape, dtype
        self.number = ElementType.of(dtype)
        self.nbytes = math.prod(shape) * dtype.itemsize
        self.ready = Event()
        self.host: NDArray[Any] | None = None
        self.resident: Resident | None = None
        self.asked = self.deleted = self.donated = self.pointed = False
        self.dims: Any = None

    @classmethod
    def of(cls, chip: BufferOwner, array: NDArray[Any]) -> PjrtBuffer:
        """Return a buffer with contents; the array must not change."""
        made = cls(chip, array.shape, array.dtype)
        made.host = array
        made.ready.set()
        return made

    def argument(self, executable: Executable, index: int) -> NDArray[Any] | Resident:
        """Return what to give to a program: the place on the chip, if it gets there from it."""
        resident = self.resident
        if resident is not None and executable.takes(index, resident):
            return resident
        return _carried(self.fetch())

    def fetch(self) -> NDArray[Any]:
        """Return the contents on the host. By the thread of the chip, when it is ready."""
        if self.host is None:
            assert self.resident is not None, "a buffer that is ready has contents"
            self.host = _meant(self.resident.numpy(), self.dtype)
        return self.host

    def deliver(self, event: Event, take: Callable[[NDArray[Any]], object]) -> None:
        """Give the contents to a function when they are on the host, then let the event happen.

        In any thread: now, or in that of the chip.
        """
        self.asked = True

        def work() -> None:
            self.ready.wait()
            error = self.ready.error
            if error is None:
                try:
                    take(self.fetch())
                except BaseException as failure:
                    error = as_error(failure)
            event.set(error)

        if self.ready.done and (self.host is not None or self.ready.error):
            work()
        else:
            self.chip.submit(work)

    def read(self) -> NDArray[Any]:
        """Return the contents, never to be changed; wait for them, and raise what went wrong."""
        event, found = Event(), []
        self.deliver(event, found.append)
        event.wait()
        if event.error is not None:
            raise event.error
        return found[0]

    def address(self) -> int:
        """Return where the contents are on the host, for nobody else's use, as long as this is."""
        if not self.pointed:
            # Copies of an array, and what a program passes on, have contents together.
            self.read()
            self.host, self.pointed = np.array(self.host, order="C"), True
        assert self.host is not None
        return self.host.ctypes.data

    def leave(self) -> None:
        """Be on the host only: the place on the chip is about to be used for something else."""
        if self.resident is not None:
            if not self.donated:
                self.fetch()
            self.resident = None


def _carried(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as programs have it: see `celosia.frontend.stablehlo.small`."""
    name = array.dtype.name
    if name.startswith(("float8", "float4")):
        return array.view(np.uint8)
    if name in ("int2", "int4"):
        return array.astype(np.int8)
    return array.astype(np.uint8) if name in ("uint2", "uint4") else array


def _meant(array: NDArray[Any], dtype: np.dtype) -> NDArray[Any]:
    """Return an array that a program has made in the type that JAX has for it."""
    if array.dtype == dtype:
        return array
    return array.astype(dtype) if "int" in dtype.name else array.view(dtype)
