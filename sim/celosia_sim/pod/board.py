"""Some chips of a pod, in this process, with the links that lead to others."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.registers import BY_NAME, LINK_STATUS, Control, Status, link_register
from celosia.driver.errors import DeviceError
from celosia_sim.build import ABI
from celosia_sim.pod.library import PodLibrary, PodStop
from celosia_sim.pod.options import End, PodOptions
from celosia_sim.rtl import RtlTransport

__all__ = ["VERSION", "NeighbourLost", "PodBoard", "PodBoardError", "say_chips"]

#: Changes with what boards are asked, and what they send each other.
VERSION = f"5.{ABI}"
_CONTROL = BY_NAME["CONTROL"].offset
#: What is said of a port: bits of LINKn_STATUS, and counters.
_OF_LINKS = ("up", "down", "sent", "resent", "received", "garbled")


class PodBoardError(DeviceError):
    """A board cannot go on; the message says why."""


class NeighbourLost(PodBoardError):
    """A board that has to go on with this one does not."""


def say_chips(chips: range) -> str:
    """Say which chips a board has."""
    return (f"chip {chips.start}" if len(chips) == 1 else
            f"chips {chips.start} to {chips.stop - 1}")


def _greeting(config: TpuConfig, links: Mapping[End, End], options: PodOptions) -> bytes:
    """Return what boards must agree about before a word goes from one to the other."""
    agreed = (VERSION, config, sorted({tuple(sorted(each)) for each in links.items()}),
              sorted(options.latencies(links).items()), options.turns(1, links)[0])
    return hashlib.sha256(repr(agreed).encode()).digest()


def _meet(neighbour: range, wire: socket.socket, greeting: bytes, seconds: float) -> None:
    wire.settimeout(seconds)
    try:
        wire.sendall(greeting)
        found = b""
        while len(found) < len(greeting):
            more = wire.recv(len(greeting) - len(found))
            if not more:
                raise ConnectionResetError("it is gone")
            found += more
    except TimeoutError:
        raise NeighbourLost(f"the board of {say_chips(neighbour)} must greet within {seconds:g} s"
                            ) from None
    except ConnectionError as error:
        raise NeighbourLost(f"the board of {say_chips(neighbour)} must greet, but it is gone: "
                            f"{error}") from None
    if found != greeting:
        raise PodBoardError(f"the board of {say_chips(neighbour)} must have this version, "
                            "configuration, links, latency and window, but it has others")
    wire.settimeout(None)


class PodBoard:
    """Chips first..last of a pod and their links, in this process.

    Time passes for the chips of a board together. Boards of one pod are asked
    the same, in the same order: each one goes on as far as its neighbours have come, and waits for
    no others. What chips do is the same however they are spread over boards.

    Attributes
    ----------
    runs
        Programs that were started on the board's chips together, or on one of them.

    Parameters
    ----------
    config
        Of each chip; it has ports.
    chips
        Their numbers in the pod.
    links
        Of the whole pod: for an end, a chip and its port, the other one.
    options
        Of the pod; the same for all boards but for threads.
    wires
        The chips of each board that links lead to, and a connected stream socket to it.

    Raises
    ------
    PodBoardError
        If a neighbour is not of this pod, or does not answer.
    celosia.storage.ToolchainError
        If the chip cannot be built.
    """

    def __init__(self, config: TpuConfig, chips: range, links: Mapping[End, End],
                 options: PodOptions, wires: Sequence[tuple[range, socket.socket]] = ()):
        self.config, self.numbers = config, chips
        self._wires, self._options = list(wires), options
        self.runs = 0
        self._other: RtlTransport | None = None
        greeting = _greeting(config, links, options)
        for neighbour, wire in wires:
            _meet(neighbour, wire, greeting, options.patience)
        first = RtlTransport(config, quiet=True)
        self.chips = [first, *(RtlTransport(config, quiet=True, built=first.built)
                               for _ in chips[1:])]
        self._library: PodLibrary | None = PodLibrary(
            first.chip.library, [each.chip.handle for each in self.chips], chips,
            (config.ports, config.link_bytes), links, options,
            [(neighbour, wire.fileno()) for neighbour, wire in wires])

    def __enter__(self) -> PodBoard:
        """Return it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Free the chips and hang up; closing twice does nothing."""
        if self._library is not None:
            self._library.close()
            self._library = None
            for chip in (*self.chips, *filter(None, [self._other])):
                chip.close()
        for _, wire in self._wires:
            wire.close()

    @property
    def _open(self) -> PodLibrary:
        if self._library is None:
            raise PodBoardError(f"the board of {say_chips(self.numbers)} must be open, but it was "
                                "closed")
        return self._library

    def _check(self, stop: PodStop) -> None:
        if stop is PodStop.VIOLATION:
            for chip in self.chips:
                chip.wait_interrupt(0)
        if stop in (PodStop.GONE, PodStop.SILENT):
            neighbour = say_chips(self._wires[self._open.gone][0])
            why = ("is gone" if stop is PodStop.GONE else
                   f"has said nothing for {self._options.patience:g} s")
            raise NeighbourLost(f"the board of {neighbour} must go on with "
                                f"{say_chips(self.numbers)}, but it {why}")

    def access(self, offset: int, values: Sequence[int] | None = None) -> list[int]:
        """Read a register of each chip in one cycle, or write it, and return the values.

        Raises
        ------
        PodBoardError
            If a chip does not answer OKAY, or a neighbour not at all.
        """
        self.runs += offset == _CONTROL and values is not None and Control.START in values
        stop, response, found = self._open.access(offset, values)
        self._check(stop)
        if response:
            raise PodBoardError(f"all of {say_chips(self.numbers)} must answer OKAY at register "
                             f"{offset:#x}, not {response}")
        return found

    def advance(self, cycles: int) -> bool:
        """Let cycles pass; return whether the interrupts of all chips are high.

        Raises
        ------
        celosia_sim.library.ProtocolError
            If a chip broke a rule of AXI.
        PodBoardError
            If a neighbour does not go on.
        """
        self._check(self._open.advance(cycles))
        return self._open.interrupts

    def save(self) -> list[NDArray[np.uint8]]:
        """Return all that the board is: its runs, its links, each chip; in a run, too.

        Raises
        ------
        PodBoardError
            If a neighbour does not go on.
        """
        stop, links = self._open.save()
        self._check(stop)
        return [np.array([self.runs], np.int64).view(np.uint8), links,
                *(each.chip.save() for each in self.chips)]

    def load(self, saved: Sequence[NDArray[np.uint8]]) -> None:
        """Make it what such a board was when it was saved; nothing may have been sent to it since.

        Raises
        ------
        ValueError
            If it is not of such a board.
        """
        if len(saved) != 2 + len(self.chips):
            raise ValueError(f"a state must be of {say_chips(self.numbers)} and their links, not "
                             f"of {len(saved) - 2} chips")
        [self.runs] = saved[0].view(np.int64).tolist()
        self._open.load(saved[1])
        for chip, data in zip(self.chips, saved[2:], strict=True):
            chip.chip.load(data)

    def look(self) -> dict[str, Any]:
        """Return what the board is doing, in words and numbers; it changes nothing."""
        running, links = 0, {name: 0 for name in _OF_LINKS}
        for chip in self.numbers:
            read = self._copy(chip)
            running += read("STATUS") == Status.RUNNING
            for port in self._ports(read):
                for name, value in port.items():
                    links[name] += value
        return {"chips": [self.numbers.start, self.numbers.stop], "config": self.config.name,
                "links": len(self.chips) * self.config.ports, **links, "running": running,
                "runs": self.runs, "cycles": self.chips[0].now}

    def links(self, chip: int) -> list[dict[str, int]]:
        """Return of each port of a chip what it has counted since its reset, and whether its link
        is up, or down; it changes nothing.
        """
        return self._ports(self._copy(chip))

    def _ports(self, read: Callable[[str], int]) -> list[dict[str, int]]:
        found = []
        for port in range(self.config.ports):
            status = read(link_register(port, "status"))
            found.append({name: status >> LINK_STATUS[name][0] & 1 if name in LINK_STATUS else
                          read(link_register(port, name)) for name in _OF_LINKS})
        return found

    def _copy(self, chip: int) -> Callable[[str], int]:
        """Return what reads registers of another chip, which was made what this one is: time does
        not pass for this one.
        """
        if self._other is None:
            self._other = RtlTransport(self.config, quiet=True, built=self.chips[0].built)
        other = self._other
        other.chip.load(self.chips[chip - self.numbers.start].chip.save())
        return lambda name: other.read_register(BY_NAME[name].offset)

    def sent(self) -> NDArray[np.uint64]:
        """Return a hash of all that each port has ever sent, and of when: (chips, ports)."""
        return self._open.hashes()
