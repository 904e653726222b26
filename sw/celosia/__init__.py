"""Celosia: an open TPU. Compiler, driver and golden model."""

from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.driver import (
    BusError,
    ChipFault,
    Device,
    DeviceArray,
    DeviceError,
    LoadedProgram,
    OutOfDeviceMemory,
    RunResult,
    RunTimeout,
    StaleHandle,
    open,
)
from celosia.program import Buffer, Program

__all__ = [
    "PRESETS", "Buffer", "BusError", "ChipFault", "Device", "DeviceArray", "DeviceError",
    "LoadedProgram", "OutOfDeviceMemory", "Program", "RunResult", "RunTimeout", "StaleHandle",
    "TpuConfig", "open", "preset",
]
