"""A Verilated chip in this process: the C interface of the harness, typed."""

import contextlib
import ctypes
import enum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.arch.words import WORD_MASK
from celosia_sim.build import ABI

__all__ = ["FUNCTIONS", "MEMORY_BYTES", "ChipLibrary", "ProtocolError", "RunEnd", "StateWay",
           "check_span"]

_u8p = ctypes.c_void_p
#: Functions of harness/api.cpp: result and arguments.
FUNCTIONS: dict[str, tuple[object, tuple[object, ...]]] = {
    "abi": (ctypes.c_int, ()),
    "new": (ctypes.c_void_p, ()),
    "free": (None, (ctypes.c_void_p,)),
    "reset": (None, (ctypes.c_void_p,)),
    "timing": (None, (ctypes.c_void_p, ctypes.c_double, ctypes.c_uint32, ctypes.c_uint32,
                      ctypes.c_uint32, ctypes.c_uint64, ctypes.c_double)),
    "add_error": (None, (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int,
                         ctypes.c_int)),
    "clear_errors": (None, (ctypes.c_void_p,)),
    "now": (ctypes.c_uint64, (ctypes.c_void_p,)),
    "violation": (ctypes.c_char_p, (ctypes.c_void_p,)),
    "run": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int,
                           ctypes.POINTER(ctypes.c_uint64))),
    "write_register": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)),
    "read_register": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint32,
                                     ctypes.POINTER(ctypes.c_uint32))),
    "read_memory": (None, (ctypes.c_void_p, ctypes.c_uint64, _u8p, ctypes.c_uint64)),
    "write_memory": (None, (ctypes.c_void_p, ctypes.c_uint64, _u8p, ctypes.c_uint64)),
    "rows": (ctypes.c_uint64, (ctypes.c_void_p, ctypes.c_char_p,
                               ctypes.POINTER(ctypes.c_uint64))),
    "peek": (None, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, _u8p)),
    "poke": (None, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, _u8p)),
    "state": (ctypes.c_uint64, (ctypes.c_void_p, ctypes.c_int, _u8p, ctypes.c_uint64)),
    "probe_set": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)),
    "probe_size": (ctypes.c_uint64, (ctypes.c_void_p,)),
    "probe_read": (None, (ctypes.c_void_p, _u8p)),
    "trace_open": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64,
                                  ctypes.c_uint64)),
    "trace_close": (None, (ctypes.c_void_p,)),
}

MEMORY_BYTES = 1 << 32


def check_span(address: int, size: int) -> None:
    """Check that a span lies in external memory; ValueError if it does not."""
    if address < 0 or size < 0 or address + size > MEMORY_BYTES:
        raise ValueError(f"a span of memory must lie in 0..{MEMORY_BYTES:#x}, not "
                         f"{address:#x}..{address + size:#x}")


class StateWay(enum.IntEnum):
    """What is done with the state of something (harness/state.h)."""

    COUNT = 0
    SAVE = 1
    LOAD = 2


class RunEnd(enum.IntEnum):
    """Why `ChipLibrary.run` came back."""

    CYCLES = 0
    INTERRUPT = 1
    VIOLATION = 2
    PROBE = 3


class ProtocolError(RuntimeError):
    """The chip broke a rule of AXI, or did not answer on its register port."""


