"""A compiled program in a device's memory."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from numpy.typing import NDArray

from celosia.compiled.arguments import check_count, decode, describe, encode, host_array
from celosia.compiled.description import Description
from celosia.compiled.parts import Argument
from celosia.driver import Device, DeviceArray, OutOfDeviceMemory, StaleHandle
from celosia.driver.device import DEFAULT_TIMEOUT

__all__ = ["Executable", "Resident"]


class Resident:
    """An array of a graph's type that is in a device's memory; what `Executable.run` returns.

    It may be an argument of any executable of the same device; where it is in the right place
    already, as a training step's state is, nothing is copied. A result is there until its
    executable runs again; `keep` makes a copy that stays. `numpy.asarray` brings it to the host.

    Attributes
    ----------
    type, shape, dtype
        As the graph has it; ``dtype`` is NumPy's.
    handle
        As the chip has it.
    """

    def __init__(self, argument: Argument, handle: DeviceArray, owner: Executable | None):
        self._argument, self._owner = argument, owner
        self._run = owner.runs if owner else 0
        self.type, self.handle = argument.type, handle
        self.shape, self.dtype = argument.type.shape, argument.type.dtype.numpy

    def __repr__(self) -> str:
        return f"<{self._label()} {describe(self.dtype, self.shape)} on the device>"

    def _label(self) -> str:
        return self._argument.label or self._argument.name

    def check(self) -> None:
        """Raise StaleHandle if another run has taken the place of this one's results."""
        if self._owner and self._owner.runs != self._run:
            raise StaleHandle(f"{self._label()} of {self._owner.compiled.name} must be used before "
                              f"the next run, or kept: it has been overwritten")
        self.handle.check()

    def numpy(self) -> NDArray[Any]:
        """Return a copy on the host."""
        self.check()
        return decode(self.handle.numpy(), self.type)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("copy must not be False: the array is on a device")
        return self.numpy().astype(dtype or self.dtype, copy=False)

    def keep(self) -> Resident:
        """Return a copy on the device that no run overwrites, until it is freed."""
        self.check()
        device = self.handle._device
        return Resident(self._argument, device.put(device.get(self.handle)), None)

    def free(self) -> None:
        """Give the memory of a copy back; ValueError if this is a program's own."""
        self.handle.free()


class Executable:
    """A compiled program in a device's memory; made by `celosia.compiled.Compiled.load`.

    Code, constants and places stay from call to call. A context manager that frees itself.

    Attributes
    ----------
    compiled, device
        What was loaded, and where.
    counters
        Performance counters of the last run, see `celosia.arch.registers.counter_names`.
    runs
        Runs that were begun.

    Raises
    ------
    ValueError
        If the program is for another chip than the device's.
    OutOfDeviceMemory
        If it does not fit; the message names the largest tensors.
    """

    def __init__(self, compiled: Description, device: Device):
        compiled.check_config(device.config)
        self.compiled, self.device = compiled, device
        self.counters: Mapping[str, int] = {}
        self.runs = 0
        try:
            self._loaded = device.load(compiled.program)
        except OutOfDeviceMemory as error:
            raise OutOfDeviceMemory(f"{error}\n  {compiled.largest_tensors()}") from None
        self._inputs = [self._loaded.array(each.name) for each in compiled.inputs]
        self._outputs = [self._loaded.array(each.name) for each in compiled.outputs]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if self.usable:
            self.free()

    def __repr__(self) -> str:
        return f"<{self.compiled.name} on {self.device.config.name}>"

    @property
    def usable(self) -> bool:
        """Whether it is in the memory of an open device still."""
        try:
            self._loaded.check()
        except StaleHandle:
            return False
        return True

    @property
    def cycles(self) -> int:
        """Clock cycles of the last run."""
        return self.counters["cycles"]

    def __call__(self, *args: Any, timeout: int | None = DEFAULT_TIMEOUT) -> tuple[NDArray, ...]:
        """Run on arguments and return the results on the host; parameters as of `run`."""
        return tuple(each.numpy() for each in self.run(*args, timeout=timeout))

    def run(self, *args: Any, timeout: int | None = DEFAULT_TIMEOUT) -> tuple[Resident, ...]:
        """Run on arguments and leave the results on the device.

        Parameters
        ----------
        args
            One for each parameter: arrays of NumPy or what NumPy makes them of, of exactly its
            type; numbers for scalars; or `Resident` arrays.
        timeout
            Cycles that the run may take; None: no limit.

        Raises
        ------
        ValueError
            If number, shapes or types of arguments are wrong; nothing has been done then.
        ChipFault, RunTimeout
            As of `celosia.Device.run`; the executable can be used again.
        StaleHandle
            If an argument is not on the device any longer, or the executable was freed.
        """
        compiled = self.compiled
        self._loaded.check()
        check_count(compiled.name, compiled.inputs, len(args))
        # All of them before the first is written: one may be where another one goes.
        contents = [self._content(i, each) for i, each in enumerate(args)]
        self.runs += 1  # results of the run before may lie where arguments go
        for handle, content in zip(self._inputs, contents, strict=True):
            if content is not None:
                self.device.put(content, into=handle)
        result = self.device.run(self._loaded, outputs=(), timeout=timeout)
        self.counters = result.counters
        return tuple(Resident(argument, handle, self) for argument, handle
                     in zip(compiled.outputs, self._outputs, strict=True))

    def _content(self, index: int, value: Any) -> NDArray[Any] | None:
        """Return what to write into a buffer, None if it is there."""
        argument, handle = self.compiled.inputs[index], self._inputs[index]
        if not isinstance(value, Resident) or value.handle._device is not self.device:
            array = host_array(self.compiled.name, index, argument, value)
            return encode(array, handle.dtype, handle.shape)
        value.check()
        if value.type != argument.type:
            raise ValueError(
                f"argument {index} of {self.compiled.name}, {argument.label or argument.name}, "
                f"must be {describe(argument.type.dtype.numpy, argument.type.shape)}, "
                f"not {describe(value.dtype, value.shape)}")
        if value.handle.address == handle.address:
            return None
        return self.device.get(value.handle).reshape(handle.shape)

    def free(self) -> None:
        """Give the device's memory back; StaleHandle if that was done before."""
        self._loaded.free()
