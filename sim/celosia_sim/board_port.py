"""A simulated serial line behind a pseudo-terminal, which a driver opens as it would a board's."""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import sys
import tty
from collections.abc import Callable
from typing import Protocol

__all__ = ["SLICE", "BoardPort", "SerialLine", "add_line_arguments", "serve"]

#: Clock cycles between two looks at the pseudo-terminal.
SLICE = 4096
#: Slices without a byte after which the board waits for one without simulating.
_QUIET_SLICES = 32
_WAIT_SECONDS = 0.02
#: Bytes from the board that wait for the host.
_MOST_UNREAD = 1 << 16


class SerialLine(Protocol):
    """The board's end of a serial line.

    Attributes
    ----------
    pending
        Bytes that wait to be sent to the board.
    """

    @property
    def pending(self) -> int: ...  # noqa: D102

    def send(self, data: bytes) -> None:
        """Put bytes on the line to the board."""
        ...

    def run(self, cycles: int) -> bytes:
        """Run; return the bytes that came from the board."""
        ...


class BoardPort:
    """A line behind a pseudo-terminal.

    Parameters
    ----------
    line
        What is simulated.

    Attributes
    ----------
    name
        Of the pseudo-terminal, for `celosia.open("serial", port=...)`.
    """

    def __init__(self, line: SerialLine):
        self._line = line
        self._quiet, self._unread, self._closed = 0, b"", False
        self._ours, self._theirs = os.openpty()
        # The other end stays open here, so that hosts may come and go.
        tty.setraw(self._theirs)
        os.set_blocking(self._ours, False)
        self.name = os.ttyname(self._theirs)

    def step(self, busy: bool = False) -> bool:
        """Take what the host has sent, simulate for a slice, and hand on the replies.

        Where nothing has happened for long and the board is not ``busy``, wait a little for the
        host instead, and return False.
        """
        idle = self._quiet >= _QUIET_SLICES and not (busy or self._unread)
        if select.select([self._ours], [], [], _WAIT_SECONDS if idle else 0)[0]:
            self._line.send(os.read(self._ours, 1 << 16))
        elif idle:
            return False
        before = self._line.pending
        replies = self._line.run(SLICE)
        self._quiet = 0 if before or replies else self._quiet + 1
        # Where nobody listens, the oldest bytes are lost.
        self._unread = (self._unread + replies)[-_MOST_UNREAD:]
        with contextlib.suppress(BlockingIOError):
            self._unread = self._unread[os.write(self._ours, self._unread):]
        return True

    def close(self) -> None:
        """Take the port away from the host; closing twice does nothing."""
        if not self._closed:
            self._closed = True
            os.close(self._ours)
            os.close(self._theirs)


def add_line_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be wrong with a line: ``--noise``, ``--seed`` and ``--skew``."""
    parser.add_argument("--noise", type=float, default=0.0, metavar="RATE",
                        help="chance of a byte to be changed, lost or doubled")
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    parser.add_argument("--skew", type=float, default=0.0,
                        help="how much longer than the board's the host's bits are")


def serve(port: str, step: Callable[[], object]) -> None:
    """Print the name of a port and run what is behind it until standard input ends."""
    print(port, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        while not (select.select([sys.stdin], [], [], 0)[0] and not os.read(0, 1024)):
            step()
