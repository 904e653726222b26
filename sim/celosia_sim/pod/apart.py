"""A board in a process of its own, as seen from the one that starts it."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from celosia.arch.config import TpuConfig
from celosia.driver.errors import BusError, DeviceError
from celosia_sim.library import ProtocolError
from celosia_sim.pod.board import NeighbourLost, PodBoardError, say_chips
from celosia_sim.pod.messages import receive, send
from celosia_sim.pod.options import End, PodOptions

__all__ = ["ApartBoard", "BoardLost", "apart"]

#: Errors that keep their class on the way.
_ERRORS: dict[str, type[Exception]] = {each.__name__: each for each in (
    NeighbourLost, PodBoardError, BusError, DeviceError, ProtocolError, ValueError)}
#: Seconds that a process has to end in.
_PATIENCE = 5.0
#: One may take so much longer than its neighbours wait for it: they say that they do.
_LONGER = 1.25


class BoardLost(PodBoardError):
    """The process of a board has ended, or does not answer."""


class ApartBoard:
    """A `PodBoard` in a process of its own.

    Parameters
    ----------
    chips
        Their numbers in the pod.
    control
        A socket to the process.
    process
        It; ended by `close`.
    patience
        Seconds that it may take to answer.
    """

    def __init__(self, chips: range, control: socket.socket, process: subprocess.Popen[bytes],
                 patience: float):
        self.numbers, self._control, self.process = chips, control, process
        self._patience = patience
        control.settimeout(patience)

    def begin(self, name: str, *arguments: Any, data: bytes | bytearray | memoryview = b"") -> None:
        """Ask for something; it is done while nobody waits for it. `end` says if nobody does it."""
        with contextlib.suppress(OSError):
            send(self._control, [name, *arguments], data)

    def end(self) -> tuple[Any, bytearray]:
        """Wait for what was asked for last.

        Raises
        ------
        BoardLost
            If the process has ended, or does not answer.
        Exception
            That of the board.
        """
        try:
            (kind, value), data = receive(self._control)
        except TimeoutError:
            raise self._lost(f"has said nothing for {self._patience:g} s") from None
        except (EOFError, OSError):
            try:
                code = self.process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                raise self._lost("has hung up") from None
            raise self._lost(f"has ended with {code}" if code >= 0 else
                             f"was ended by {signal.Signals(-code).name}") from None
        if kind:
            raise _ERRORS.get(kind, RuntimeError)(value)
        return value, data

    def _lost(self, how: str) -> BoardLost:
        return BoardLost(f"the process {self.process.pid} of {say_chips(self.numbers)} must go on, "
                         f"but it {how}")

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.close()

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
            boards.append(ApartBoard(span, control, process, options.patience * _LONGER))
            boards[-1].begin(
                "open", dataclasses.asdict(config), [span.start, span.stop],
                [[*a, *b] for a, b in links.items()], dataclasses.asdict(options),
                [[chips.start, chips.stop, fd] for (chips, _), fd in zip(own, fds, strict=True)])
        for board in boards:
            board.end()
    except BaseException:
        for board in boards:
            board.kill()
        raise
    finally:
        for own in wires:
            for _, wire in own:
                wire.close()
    return boards
