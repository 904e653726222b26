"""The process of a board.

    python -m celosia_sim.pod.process FD

is told over a socket what to do, by `celosia_sim.pod.apart`, and ends when that is closed.
"""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from celosia.arch.config import TpuConfig
from celosia_sim.pod.board import PodBoard
from celosia_sim.pod.messages import receive, send
from celosia_sim.pod.options import PodOptions

__all__ = ["main"]


def _board(config: Mapping[str, Any], chips: Sequence[int], links: Sequence[Sequence[int]],
           options: Mapping[str, Any], wires: Sequence[Sequence[int]]) -> PodBoard:
    return PodBoard(
        TpuConfig(**config), range(*chips), {(a, p): (b, q) for a, p, b, q in links},
        PodOptions(**options),
        [(range(start, stop), socket.socket(fileno=fd)) for start, stop, fd in wires])


def _of_chip(board: PodBoard, data: bytearray, place: int, name: str,
             *arguments: Any) -> tuple[Any, bytes | memoryview]:
    """Do something with one chip; return what it gives, and bytes."""
    chip = board.chips[place]
    if name == "read_memory":
        return None, chip.read_memory(*arguments).data
    if name == "write_memory":
        [address] = arguments
        chip.write_memory(address, np.frombuffer(data, np.uint8))
        return None, b""
    if name == "peek":
        rows = chip.peek(*arguments)
        return rows.shape, rows.reshape(-1).data
    if name == "poke":
        memory, row, shape = arguments
        chip.poke(memory, row, np.frombuffer(data, np.uint8).reshape(shape))
        return None, b""
    actions: dict[str, Callable[..., Any]] = {each.__name__: each for each in (
        chip.read_register, chip.write_register, chip.wait_interrupt)}
    return actions[name](*arguments), b""


def _answer(board: PodBoard, data: bytearray, name: str,
            *arguments: Any) -> tuple[Any, bytes | memoryview]:
    if name == "chip":
        return _of_chip(board, data, *arguments)
    if name == "sent":
        return None, board.sent().reshape(-1).view(np.uint8).data
    if name == "save":
        parts = board.save()
        return [each.size for each in parts], np.concatenate(parts).data
    if name == "load":
        [sizes] = arguments
        board.load(np.split(np.frombuffer(data, np.uint8), np.cumsum(sizes)[:-1]))
        return None, b""
    actions: dict[str, Callable[..., Any]] = {each.__name__: each
                                              for each in (board.access, board.advance)}
    return actions[name](*arguments), b""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what is asked for over a socket until it is closed; return 0."""
    [fd] = sys.argv[1:] if argv is None else argv
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who has started this ends it
    board: PodBoard | None = None
    with socket.socket(fileno=int(fd)) as control:
        try:
            while True:
                (name, *arguments), data = receive(control)
                try:
                    if board is None:
                        board = _board(*arguments)
                        found: tuple[Any, bytes | memoryview] = (None, b"")
                    else:
                        found = _answer(board, data, name, *arguments)
                except Exception as error:  # noqa: BLE001 - it is raised where it was asked for
                    send(control, [type(error).__name__, str(error)])
                else:
                    send(control, ["", found[0]], found[1])
        except (EOFError, ConnectionError):
            pass
    if board is not None:
        board.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
