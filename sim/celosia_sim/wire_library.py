"""The Verilated host link in this process: its build, and the harness's C interface, typed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

from celosia.arch.config import TpuConfig
from celosia.arch.link import MODULE_NAME, LinkConfig
from celosia.driver.errors import BusError
from celosia.driver.transport import Transport
from celosia_sim.module import build_module, port_names
from celosia_sim.verilog import link_verilog

__all__ = ["WireLibrary", "build_wire"]

_FOLDER = Path(__file__).parent
_SOURCES = _FOLDER / "wire_harness.cpp", _FOLDER / "boards" / "serial_line.h"
_PREFIX = "Vlink"
_SLVERR = 2
#: Bytes that one call hands on at most; more than come in one.
_CAPACITY = 1 << 16

_u32 = ctypes.c_uint32
_bytes = ctypes.POINTER(ctypes.c_uint8)
_CALLBACKS = (
    ctypes.CFUNCTYPE(ctypes.c_int, _u32, ctypes.POINTER(_u32)),
    ctypes.CFUNCTYPE(ctypes.c_int, _u32, _u32),
    ctypes.CFUNCTYPE(ctypes.c_int, _u32, _bytes, _u32),
    ctypes.CFUNCTYPE(ctypes.c_int, _u32, _bytes, _u32),
)
_FUNCTIONS: dict[str, tuple[object, tuple[object, ...]]] = {
    "new": (ctypes.c_void_p, (*_CALLBACKS, ctypes.c_double)),
    "free": (None, (ctypes.c_void_p,)),
    "reset": (None, (ctypes.c_void_p,)),
    "irq": (None, (ctypes.c_void_p, ctypes.c_int)),
    "noise": (None, (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_double)),
    "faults": (ctypes.c_uint64, (ctypes.c_void_p,)),
    "now": (ctypes.c_uint64, (ctypes.c_void_p,)),
    "pending": (ctypes.c_uint64, (ctypes.c_void_p,)),
    "send": (None, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)),
    "run": (ctypes.c_uint64, (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p,
                              ctypes.c_uint64)),
}


def build_wire(config: TpuConfig, link: LinkConfig) -> Path:
    """Compile the host link of a chip, or find it in the cache; return the shared library.

    Raises
    ------
    celosia.storage.ToolchainError
        If Verilator or the compiler is missing or fails.
    """
    text = link_verilog(config, link)
    return build_module("wire", text, _SOURCES,
                        f"{port_names(text)}#define WIRE_BUS_BYTES {config.bus_bytes}\n",
                        top=MODULE_NAME, prefix=_PREFIX)


class WireLibrary:
    """The host link at its pins: bytes of a serial line on one side, a chip on the other.

    Parameters
    ----------
    path
        What `build_wire` returned.
    target
        The chip: its registers and its external memory.
    clocks_per_bit
        Length of a bit on the line, in clock cycles of the link.
    written
        Called after each write of a register.
    """

    def __init__(self, path: Path, target: Transport, clocks_per_bit: float,
                 written: Callable[[], None]):
        library = ctypes.CDLL(str(path))
        self._functions = {}
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, f"wire_{name}")
            function.restype, function.argtypes = result, arguments
            self._functions[name] = function
        self._target, self._written = target, written
        #: What went wrong in a callback, where it cannot be raised.
        self._error: BaseException | None = None
        self._callbacks = [made(self._guarded(action)) for made, action in zip(
            _CALLBACKS, (self._read_register, self._write_register, self._read_memory,
                         self._write_memory), strict=True)]
        self._received = ctypes.create_string_buffer(_CAPACITY)
        self._wire: int | None = self._functions["new"](*self._callbacks, clocks_per_bit)

    def _call(self, name: str, *arguments):
        if self._wire is None:
            raise RuntimeError(f"the simulated wire must be open for {name}, but it was closed")
        return self._functions[name](self._wire, *arguments)

    def _guarded(self, action: Callable[..., None]) -> Callable[..., int]:
        def call(*arguments) -> int:
            try:
                action(*arguments)
            except BusError:
                return _SLVERR
            except BaseException as error:
                self._error = error
                return _SLVERR
            return 0
        return call

    def _read_register(self, offset, value) -> None:
        value[0] = self._target.read_register(offset)

    def _write_register(self, offset, value) -> None:
        try:
            self._target.write_register(offset, value)
        finally:
            self._written()

    def _read_memory(self, address, into, size) -> None:
        ctypes.memmove(into, self._target.read_memory(address, size).tobytes(), size)

    def _write_memory(self, address, data, size) -> None:
        self._target.write_memory(address, ctypes.string_at(data, size))

    def close(self) -> None:
        """Free the link; closing twice does nothing."""
        if self._wire is not None:
            wire, self._wire = self._wire, None
            self._functions["free"](wire)

    @property
    def now(self) -> int:
        """Clock cycles since the link was made."""
        return self._call("now")

    @property
    def pending(self) -> int:
        """Bytes that wait to be sent to the board."""
        return self._call("pending")

    @property
    def faults(self) -> int:
        """Bytes that the noise has hit so far."""
        return self._call("faults")

    def noise(self, seed: int, rate: float) -> None:
        """Change, drop or double a byte with the chance ``rate``, in both directions."""
        self._call("noise", seed, rate)

    def reset(self) -> None:
        """Pull the reset pin."""
        self._call("reset")

    def interrupt(self, level: bool) -> None:
        """Set the chip's interrupt."""
        self._call("irq", level)

    def send(self, data: bytes) -> None:
        """Put bytes on the line to the board."""
        self._call("send", data, len(data))

    def run(self, cycles: int) -> bytes:
        """Run; return the bytes that came from the board."""
        size = self._call("run", cycles, self._received, _CAPACITY)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return self._received.raw[:size]
