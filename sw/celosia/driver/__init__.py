"""The driver: arrays and programs on a chip, over any transport.

A name is imported when it is first used: who asks for `celosia.driver.backends` may want no chip.
"""

from typing import TYPE_CHECKING

from celosia.arch.names import on_demand

if TYPE_CHECKING:
    from celosia.driver.backends import open
    from celosia.driver.device import Device
    from celosia.driver.errors import (
        BusError,
        ChipFault,
        DeviceError,
        OutOfDeviceMemory,
        RunTimeout,
        StaleHandle,
    )
    from celosia.driver.handles import DeviceArray, LoadedProgram
    from celosia.driver.outcome import RunResult
    from celosia.driver.transport import Transport

__all__ = ["BusError", "ChipFault", "Device", "DeviceArray", "DeviceError", "LoadedProgram",
           "OutOfDeviceMemory", "RunResult", "RunTimeout", "StaleHandle", "Transport", "open"]

#: Module to the names above that it has.
_NAMES = {
    "backends": ("open",),
    "device": ("Device",),
    "errors": ("BusError", "ChipFault", "DeviceError", "OutOfDeviceMemory", "RunTimeout",
               "StaleHandle"),
    "handles": ("DeviceArray", "LoadedProgram"),
    "outcome": ("RunResult",),
    "transport": ("Transport",),
}

__getattr__, __dir__ = on_demand(__name__, _NAMES)
