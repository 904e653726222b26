"""Boards in processes of their own, as seen from the one that starts them."""

from __future__ import annotations

import dataclasses
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.driver.errors import BusError, DeviceError
from celosia_sim.library import MEMORY_BYTES, ProtocolError
from celosia_sim.pod.board import PodBoardError
from celosia_sim.pod.messages import receive, send
from celosia_sim.pod.options import End, PodOptions

__all__ = ["ApartBoard", "apart"]

#: Errors that keep their class on the way.
_ERRORS: dict[str, type[Exception]] = {each.__name__: each for each in (
    PodBoardError, BusError, DeviceError, ProtocolError, ValueError)}
#: Seconds that a process has to end in.
_PATIENCE = 5.0


class _ApartChip:
    """A chip of a board in another process: what a pod wants of `celosia_sim.rtl.RtlTransport`."""

    memory_bytes = MEMORY_BYTES

    def __init__(self, board: ApartBoard, place: int):
        self._board, self._place = board, place

    def _ask(self, name: str, *arguments: Any, data: bytes | memoryview = b"") -> Any:
        return self._board.ask("chip", self._place, name, *arguments, data=data)

    def read_register(self, offset: int) -> int:
        return self._ask("read_register", offset)[0]

    def write_register(self, offset: int, value: int) -> None:
        self._ask("write_register", offset, value)

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        return np.frombuffer(self._ask("read_memory", address, size)[1], np.uint8)

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        self._ask("write_memory", address, data=(
            np.ascontiguousarray(data).reshape(-1).view(np.uint8).data
            if isinstance(data, np.ndarray) else data))

    def wait_interrupt(self, timeout_cycles: int) -> bool:
        return self._ask("wait_interrupt", timeout_cycles)[0]

    def peek(self, memory: str, row: int, n: int) -> NDArray[np.uint8]:
        shape, data = self._ask("peek", memory, row, n)
        return np.frombuffer(data, np.uint8).reshape(shape)

    def poke(self, memory: str, row: int, data: NDArray[np.uint8]) -> None:
        self._ask("poke", memory, row, data.shape,
                  data=np.ascontiguousarray(data).reshape(-1).data)

    def close(self) -> None:
        """Do nothing: the board's end is its own."""


class ApartBoard:
    """A `PodBoard` in a process of its own, with its methods.

    Each of them waits for its answer; ``begin`` and ``end`` are for what all boards of a pod are to
    do at once.

    Parameters
    ----------
    chips
        Their numbers in the pod.
    control
        A socket to the process.
    process
        It; ended by `close`.
    """

    def __init__(self, chips: range, control: socket.socket, process: subprocess.Popen[bytes]):
        self.numbers, self._control, self.process = chips, control, process
        self.chips = [_ApartChip(self, place) for place in range(len(chips))]

    def begin(self, name: str, *arguments: Any, data: bytes | memoryview = b"") -> None:
        """Ask for something; it is done while nobody waits for it."""
        try:
            send(self._control, [name, *arguments], data)
        except (ConnectionError, OSError):
            raise self._ended() from None

    def end(self) -> tuple[Any, bytearray]:
        """Wait for what was asked for last.

        Raises
        ------
        PodBoardError
            If the process has ended.
        Exception
            That of the board.
        """
        try:
            (kind, value), data = receive(self._control)
        except (EOFError, OSError):
            raise self._ended() from None
        if kind:
            raise _ERRORS.get(kind, RuntimeError)(value)
        return value, data

    def ask(self, name: str, *arguments: Any,
            data: bytes | memoryview = b"") -> tuple[Any, bytearray]:
        """Ask for something and wait for it."""
        self.begin(name, *arguments, data=data)
        return self.end()

    def _ended(self) -> PodBoardError:
        try:
            code = self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            code = None
        how = ("does not answer" if code is None else f"has ended with {code}" if code >= 0 else
               f"was ended by {signal.Signals(-code).name}")
        return PodBoardError(f"the process {self.process.pid} of chips {self.numbers.start} to "
                          f"{self.numbers.stop - 1} must go on, but it {how}")

    def close(self) -> None:
        """End the process; closing twice does nothing."""
        self._control.close()
        try:
            self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def apart(config: TpuConfig, links: Mapping[End, End], options: PodOptions,
          spans: Sequence[range]) -> list[ApartBoard]:
    """Start a process for some chips each, and connect those that links connect."""
    place = {chip: i for i, span in enumerate(spans) for chip in span}
    pairs = sorted({tuple(sorted((place[a], place[b]))) for (a, _), (b, _) in links.items()
                    if place[a] != place[b]})
    wires: list[list[tuple[range, socket.socket]]] = [[] for _ in spans]
    for a, b in pairs:
        to_a, to_b = socket.socketpair()
        wires[a].append((spans[b], to_b))
        wires[b].append((spans[a], to_a))
    boards: list[ApartBoard] = []
    try:
        for span, own in zip(spans, wires, strict=True):
            control, other = socket.socketpair()
            with other:
                fds = [wire.fileno() for _, wire in own]
                process = subprocess.Popen(
                    [sys.executable, "-m", "celosia_sim.pod.process", str(other.fileno())],
                    pass_fds=[other.fileno(), *fds], stdin=subprocess.DEVNULL)
            boards.append(ApartBoard(span, control, process))
            boards[-1].begin(
                "open", dataclasses.asdict(config), [span.start, span.stop],
                [[*a, *b] for a, b in links.items()], dataclasses.asdict(options),
                [[chips.start, chips.stop, fd] for (chips, _), fd in zip(own, fds, strict=True)])
        for board in boards:
            board.end()
    except BaseException:
        for board in boards:
            board.close()
        raise
    finally:
        for own in wires:
            for _, wire in own:
                wire.close()
    return boards
