"""The RTL in a Verilator simulation as a transport of the driver."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.probe import STATES
from celosia.arch.registers import ADDRESS_BITS, REGISTERS
from celosia.driver.errors import BusError
from celosia_sim.build import TRACES, build_library
from celosia_sim.library import MEMORY_BYTES, ChipLibrary, RunEnd
from celosia_sim.probe import Probe
from celosia_sim.verilog import chip_verilog

__all__ = ["ErrorRange", "RtlTransport", "SimOptions", "check_write"]

#: A run is cut into slices of about this long, between which Python sees signals.
_SLICE_SECONDS = 0.05
_PROGRESS_AFTER_SECONDS = 2.0


@dataclass(frozen=True)
class ErrorRange:
    """Bytes first..last of external memory that answer with a bus error."""

    first: int
    last: int
    read: bool = True
    write: bool = True


@dataclass(frozen=True)
class SimOptions:
    """How the memory outside the chip behaves, and what is recorded.

    Parameters
    ----------
    bytes_per_cycle
        Bandwidth of each direction: a beat every max(1, bus_bytes / bytes_per_cycle) cycles on
        average. None: a beat a cycle.
    read_latency
        Cycles from an accepted read address to the first beat, at least 1.
    write_latency
        Cycles from the last accepted beat of a write to its response, at least 1.
    max_outstanding
        Bursts that the memory takes in each direction before the oldest is done.
    stall_seed
        None: the above, exactly. Else a non-negative seed of random pauses on every channel, random
        latencies (1 to twice the nominal) and reordering between IDs.
    stall_rate
        Chance that a channel pauses in a cycle, with a seed.
    errors
        Spans of memory that answer with errors.
    trace
        File of a waveform, ``*.vcd`` or ``*.fst``, or of how often each bit has risen and fallen,
        ``*.toggles``, see `celosia_sim.toggles`; None: none, and a faster simulation.
    trace_cycles
        First and last cycle in the waveform; cycles count from the chip's creation.
    probe
        Keep what the units of the chip do in the last run, see `RtlTransport.probe`.
    """

    bytes_per_cycle: float | None = None
    read_latency: int = 64
    write_latency: int = 8
    max_outstanding: int = 64
    stall_seed: int | None = None
    stall_rate: float = 0.3
    errors: tuple[ErrorRange, ...] = ()
    trace: Path | str | None = None
    trace_cycles: tuple[int, int] = (0, (1 << 63) - 1)
    probe: bool = False

    def __post_init__(self) -> None:
        """Check every value."""
        def require(ok: bool, name: str, wanted: str) -> None:
            if not ok:
                raise ValueError(f"SimOptions.{name} must be {wanted}, not {getattr(self, name)!r}")

        require(self.bytes_per_cycle is None or self.bytes_per_cycle > 0, "bytes_per_cycle",
                "None or above 0")
        for name in ("read_latency", "write_latency", "max_outstanding"):
            require(0 < getattr(self, name) < 1 << 31, name, "a positive integer")
        require(self.stall_seed is None or 0 <= self.stall_seed < (1 << 64) - 1, "stall_seed",
                "None or an integer from 0 to 2**64 - 2")
        require(0 <= self.stall_rate < 1, "stall_rate", "at least 0 and below 1")
        require(self.trace is None or self.trace_format in TRACES.keys() - {""}, "trace",
                "None or a path that ends in .vcd, .fst or .toggles")

    @property
    def trace_format(self) -> str:
        """What the chip must be built for, see `celosia_sim.build.build_library`."""
        return "" if self.trace is None else Path(self.trace).suffix[1:]


_NAMES = {register.offset: register.name for register in REGISTERS}


def _name(offset: int) -> str:
    return _NAMES.get(offset, f"{offset:#05x}")


def _checked(offset: int) -> int:
    """Return an offset that the address pins can carry; BusError otherwise."""
    if not 0 <= offset < 1 << ADDRESS_BITS:
        raise BusError(f"register offset must be from 0 to {(1 << ADDRESS_BITS) - 1:#x}, "
                       f"not {offset:#x}")
    return offset


def check_write(offset: int, value: int) -> None:
    """Check what is to be written to a register; ValueError or BusError if it cannot be."""
    if not 0 <= value < 1 << 32:
        raise ValueError(f"value of register {_name(offset)} must be 32 bits, not {value!r}")
    _checked(offset)


class RtlTransport:
    """The chip's RTL, Verilated, with external memory of 4 GiB; implements the driver's Transport.

    Time passes only in register accesses and in `wait_interrupt`; access to external memory takes
    none, as if another port of it had been used.

    Parameters
    ----------
    config
        The chip. It is built on first use (minutes for the large ones) and kept in the cache.
    options
        Timing of external memory; waveforms.
    verilog
        The chip's Verilog, if not that of `celosia_hw`.
    quiet
        Neither progress bars nor messages, even where stderr is a terminal.
    built
        Of another transport of such a chip, its `built`: nothing has to be looked up then.

    Attributes
    ----------
    built
        The shared library of the chip.

    Raises
    ------
    celosia.storage.ToolchainError
        If the chip cannot be built.
    """

    memory_bytes = MEMORY_BYTES

    def __init__(self, config: TpuConfig, options: SimOptions | None = None, *,
                 verilog: str | None = None, quiet: bool = False, built: Path | None = None):
        self.config = config
        self.options = options or SimOptions()
        self._quiet = quiet or not sys.stderr.isatty()
        self.built = self._build(verilog) if built is None else built
        self.chip = ChipLibrary(self.built)
        self._probe = Probe(config.bus_bytes) if self.options.probe else None
        if self._probe is not None:
            self.chip.probe_set(STATES)
        self.set_options(self.options)
        if self.options.trace is not None:
            self.chip.trace_open(Path(self.options.trace), *self.options.trace_cycles)

    def _build(self, verilog: str | None) -> Path:
        text = chip_verilog(self.config) if verilog is None else verilog
        announce = None if self._quiet else lambda line: print(line, file=sys.stderr)
        return build_library(text, self.config, trace=self.options.trace_format,
                             announce=announce)

    def set_options(self, options: SimOptions) -> None:
        """Change timing and errors, between runs; waveform and probe stay what they were."""
        self.options = options
        self.chip.set_timing(options.bytes_per_cycle, options.read_latency, options.write_latency,
                             options.max_outstanding, options.stall_seed, options.stall_rate)
        self.chip.clear_errors()
        for error in options.errors:
            self.chip.add_error(error.first, error.last, read=error.read, write=error.write)

    @property
    def probe(self) -> Probe | None:
        """What the units did in the last run; None where the chip was made without its probe."""
        self._drain()
        return self._probe

    def _drain(self) -> None:
        if self._probe is not None:
            self._probe.add(self.chip.probe_read(), self.chip.now)

    @property
    def now(self) -> int:
        """Clock cycles since the chip was made."""
        return self.chip.now

    def read_register(self, offset: int) -> int:
        """Return a register; BusError if the chip answers with an error."""
        status, value = self.chip.read_register(_checked(offset))
        if status:
            raise BusError(f"the chip must answer OKAY to a read of register {_name(offset)}, "
                           f"not {status}")
        return value

    def write_register(self, offset: int, value: int) -> None:
        """Write a register; BusError if the chip answers with an error."""
        check_write(offset, value)
        if status := self.chip.write_register(offset, value):
            raise BusError(f"the chip must answer OKAY to a write of register {_name(offset)}, "
                           f"not {status}")

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return a copy of external memory."""
        return self.chip.read_memory(address, size)

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        """Write bytes into external memory."""
        self.chip.write_memory(address, data)

    def wait_interrupt(self, timeout_cycles: int | None,
                       progress: Callable[[int], None] | None = None) -> bool:
        """Run until the interrupt is high (True) or ``timeout_cycles`` have passed (False).

        Ctrl-C ends it within a fraction of a second, between two cycles; the chip can be used on.
        """
        if timeout_cycles is not None and timeout_cycles < 0:
            raise ValueError(f"timeout_cycles must be None or at least 0, not {timeout_cycles!r}")
        waited, size = 0, 1000
        with self._bar(timeout_cycles) as bar:
            while True:
                limit = size if timeout_cycles is None else min(size, timeout_cycles - waited)
                begin = time.perf_counter()
                stop, cycles = self.chip.run(limit)
                seconds = time.perf_counter() - begin
                waited += cycles
                self._drain()
                if stop is RunEnd.INTERRUPT:
                    return True
                if timeout_cycles is not None and waited >= timeout_cycles:
                    return False
                bar(waited)
                if progress:
                    progress(waited)
                size = max(100, min(2 * size, int(size * _SLICE_SECONDS / max(seconds, 1e-6))))

    @contextlib.contextmanager
    def _bar(self, total: int | None) -> Iterator[Callable[[int], None]]:
        """A progress bar that appears when a run has taken a while."""
        if self._quiet:
            yield lambda _: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        begin = time.monotonic()
        bar = Progress(TextColumn("simulating {task.fields[cycles]:,} cycles"), BarColumn(),
                       TextColumn("{task.fields[rate]:,.0f} cycles/s"), TimeElapsedColumn(),
                       console=Console(stderr=True), transient=True)
        task = bar.add_task("", total=total, cycles=0, rate=0.0)

        def update(cycles: int) -> None:
            seconds = time.monotonic() - begin
            if seconds > _PROGRESS_AFTER_SECONDS:
                bar.start()
                bar.update(task, completed=cycles, cycles=cycles, rate=cycles / seconds)

        try:
            yield update
        finally:
            bar.stop()

    def peek(self, memory: str, row: int, n: int) -> NDArray[np.uint8]:
        """Return rows of "ub" or "acc" as they are now: uint8, shape (n, bytes of a row)."""
        return self.chip.peek(memory, row, n)

    def poke(self, memory: str, row: int, data: NDArray[np.uint8]) -> None:
        """Set rows of "ub" or "acc": uint8, shape (n, bytes of a row)."""
        self.chip.poke(memory, row, data)

    def close(self) -> None:
        """Free the chip and finish the waveform; closing twice does nothing."""
        self.chip.close()
