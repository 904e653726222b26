"""Programs in a device's memory: as many as fit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from celosia.compiled.artifact import Compiled
from celosia.compiled.executable import Executable
from celosia.driver import Device, OutOfDeviceMemory

__all__ = ["Loaded"]


class Loaded:
    """A cache of executables on one device, which is opened when the first is asked for.

    Where a program does not fit, those that have not been used for longest make room. Not safe for
    use from several threads at once, but for ``in`` and ``opened``.

    Parameters
    ----------
    make
        Opens the device.
    owner
        Whether the device is closed with this; else only the programs are taken from it.
    leaving
        Called with an executable that can still be used, before its memory is given back.
    """

    def __init__(self, make: Callable[[], Device], *, owner: bool = True,
                 leaving: Callable[[Executable], None] | None = None):
        self._make, self._owner, self._leaving = make, owner, leaving
        self._device: Device | None = None
        self._programs: OrderedDict[Compiled, Executable] = OrderedDict()  # last used at the end

    def __len__(self) -> int:
        return len(self._programs)

    def __contains__(self, compiled: Compiled) -> bool:
        return compiled in self._programs

    @property
    def opened(self) -> Device | None:
        """The device, if it has been opened."""
        return self._device

    @property
    def device(self) -> Device:
        """The device, opened if it is not."""
        if self._device is None or self._device.closed:
            self._device = self._make()
        return self._device

    def get(self, compiled: Compiled) -> Executable:
        """Return a program on the device, loaded if it is not, or not any longer.

        Raises
        ------
        OutOfDeviceMemory
            If it does not fit though it is the only one; as of `Compiled.load`.
        DeviceError, ValueError
            As of what opens the device, and of `Compiled.load`.
        """
        device = self.device
        found = self._programs.get(compiled)
        if found is not None:
            if found.device is device and found.usable:
                self._programs.move_to_end(compiled)
                return found
            del self._programs[compiled]
        while True:
            try:
                made = self._programs[compiled] = compiled.load(device)
                return made
            except OutOfDeviceMemory:
                if not self._programs:
                    raise
                self.forget(next(iter(self._programs)))

    def forget(self, compiled: Compiled) -> None:
        """Take a program out of the device's memory, if it is there."""
        executable = self._programs.pop(compiled, None)
        if executable is not None and executable.usable:
            if self._leaving is not None:
                self._leaving(executable)
            executable.free()

    def close(self) -> None:
        """Close the device, or take the programs out of it; the next `get` opens it again."""
        device, self._device = self._device, None
        programs, self._programs = self._programs, OrderedDict()
        if device is not None and self._owner:
            device.close()
        for executable in programs.values():
            if executable.usable:
                executable.free()
