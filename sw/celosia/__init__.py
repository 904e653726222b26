"""Celosia: an open TPU. Compiler, driver and golden model."""

from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.compiled import Compiled, Executable
from celosia.compiler.api import compile
from celosia.compiler.errors import CompileError
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
from celosia.jit import jit
from celosia.program import Buffer, Program

__all__ = [
    "PRESETS", "Buffer", "BusError", "ChipFault", "CompileError", "Compiled", "Device",
    "DeviceArray", "DeviceError", "Executable", "FrontendError", "LoadedProgram",
    "OutOfDeviceMemory", "Program", "RunResult", "RunTimeout", "StaleHandle", "TpuConfig",
    "compile", "jit", "open", "preset",
]