class ChipLibrary:
    """One chip with its memory, out of reset.

    Parameters
    ----------
    path
        What `celosia_sim.build.build_library` returned.

    Notes
    -----
    Addresses are bytes of external memory, which reads as zero where nothing was written.
    """

    def __init__(self, path: Path):
        self.library = library = ctypes.CDLL(str(path))
        self._functions = {}
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(library, f"celosia_{name}")
            function.restype, function.argtypes = result, arguments
            self._functions[name] = function
        if (abi := self._functions["abi"]()) != ABI:
            raise RuntimeError(f"the library's interface must be version {ABI}, not {abi}: {path}")
        self._chip: int | None = self._functions["new"]()

    def _call(self, name: str, *arguments):
        if self._chip is None:
            raise RuntimeError(f"the simulated chip must be open for {name}, but it was closed")
        return self._functions[name](self._chip, *arguments)

    @property
    def handle(self) -> int:
        """The chip, as the functions of `library` know it."""
        if self._chip is None:
            raise RuntimeError("the simulated chip must be open, but it was closed")
        return self._chip

    def close(self) -> None:
        """Free the chip; closing twice does nothing."""
        if self._chip is not None:
            chip, self._chip = self._chip, None
            self._functions["free"](chip)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):
            self.close()

    @property
    def now(self) -> int:
        """Clock cycles since the chip was made."""
        return self._call("now")

    def reset(self) -> None:
        """Pull the reset pin; memories keep their contents."""
        self._call("reset")

    def set_timing(self, bytes_per_cycle: float | None, read_latency: int, write_latency: int,
                   max_outstanding: int, stall_seed: int | None, stall_rate: float) -> None:
        """Set the timing of external memory; see `celosia_sim.rtl.SimOptions`."""
        self._call("timing", bytes_per_cycle or 0.0, read_latency, write_latency, max_outstanding,
                   0 if stall_seed is None else stall_seed + 1, stall_rate)

    def add_error(self, first: int, last: int, *, read: bool = True, write: bool = True) -> None:
        """Answer SLVERR to beats that touch the bytes first..last."""
        self._call("add_error", first, last, read, write)

    def clear_errors(self) -> None:
        """Answer OKAY everywhere again."""
        self._call("clear_errors")

    def run(self, limit: int, *, until_interrupt: bool = True) -> tuple[RunEnd, int]:
        """Run ``limit`` cycles at most; return why it stopped and the cycles that it ran.

        Raises
        ------
        ProtocolError
            If the chip broke a rule of AXI.
        """
        cycles = ctypes.c_uint64()
        stop = RunEnd(self._call("run", limit, until_interrupt, ctypes.byref(cycles)))
        if stop is RunEnd.VIOLATION:
            self._raise_violation()
        return stop, cycles.value

    def _raise_violation(self) -> None:
        text = self._call("violation").decode()
        raise ProtocolError(f"memory port, cycle {self.now}: {text}")

    def _answer(self, status: int, offset: int) -> int:
        if status == -1:
            raise ProtocolError(f"register port: no answer at offset {offset:#05x}")
        if status == -2:
            self._raise_violation()
        return status

    def write_register(self, offset: int, value: int) -> int:
        """Write a register; return the response (0: OKAY)."""
        return self._answer(self._call("write_register", offset, value & WORD_MASK), offset)

    def read_register(self, offset: int) -> tuple[int, int]:
        """Read a register; return the response (0: OKAY) and the value."""
        value = ctypes.c_uint32()
        status = self._answer(self._call("read_register", offset, ctypes.byref(value)), offset)
        return status, value.value

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return a copy of external memory."""
        check_span(address, size)
        data = np.empty(size, np.uint8)
        self._call("read_memory", address, data.ctypes.data, size)
        return data

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        """Copy bytes (of an array: those in memory order) into external memory."""
        array = (np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray)
                 else np.ascontiguousarray(data).reshape(-1).view(np.uint8))
        check_span(address, array.size)
        self._call("write_memory", address, array.ctypes.data, array.size)

    def rows(self, memory: str) -> tuple[int, int]:
        """Rows of the on-chip memory "ub" or "acc", and the bytes of one.

        Raises
        ------
        ValueError
            If there is no such memory, or it was not found in the Verilated model.
        """
        row_bytes = ctypes.c_uint64()
        rows = self._call("rows", memory.encode(), ctypes.byref(row_bytes))
        if not rows:
            raise ValueError(f"memory must be 'ub' or 'acc' and in the model, not {memory!r}")
        return rows, row_bytes.value

    def _check_rows(self, memory: str, row: int, n: int) -> int:
        rows, row_bytes = self.rows(memory)
        if row < 0 or n < 0 or row + n > rows:
            raise ValueError(f"rows of {memory} must lie in 0..{rows}, not {row}..{row + n}")
        return row_bytes

    def peek(self, memory: str, row: int, n: int) -> NDArray[np.uint8]:
        """Return rows of "ub" or "acc" as they are now: uint8, shape (n, bytes of a row)."""
        row_bytes = self._check_rows(memory, row, n)
        data = np.empty((n, row_bytes), np.uint8)
        self._call("peek", memory.encode(), row, n, data.ctypes.data)
        return data

    def poke(self, memory: str, row: int, data: NDArray[np.uint8]) -> None:
        """Set rows of "ub" or "acc": uint8, shape (n, bytes of a row)."""
        row_bytes = self._check_rows(memory, row, len(data))
        if data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] != row_bytes:
            raise ValueError(f"rows of {memory} must be uint8 of shape (n, {row_bytes}), not "
                             f"{data.dtype} of shape {data.shape}")
        data = np.ascontiguousarray(data)
        self._call("poke", memory.encode(), row, len(data), data.ctypes.data)

    def save(self) -> NDArray[np.uint8]:
        """Return all that the chip and its memory are, in the middle of a run, too."""
        data = np.empty(self._call("state", StateWay.COUNT, None, 0), np.uint8)
        self._call("state", StateWay.SAVE, data.ctypes.data, data.size)
        return data

    def load(self, data: NDArray[np.uint8]) -> None:
        """Make it what another one was, of the same library, when that was saved.

        Raises
        ------
        ValueError
            If it is not of such a chip; this one cannot be used any more.
        """
        if not self._call("state", StateWay.LOAD, data.ctypes.data, data.size):
            raise ValueError(f"a state must be of such a chip, not these {data.size} bytes")

    def probe_set(self, states: int, stops: int = 0) -> None:
        """Note the probe when one of some of its bits changes, and forget what was noted.

        Parameters
        ----------
        states
            The bits; 0: note nothing.
        stops
            Bits of it that end `run` behind the cycle in which one of them is set, for as long as
            something is noted.

        Raises
        ------
        ValueError
            If the chip's Verilog is without a probe.
        """
        if not self._call("probe_set", states, stops) and states:
            raise ValueError("the chip must have the pin probe, but its Verilog has none")

    def probe_read(self) -> NDArray[np.uint64]:
        """Return what was noted since the last call: (n, 2), a cycle and the word from it on."""
        data = np.empty((self._call("probe_size"), 2), np.uint64)
        self._call("probe_read", data.ctypes.data)
        return data

    def trace_open(self, path: Path, first: int, last: int) -> None:
        """Write a waveform of the cycles first..last while they are run.

        Raises
        ------
        OSError
            If the chip was built without waveforms, or the file cannot be written.
        """
        if not self._call("trace_open", str(path).encode(), first, last):
            raise OSError(f"cannot write the waveform {path}")

    def trace_close(self) -> None:
        """Finish the waveform."""
        self._call("trace_close")
