"""The process of a board.

    python -m celosia_sim.pod.process [HOST] [PORT]

reads the pod's token, in hexadecimal, from its standard input, writes there where it listens, and
is a board for one controller after the other (`celosia_sim.pod.fleet`). It ends when its standard
input does: with whoever has started it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from celosia.arch.config import TpuConfig
from celosia.arch.registers import BY_NAME, Control
from celosia.collectives.wire import receive, send
from celosia_sim.pod.board import VERSION, NeighbourLost, PodBoard, PodBoardError
from celosia_sim.pod.door import Door, Hello, Role, enter
from celosia_sim.pod.options import PodOptions
from celosia_sim.pod.states import States

__all__ = ["main", "serve"]

#: Whether a thread can be kept to processors.
_BINDS = hasattr(os, "sched_setaffinity")


def _waited_for(control: socket.socket, chip: int) -> None:
    """NeighbourLost if the controller has said more: it waits for nothing that others keep back."""
    if select.select([control], [], [], 0)[0]:
        raise NeighbourLost(f"the board from chip {chip} on must be waited for until it has its "
                            "neighbours, but it is not")


def _opened(door: Door, token: bytes, control: socket.socket, asked: Mapping[str, Any]) -> PodBoard:
    """Return a board that is connected with its neighbours, if the controller waits for it."""
    def look() -> None:
        _waited_for(control, asked["chips"][0])

    if asked["version"] != VERSION:
        raise PodBoardError(f"a board must be of version {asked['version']}, as its controller, "
                            f"not {VERSION}")
    chips, options = range(*asked["chips"]), PodOptions(**asked["options"])
    wires: list[tuple[range, socket.socket]] = []
    try:
        # Of two neighbours the one behind connects.
        for first, end, host, port in asked["neighbours"]:
            wires.append((range(first, end), enter(
                (host, port), token, Hello(Role.WIRE, asked["epoch"], chips.start),
                options.patience, look) if first < chips.start else
                door.wire(asked["epoch"], first, options.patience, look)))
        return PodBoard(TpuConfig(**asked["config"]), chips,
                        {(a, p): (b, q) for a, p, b, q in asked["links"]}, options, wires)
    except BaseException:
        for _, wire in wires:
            wire.close()
        raise


def _of_chips(board: PodBoard, data: memoryview, parts: Sequence[Sequence[Any]],
              ) -> tuple[list[tuple[str, Any, int]], list[bytes | memoryview]]:
    """Do things with chips, one after the other.

    Returns
    -------
    list
        Of each part the kind of its error, what it gives or the error says, and its bytes. What a
        chip is asked behind an error is not done, and gives that as well.
    list
        The bytes of all.
    """
    values: list[tuple[str, Any, int]] = []
    found: list[bytes | memoryview] = []
    failed: dict[int, tuple[str, str, int]] = {}
    for size, place, name, *arguments in parts:
        if place not in failed:
            try:
                value, more = _part(board, data[:size], place, name, *arguments)
            except Exception as error:  # noqa: BLE001 - it is raised where it was asked for
                failed[place] = type(error).__name__, str(error), 0
            else:
                values.append(("", value, memoryview(more).nbytes))
                found.append(more)
        if place in failed:
            values.append(failed[place])
        data = data[size:]
    return values, found


def _part(board: PodBoard, data: memoryview, place: int, name: str,
          *arguments: Any) -> tuple[Any, bytes | memoryview]:
    chip = board.chips[place]
    if name == "read_registers":
        return [chip.read_register(each) for each in arguments], b""
    if name == "write_register":
        board.runs += arguments == (BY_NAME["CONTROL"].offset, Control.START)
        chip.write_register(*arguments)
        return None, b""
    if name == "read_memory":
        return None, chip.read_memory(*arguments).data
    if name == "write_memory":
        [address] = arguments
        chip.write_memory(address, np.frombuffer(data, np.uint8))
        return None, b""
    if name == "wait_interrupt":
        return chip.wait_interrupt(*arguments), b""
    if name == "peek":
        rows = chip.peek(*arguments)
        return rows.shape, rows.reshape(-1).data
    if name == "poke":
        memory, row, shape = arguments
        chip.poke(memory, row, np.frombuffer(data, np.uint8).reshape(shape))
        return None, b""
    raise ValueError(f"a chip must be asked for what it does, not {name!r}")


def _answer(board: PodBoard, data: bytearray, name: str,
            *arguments: Any) -> tuple[Any, Sequence[bytes | memoryview]]:
    if name == "chips":
        return _of_chips(board, memoryview(data), *arguments)
    if name == "sent":
        return None, [board.sent().reshape(-1).view(np.uint8).data]
    actions: dict[str, Callable[..., Any]] = {each.__name__: each for each in (
        board.access, board.advance, board.links)}
    return actions[name](*arguments), []


class _Server:
    """Is a board for one controller after the other, and says what it is doing."""

    def __init__(self, door: Door, token: bytes):
        self._door, self._token = door, token
        self._board: PodBoard | None = None
        self._states = States(door, token)
        self._processors = sorted(os.sched_getaffinity(0)) if _BINDS else []
        self._since = self._controlled = time.time()
        self._lock = threading.Lock()  # of the board

    def serve(self) -> None:
        """Do what controllers ask for; it does not return."""
        for each in (self._show, self._states.take):
            threading.Thread(target=each, daemon=True).start()
        while True:
            with self._door.controller() as control:
                self._controlled = time.time()
                try:
                    self._obey(control)
                except (EOFError, OSError, ValueError):  # hung up, or says what is no message
                    pass
                finally:
                    with self._lock:
                        self._close()
                        self._states.end()

    def _close(self) -> None:
        if self._board is not None:
            self._board.close()
            self._board = None

    def _obey(self, control: socket.socket) -> None:
        while True:
            (name, *arguments), data = receive(control)
            found: tuple[Any, Sequence[bytes | memoryview]] = None, []
            try:
                with self._lock:
                    if name == "open":
                        self._close()
                        self._open(control, *arguments)
                    elif name == "hurry":  # the message is enough
                        pass
                    elif self._board is None:
                        raise PodBoardError(f"a board must be opened before {name}")
                    elif name in ("save", "load", "give", "forget"):
                        self._of_states(self._board, control, name, *arguments)
                    else:
                        found = _answer(self._board, data, name, *arguments)
            except Exception as error:  # noqa: BLE001 - it is raised where it was asked for
                send(control, [type(error).__name__, str(error)])
            else:
                send(control, ["", found[0]], *found[1])

    def _bind(self, place: int, boards: int) -> None:
        """Keep to one processor, if a machine has fewer than boards: neighbours to the same one.

        The scheduler of the system is slow to move a board that could go on to a processor that
        has nothing to do, because all others there wait for it: windows are as short as that.
        """
        if not _BINDS:
            return
        each = self._processors
        with contextlib.suppress(OSError):  # some may be taken away from the process by now
            os.sched_setaffinity(0, each if boards <= len(each) else
                                 [each[place * len(each) // boards]])

    def _open(self, control: socket.socket, asked: Mapping[str, Any]) -> None:
        self._bind(*asked["near"])
        self._states.begin(asked["program"], asked["options"]["patience"])
        self._board = _opened(self._door, self._token, control, asked)

    def _of_states(self, board: PodBoard, control: socket.socket, name: str, number: int,
                   *arguments: Any) -> None:
        """Do something with states of a number."""
        first = board.numbers.start
        if name == "load":
            board.load([np.frombuffer(each, np.uint8)
                        for each in self._states.get(number, first)])
        elif name == "forget":
            self._states.forget(number)
        else:
            chip, places = (first, *arguments) if name == "save" else arguments
            if name == "save":
                self._states.put(number, first, [each.data for each in board.save()])
            self._states.give(number, chip, places, lambda: _waited_for(control, first))

    def _show(self) -> None:
        """Say to whoever asks what the board is doing, between two things that it does."""
        while True:
            with self._door.look() as connection, contextlib.suppress(OSError):
                with self._lock:
                    found = {"pid": os.getpid(), "version": VERSION, "since": self._since,
                             "board": None if self._board is None else {
                                 **self._board.look(), "since": self._controlled,
                                 "states": self._states.sizes()}}
                send(connection, found)


def serve(door: Door, token: bytes) -> None:
    """Be a board for one controller after the other; it does not return."""
    _Server(door, token).serve()


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)  # wherever the others are


def main(argv: Sequence[str] | None = None) -> int:
    """Be a board until the standard input ends."""
    host, port = [*(sys.argv[1:] if argv is None else argv), "127.0.0.1", "0"][:2]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who has started this ends it
    token = bytes.fromhex(sys.stdin.buffer.readline().decode().strip())
    door = Door(token, host, int(port))
    print(*door.address, flush=True)
    threading.Thread(target=_end_with_input, daemon=True).start()
    serve(door, token)
    return 0


if __name__ == "__main__":
    sys.exit(main())
