"""The driver: arrays and programs on a chip, over any transport."""

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
