"""RTL chips in this process and the links between them: what a pod is on the golden model."""

import ctypes
import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.faults import FAULTS
from celosia.arch.registers import BY_NAME, COUNTERS, NUM_WINDOWS, Control, Status
from celosia.model import ModelResult, PodProgram
from celosia_sim.library import RunEnd
from celosia_sim.rtl import RtlTransport

__all__ = ["RtlPod"]

_FUNCTIONS: dict[str, tuple[object, tuple[object, ...]]] = {
    "pod_new": (ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64,
                                  ctypes.c_uint64, ctypes.c_int, ctypes.c_uint64,
                                  ctypes.c_double)),
    "pod_hashes": (None, (ctypes.c_void_p, ctypes.c_void_p)),
    "pod_free": (None, (ctypes.c_void_p,)),
    "pod_write": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)),
    "pod_read": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)),
    "pod_run": (ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint64)),
}


#: Cycles of all chips in a window for which a thread more is worth it.
_THREAD_CYCLES = 256


def _processors() -> int:
    """Return how many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class RtlPod:
    """Chips of one configuration, and links of one latency.

    Time passes for all chips together; all begin a run in one cycle. What they do depends on what
    they are given only: neither on the window nor on the threads.

    Parameters
    ----------
    config
        Of each chip; it has ports.
    chips
        How many.
    links
        For an end, a chip and its port, the other one, as of `celosia.model.Pod`.
    latency
        Cycles from a word's leaving a chip's pins to its being at the other's.
    errors, seed
        Chance that a bit on a line is turned, and where.
    window
        Cycles that a chip is simulated for in its turn, at most the latency; None: these.
    threads
        How many simulate chips; None: as many as there are processors, where it is worth it.
    """

    def __init__(self, config: TpuConfig, chips: int,
                 links: Mapping[tuple[int, int], tuple[int, int]], *, latency: int = 64,
                 errors: float = 0, seed: int = 0, window: int | None = None,
                 threads: int | None = None):
        if not config.ports:
            raise ValueError("TpuConfig.ports of the chips of a pod must be above 0, not 0")
        if latency < 1:
            raise ValueError(f"latency must be a positive number of cycles, not {latency!r}")
        window = latency if window is None else window
        if not 1 <= window <= latency:
            raise ValueError(f"window must be from 1 to the latency of {latency} cycles, not "
                             f"{window!r}")
        if threads is None:
            threads = min(_processors(), chips * window // _THREAD_CYCLES, chips)
        elif threads < 1:
            raise ValueError(f"threads must be a positive number, not {threads!r}")
        self.config = config
        self.chips = [RtlTransport(config, quiet=True) for _ in range(chips)]
        library = self.chips[0].chip.library
        self._functions = {}
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, f"celosia_{name}")
            function.restype, function.argtypes = result, arguments
            self._functions[name] = function
        peers = np.full(chips * config.ports, -1, np.int32)
        for a, b in links.items():
            for (chip, port), (other, at) in ((a, b), (b, a)):
                peers[chip * config.ports + port] = other * config.ports + at
        handles = (ctypes.c_void_p * chips)(*(each.chip.handle for each in self.chips))
        self._pod: int | None = self._functions["pod_new"](
            handles, chips, peers.ctypes.data, latency, window, max(1, min(threads, chips)), seed,
            errors)
        self._write("DEVICE", range(chips))

    def close(self) -> None:
        """Free the chips; closing twice does nothing."""
        if self._pod is not None:
            self._functions["pod_free"](self._pod)
            self._pod = None
            for chip in self.chips:
                chip.close()

    def _write(self, name: str, values: Sequence[int] | int) -> None:
        words = np.array([values] * len(self.chips) if isinstance(values, int) else values,
                         np.uint32)
        self._answered(name, self._functions["pod_write"](
            self._pod, BY_NAME[name].offset, words.ctypes.data))

    def read(self, offset: int) -> list[int]:
        """Return a register of each chip, all read in the same cycle."""
        words = np.zeros(len(self.chips), np.uint32)
        self._answered(f"{offset:#x}", self._functions["pod_read"](
            self._pod, offset, words.ctypes.data))
        return words.tolist()

    def _answered(self, name: str, response: int) -> None:
        if response:
            raise RuntimeError(f"all chips must answer OKAY at register {name}, not {response}")

    def start(self, chips: Sequence[int]) -> None:
        """Start the program that each of some chips has: of all, in the same cycle."""
        if len(chips) == len(self.chips):
            self._write("CONTROL", Control.START)
            return
        for chip in chips:
            self.chips[chip].write_register(BY_NAME["CONTROL"].offset, Control.START)

    def pass_cycles(self, cycles: int) -> RunEnd:
        """Let cycles pass for all chips, in whole latencies, or until all interrupts are high.

        Raises
        ------
        celosia_sim.library.ProtocolError
            If a chip broke a rule of AXI.
        """
        end = RunEnd(self._functions["pod_run"](self._pod, cycles))
        if end is RunEnd.VIOLATION:
            for chip in self.chips:
                chip.wait_interrupt(0)
        return end

    def run(self, programs: Sequence[PodProgram], limit: int = 1_000_000) -> list[ModelResult]:
        """Run a program on each chip until all have halted or faulted.

        Parameters
        ----------
        programs
            One for each chip, in its memory.
        limit
            Cycles after which it is given up.

        Returns
        -------
        list
            How each chip ended; ``cycles`` are those of the chip.

        Raises
        ------
        TimeoutError
            If the limit is reached; it names what each chip waits in.
        """
        self._write("PROGRAM", [each.program for each in programs])
        self._write("LENGTH", [each.length for each in programs])
        self._write("WATCHDOG", 0)
        for number in range(NUM_WINDOWS):
            spans = [each.windows[number] if number < len(each.windows) else (1, 0)
                     for each in programs]
            self._write(f"WINDOW{number}_BASE", [base for base, _ in spans])
            self._write(f"WINDOW{number}_LAST", [last for _, last in spans])
        self._write("IRQ_STATUS", 1)
        self._write("IRQ_ENABLE", 1)
        self._write("CONTROL", Control.START)
        end = RunEnd(self._functions["pod_run"](self._pod, limit))
        status = self.read(BY_NAME["STATUS"].offset)
        if end is not RunEnd.INTERRUPT:
            at = self.read(BY_NAME["PC"].offset)
            said = ", ".join(f"chip {chip} is at instruction {pc}"
                             for chip, (pc, now) in enumerate(zip(at, status, strict=True))
                             if now == Status.RUNNING)
            raise TimeoutError(f"all chips must end within {limit} cycles, but {said}")
        values = {name: self.read(BY_NAME[name].offset)
                  for name in ("FAULT_CAUSE", "FAULT_PC", "FAULT_ADDR", "PC")}
        counts = {name: self.read(COUNTERS[name]) for name in ("cycles", "instructions")}
        results = []
        for chip in range(len(self.chips)):
            faulted = status[chip] == Status.FAULTED
            results.append(ModelResult(
                Status(status[chip]), FAULTS[values["FAULT_CAUSE"][chip]],
                values["FAULT_PC" if faulted else "PC"][chip], values["FAULT_ADDR"][chip],
                counts["instructions"][chip], counts["cycles"][chip]))
        return results

    def counters(self) -> dict[str, list[int]]:
        """Return the counters of the last run, their low 32 bits, of each chip."""
        return {name: self.read(offset) for name, offset in COUNTERS.items()}

    def sent(self) -> NDArray[np.uint64]:
        """Return a hash of all that each port of each chip has ever sent, and of when: (chips,
        ports).
        """
        hashes = np.zeros((len(self.chips), self.config.ports), np.uint64)
        self._functions["pod_hashes"](self._pod, hashes.ctypes.data)
        return hashes

    def memory(self, chip: int, name: str) -> NDArray:
        """Return a copy of "ub" or "acc" of a chip, shaped as that of the golden model."""
        rows, kind = ((self.config.acc_rows, np.uint32) if name == "acc" else
                      (self.config.ub_rows, np.uint16 if self.config.bf16 else np.uint8))
        return self.chips[chip].peek(name, 0, rows).view(kind)

    def set_memory(self, chip: int, name: str, rows: NDArray) -> None:
        """Set "ub" or "acc" of a chip from row 0 on."""
        self.chips[chip].poke(name, 0, np.ascontiguousarray(rows).view(np.uint8).reshape(
            len(rows), -1))

    def reset(self) -> None:
        """Soft reset of all chips at once, and of what is on their links."""
        self._write("CONTROL", Control.RESET)
        while any(now == Status.RESETTING for now in self.read(BY_NAME["STATUS"].offset)):
            pass
