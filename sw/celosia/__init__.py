"""Celosia: an open TPU. Compiler, driver and golden model.

A name is imported when it is first used, so that `celosia.arch` can be had alone: the chip and
whatever else needs the contract only.
"""

from typing import TYPE_CHECKING

from celosia.arch.names import on_demand

if TYPE_CHECKING:
    from celosia.arch.config import PRESETS, TpuConfig, preset
    from celosia.compiled import Compiled, Executable
    from celosia.compiler.api import compile
    from celosia.compiler.errors import CompileError
    from celosia.compiler.jit import jit
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
    from celosia.frontend import FrontendError
    from celosia.program import Buffer, Program

__all__ = [
    "PRESETS", "Buffer", "BusError", "ChipFault", "CompileError", "Compiled", "Device",
    "DeviceArray", "DeviceError", "Executable", "FrontendError", "LoadedProgram",
    "OutOfDeviceMemory", "Program", "RunResult", "RunTimeout", "StaleHandle", "TpuConfig",
    "compile", "jit", "open", "preset",
]
#: Module to the names above that it has.
_NAMES = {
    "arch.config": ("PRESETS", "TpuConfig", "preset"),
    "compiled": ("Compiled", "Executable"),
    "compiler.api": ("compile",),
    "compiler.errors": ("CompileError",),
    "compiler.jit": ("jit",),
    "driver": ("BusError", "ChipFault", "Device", "DeviceArray", "DeviceError", "LoadedProgram",
               "OutOfDeviceMemory", "RunResult", "RunTimeout", "StaleHandle", "open"),
    "frontend": ("FrontendError",),
    "program": ("Buffer", "Program"),
}

__getattr__, __dir__ = on_demand(__name__, _NAMES)
