"""The firmware compiled for this machine: a compact chip in this process, for tests."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.link import LinkConfig
from celosia.driver.errors import BusError
from celosia.storage import builds, compiler
from celosia.storage.libraries import c_flags
from celosia_hw.soc.compact.firmware import FOLDER, FirmwareError, Variant, config_words, variant

__all__ = ["CompactHost", "build_host"]

#: The host's C library has what is in there.
_CHIP_ONLY = ("support.c",)
_FLAGS = ("-std=gnu11", "-O2", "-g", "-DCELOSIA_HOST", "-shared", "-fPIC", "-pthread",
          "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")
#: Cycles between two calls of ``progress``.
_SLICE = 100_000

_u32, _u64, _pointer = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
_FUNCTIONS: dict[str, tuple[object, tuple[object, ...]]] = {
    "open": (ctypes.c_bool, (ctypes.c_char_p,)),
    "close": (None, ()),
    "run": (ctypes.c_bool, (_u64, ctypes.c_bool)),
    "cycles": (_u64, ()),
    "skip": (None, (_u64,)),
    "fault_light": (ctypes.c_bool, ()),
    "unified_buffer": (_pointer, ()),
    "accumulators": (_pointer, ()),
    "external_memory": (_pointer, ()),
    "read": (ctypes.c_bool, (_u32, ctypes.POINTER(_u32))),
    "write": (ctypes.c_bool, (_u32, _u32)),
    "feed": (_u32, (ctypes.c_char_p, _u32)),
    "take": (_u32, (ctypes.c_char_p, _u32)),
    "serve": (None, ()),
}


def build_host(made: Variant) -> Path:
    """Compile the firmware for this machine, or find it in the cache; return the shared library.

    Raises
    ------
    celosia.storage.ToolchainError
        If there is no compiler.
    FirmwareError
        If it refuses the sources.
    """
    chosen = compiler("C")
    sources = [path for path in sorted(FOLDER.glob("*.c")) if path.name not in _CHIP_ONLY]
    flags = (*c_flags(tuned=True), *_FLAGS, *made.flags)
    key = builds.digest({"compiler": chosen.version, "flags": flags} | {
        path.name: path.read_text() for path in (*sources, *sorted(FOLDER.glob("*.h")))})

    def make(folder: Path) -> None:
        result = subprocess.run(
            [*chosen.command, *flags, *map(str, sources), "-o", str(folder / "chip.so")],
            capture_output=True, text=True)
        if result.returncode or result.stderr.strip():
            raise FirmwareError(f"the sources in {FOLDER} must compile without a warning, but:\n"
                                f"{result.stderr.strip()[:4000]}")

    return builds.entry("compact", key, make) / "chip.so"


class CompactHost:
    """The firmware with memories in this process; implements the driver's Transport.

    Time is a count of how often the firmware asked for the time or for a byte of the wire: for each
    instruction, and for every few rows of a long one. It passes in `wait_interrupt`, `run` and
    `serve`, and while a reset is carried out; the first two leave the firmware wherever it is then,
    in the middle of an instruction too.

    Parameters
    ----------
    config
        A chip with int8, or int8 and bf16.
    link
        Its memory and its buffer of requests; the wire has no bits here.
    """

    def __init__(self, config: TpuConfig, link: LinkConfig | None = None):
        link = LinkConfig(25_000_000, memory_bytes=1 << 22) if link is None else link
        self.config, self.memory_bytes = config, link.memory_bytes
        words = np.array(config_words(config, link), "<u4")
        # Variables of the firmware are the library's: each chip has one of its own.
        self._folder = tempfile.TemporaryDirectory()
        library = ctypes.CDLL(str(shutil.copy(build_host(variant(config)), self._folder.name)))
        self._functions = {}
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, f"host_{name}")
            function.restype, function.argtypes = result, arguments
            self._functions[name] = function
        if not self._functions["open"](words.tobytes()):
            raise MemoryError(f"there must be memory for {config.name} with "
                              f"{link.memory_bytes:,} bytes outside")
        self._memory = self._array("external_memory", (link.memory_bytes,))
        self._rows = {
            "ub": self._array("unified_buffer", (config.ub_rows, config.ub_row_bits // 8)),
            "acc": self._array("accumulators", (config.acc_rows, config.acc_row_bits // 8))}
        self._open = True

    def _array(self, name: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
        address = ctypes.cast(self._functions[name](), ctypes.POINTER(ctypes.c_uint8))
        return np.ctypeslib.as_array(address, shape)

    @property
    def now(self) -> int:
        """Cycles since the chip was made."""
        return self._functions["cycles"]()

    @property
    def fault_light(self) -> bool:
        """Whether an access has left the external memory."""
        return self._functions["fault_light"]()

    def read_register(self, offset: int) -> int:
        """Return a register; BusError if the chip answers with an error."""
        word = _u32()
        if not self._functions["read"](offset, ctypes.byref(word)):
            raise BusError(f"the chip must answer OKAY to a read of register {offset:#05x}, "
                           "not SLVERR")
        return word.value

    def write_register(self, offset: int, value: int) -> None:
        """Write a register; BusError if the chip answers with an error."""
        if not self._functions["write"](offset, value):
            raise BusError(f"the chip must answer OKAY to a write of register {offset:#05x}, "
                           "not SLVERR")

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return a copy of external memory."""
        return self._piece(address, size).copy()

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        """Write bytes into external memory."""
        values = np.frombuffer(data, np.uint8)
        self._piece(address, len(values))[:] = values

    def _piece(self, address: int, size: int) -> NDArray[np.uint8]:
        if not 0 <= address <= address + size <= self.memory_bytes:
            raise BusError(f"bytes must lie in memory, 0 to {self.memory_bytes - 1:#x}, not at "
                           f"{address:#x} to {address + size - 1:#x}")
        return self._memory[address:address + size]

    def wait_interrupt(self, timeout_cycles: int | None,
                       progress: Callable[[int], None] | None = None) -> bool:
        """Run until the interrupt is high (True) or ``timeout_cycles`` have passed (False)."""
        waited = 0
        while True:
            limit = _SLICE if timeout_cycles is None else min(_SLICE, timeout_cycles - waited)
            if self._functions["run"](limit, True):
                return True
            waited += limit
            if timeout_cycles is not None and waited >= timeout_cycles:
                return False
            if progress:
                progress(waited)

    def run(self, cycles: int) -> None:
        """Let the firmware run for so many cycles, whatever the interrupt."""
        self._functions["run"](cycles, False)

    def skip(self, cycles: int) -> None:
        """Let time pass in which the firmware does nothing."""
        self._functions["skip"](cycles)

    def feed(self, data: bytes) -> int:
        """Send bytes over the wire to the chip; return how many there was room for."""
        return self._functions["feed"](data, len(data))

    def serve(self) -> None:
        """Let the firmware run until it has taken, and answered, all that the wire holds."""
        self._functions["serve"]()

    def take(self) -> bytes:
        """Return the bytes that have come over the wire since the last call."""
        buffer = ctypes.create_string_buffer(1 << 16)
        result = b""
        while count := self._functions["take"](buffer, len(buffer)):
            result += buffer.raw[:count]
        return result

    def peek(self, memory: str, row: int, n: int) -> NDArray[np.uint8]:
        """Return rows of "ub" or "acc" as they are now: uint8, shape (n, bytes of a row)."""
        return self._rows[memory][row:row + n].copy()

    def poke(self, memory: str, row: int, data: NDArray[np.uint8]) -> None:
        """Set rows of "ub" or "acc": uint8, shape (n, bytes of a row)."""
        self._rows[memory][row:row + len(data)] = data

    def set_options(self, options: object) -> None:
        """Do nothing: there is no bus whose timing could be chosen."""

    def close(self) -> None:
        """Free the chip; closing twice does nothing."""
        if self._open:
            self._open = False
            self._rows.clear()
            self._memory = np.zeros(0, np.uint8)
            self._functions["close"]()
            self._folder.cleanup()
