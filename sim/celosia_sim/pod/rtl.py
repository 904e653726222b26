"""All chips of a pod, in RTL: what a pod is on the golden model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.faults import FAULTS
from celosia.arch.registers import (
    BY_NAME,
    COUNTERS,
    LINK_COUNTERS,
    NUM_WINDOWS,
    Control,
    Status,
    link_register,
)
from celosia.arch.words import ceil_div
from celosia.model import ModelResult, PodProgram
from celosia_sim.pod.board import PodBoard
from celosia_sim.pod.fleet import Fleet
from celosia_sim.pod.kept import KeptStarter
from celosia_sim.pod.options import End, PodOptions
from celosia_sim.pod.together import SharedBoards, Together
from celosia_sim.pod.waits import PortWait, said, waiting
from celosia_sim.rtl import RtlTransport

__all__ = ["RtlPod"]

#: Cycles between two looks whether all chips have ended: at least these, at most those, and of the
#: cycles since the start no more than the part. They decide what is sent after the end, so they do
#: not depend on how the pod is simulated.
_LEAST, _MOST, _PART = 256, 1 << 16, 32


class RtlPod:
    """Chips of one configuration and their links.

    Time passes for all chips together; all begin a run in one cycle. What they do depends on what
    they are given only: neither on the window nor on the threads or processes.

    Parameters
    ----------
    config
        Of each chip; it has ports.
    chips
        How many.
    links
        For an end, a chip and its port, the other one, as of `celosia.model.Pod`.
    together
        Processes that have a board each, this one among them, and a pod that is given the same;
        None: all boards are this one's.
    options
        Of `PodOptions`, by name.

    Attributes
    ----------
    chips
        The way to each one of this process.
    here
        The numbers of these.
    apart
        Whether all chips are in other processes: threads may ask several at once then.
    threads
        That simulate them, in each process.
    passed
        Cycles that the last call of `pass_cycles` has let pass.
    """

    def __init__(self, config: TpuConfig, chips: int, links: Mapping[End, End], *,
                 together: Together | None = None, **options: Any):
        if not config.ports:
            raise ValueError("TpuConfig.ports of the chips of a pod must be above 0, not 0")
        self.config, self.options = config, PodOptions(**options)
        processes = min(self.options.processes, chips) if together is None else together.count
        #: The chips of each board.
        self._spans = [range(chips * i // processes, chips * (i + 1) // processes)
                       for i in range(processes)]
        self._boards: PodBoard | Fleet | SharedBoards
        self.here = range(chips)
        kept = None if together is not None else KeptStarter.of(os.environ, processes)
        if together is not None:
            self._boards = SharedBoards(config, links, self.options, self._spans, together)
            self.here = self._boards.here
        elif processes == 1 and kept is None:
            self._boards = PodBoard(config, range(chips), links, self.options)
        else:
            RtlTransport(config, quiet=True).close()  # it is built once, and here
            self._boards = Fleet(config, links, self.options, self._spans, kept)
        self.apart = isinstance(self._boards, Fleet)
        self._peers = {end: other for a, b in links.items() for end, other in ((a, b), (b, a))}
        _, self.threads = self.options.turns(ceil_div(chips, processes), links)
        self.chips = [*self._boards.chips]
        self._count, self.passed = chips, 0
        self._write("DEVICE", range(chips))

    def close(self) -> None:
        """Free the chips and end their processes; closing twice does nothing."""
        self._boards.close()

    @property
    def replaced(self) -> list[str]:
        """Of each process that has ended and was replaced, how."""
        return self._boards.replaced if isinstance(self._boards, Fleet) else []

    def _all(self, name: str, arguments: Sequence[Sequence[Any]]) -> list[Any]:
        """Ask all boards for the same at once, each with arguments of its own."""
        if isinstance(self._boards, PodBoard):
            return [getattr(self._boards, name)(*own) for own in arguments]
        return self._boards.all(name, arguments)

    def gather(self, value: Any, look: Callable[[], None] = lambda: None) -> list[Any]:
        """Return what each process that has this pod gives; as of `Together.gather`."""
        return (self._boards.gather(value, look) if isinstance(self._boards, SharedBoards) else
                [value])

    def withdraw(self, why: str) -> None:
        """Say to the other processes that this one does not go on with the pod."""
        if isinstance(self._boards, SharedBoards):
            self._boards.withdraw(why)

    def _memory(self, chip: int, address: int, size: int) -> NDArray[np.uint8]:
        if isinstance(self._boards, SharedBoards):
            return self._boards.read_memory(chip, address, size)
        return self.chips[chip].read_memory(address, size)

    def _write(self, name: str, values: Sequence[int] | int) -> None:
        words = [values] * self._count if isinstance(values, int) else list(values)
        self._all("access", [[BY_NAME[name].offset, words[span.start:span.stop]]
                             for span in self._spans])

    def read(self, offset: int) -> list[int]:
        """Return a register of each chip, all read in the same cycle."""
        return [value for values in self._all("access", [[offset]] * len(self._spans))
                for value in values]

    def start(self, chips: Sequence[int]) -> None:
        """Start the program that each of some chips has: of all, in the same cycle."""
        if len(chips) == self._count:
            self._write("CONTROL", Control.START)
            return
        for chip in chips:
            self.chips[chip].write_register(BY_NAME["CONTROL"].offset, Control.START)

    def pass_cycles(self, cycles: int, sure: int = 0) -> bool:
        """Let cycles pass for all chips, or until all interrupts are high; return whether they are.

        A run ends some cycles after its last chip has: `_LEAST` or a small part of the run.

        Parameters
        ----------
        cycles
            At most.
        sure
            Before so many nobody looks whether the interrupts are high: to look is to ask all
            boards, and each waits for the last one then.

        Raises
        ------
        celosia_sim.library.ProtocolError
            If a chip broke a rule of AXI.
        PodBoardError
            If processes of the pod end again and again; it cannot be used any more.
        """
        self.passed, ended = 0, self._advance(0)
        while not ended and self.passed < cycles:
            span = max(min(max(_LEAST, self.passed // _PART), _MOST), sure - self.passed)
            span = min(span, cycles - self.passed)
            ended = self._advance(span)
            self.passed += span
        return ended

    def _advance(self, cycles: int) -> bool:
        return all(self._all("advance", [[cycles]] * len(self._spans)))

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
        ended = self.pass_cycles(limit)
        status = self.read(BY_NAME["STATUS"].offset)
        if not ended:
            raise TimeoutError(f"all chips must end within {limit} cycles, but "
                               f"{self.waits()[1]}")
        values = {name: self.read(BY_NAME[name].offset)
                  for name in ("FAULT_CAUSE", "FAULT_PC", "FAULT_ADDR", "PC")}
        counts = {name: self.read(COUNTERS[name]) for name in ("cycles", "instructions")}
        results = []
        for chip in range(self._count):
            faulted = status[chip] == Status.FAULTED
            results.append(ModelResult(
                Status(status[chip]), FAULTS[values["FAULT_CAUSE"][chip]],
                values["FAULT_PC" if faulted else "PC"][chip], values["FAULT_ADDR"][chip],
                counts["instructions"][chip], counts["cycles"][chip]))
        return results

    def counters(self) -> dict[str, list[int]]:
        """Return the counters of the last run, their low 32 bits, of each chip."""
        return {name: self.read(offset) for name, offset in COUNTERS.items()}

    def link_counters(self) -> dict[str, NDArray[np.uint32]]:
        """Return what each port of each chip has counted since its reset: (chips, ports)."""
        return {name: np.array([self.read(BY_NAME[link_register(port, name)].offset)
                                for port in range(self.config.ports)], np.uint32).T
                for name in LINK_COUNTERS}

    def links(self, chip: int) -> list[dict[str, int]]:
        """Return of each port of a chip of this process what it has counted since its reset, and
        whether its link is ``up``, or ``down``. No time passes.
        """
        return self._boards.links(chip)

    def waits(self) -> tuple[list[PortWait], str]:
        """Return at which instructions chips are that do not go on, and a sentence of it.

        Of chips whose ports have nothing under way it says where they are: up to a scoreboard's
        window behind the oldest instruction that has not ended.
        """
        status, at, cause, fault = (self.read(BY_NAME[name].offset) for name in (
            "STATUS", "PC", "FAULT_CAUSE", "FAULT_PC"))
        found = waiting(lambda name: self.read(BY_NAME[name].offset),
                        self._memory, self.config.ports)
        ended = {chip: f"stopped with {FAULTS[cause[chip]].name} at instruction {fault[chip]}"
                 if now == Status.FAULTED else f"halted at instruction {at[chip]}"
                 for chip, now in enumerate(status) if now != Status.RUNNING}
        others = sorted({*range(len(status))} - {*ended} - {each.chip for each in found})
        return found, "; ".join([*filter(None, [said(found, self._peers, ended)]),
                                 *(f"chip {chip} is at instruction {at[chip]}" for chip in others)])

    def sent(self) -> NDArray[np.uint64]:
        """Return a hash of all that each port of each chip has ever sent, and of when: (chips,
        ports).
        """
        return np.concatenate([
            np.frombuffer(each, np.uint64).reshape(-1, self.config.ports)
            for each in self._all("sent", [[]] * len(self._spans))])

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
