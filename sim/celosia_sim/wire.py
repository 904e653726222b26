"""A board in simulation behind a pseudo-terminal: the RTL of the host link, bit for bit."""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import sys
import tty
from collections.abc import Sequence

from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.arch.link import LinkConfig
from celosia.arch.registers import BY_NAME, Status
from celosia.driver.backends import BACKENDS
from celosia.driver.transport import Transport
from celosia_sim.wire_library import WireLibrary, build_wire

__all__ = ["CLOCKS_PER_BIT", "WireBoard", "main"]

#: Clock cycles of a bit: the fewest that the link takes, so that the simulation is fast.
CLOCKS_PER_BIT = 4
#: Clock cycles between two looks at the pseudo-terminal.
_SLICE = 4096
#: Slices without a byte after which the board waits for one without simulating.
_QUIET_SLICES = 4
_WAIT_SECONDS = 0.02
#: Bytes from the board that wait for the host.
_MOST_UNREAD = 1 << 16
_STATUS = BY_NAME["STATUS"].offset


class WireBoard:
    """A chip behind any transport, behind the Verilated host link, behind a pseudo-terminal.

    Parameters
    ----------
    target
        The chip. Where its time passes in `wait_interrupt`, that is let pass while it runs.
    config
        What it is.
    link
        The wire side; the bits on the line are as long as it says.
    skew
        How much longer than that the host's bits are.

    Attributes
    ----------
    port
        Name of the pseudo-terminal, for `celosia.open("serial", port=...)`.
    wire
        The link at its pins.
    """

    def __init__(self, target: Transport, config: TpuConfig, link: LinkConfig | None = None,
                 skew: float = 0.0):
        link = link or LinkConfig(CLOCKS_PER_BIT * 1_000_000, memory_bytes=target.memory_bytes)
        self._target = target
        self._watched = True  # the chip may run
        self._quiet = 0
        self._unread = b""
        self._closed = False
        path = build_wire(config, link)
        self.wire = WireLibrary(path, target, link.clock_hz / link.actual_baud * (1 + skew),
                                self._written)
        self._ours, self._theirs = os.openpty()
        # The other end stays open here, so that hosts may come and go.
        tty.setraw(self._theirs)
        os.set_blocking(self._ours, False)
        self.port = os.ttyname(self._theirs)

    def _written(self) -> None:
        self._watched = True
        self.wire.interrupt(self._target.wait_interrupt(0))

    def step(self) -> None:
        """Take what the host has sent, simulate for a while, and hand on the replies; where
        nothing has happened for long, wait a little for the host instead.
        """
        idle = self._quiet >= _QUIET_SLICES and not (self._watched or self._unread)
        if select.select([self._ours], [], [], _WAIT_SECONDS if idle else 0)[0]:
            self.wire.send(os.read(self._ours, 1 << 16))
        elif idle:
            return
        before = self.wire.pending
        replies = self.wire.run(_SLICE)
        self._quiet = 0 if before or replies else self._quiet + 1
        # Where nobody listens, the oldest bytes are lost.
        self._unread = (self._unread + replies)[-_MOST_UNREAD:]
        with contextlib.suppress(BlockingIOError):
            self._unread = self._unread[os.write(self._ours, self._unread):]
        if self._watched:
            self.wire.interrupt(self._target.wait_interrupt(_SLICE))
            self._watched = self._target.read_register(_STATUS) == Status.RUNNING

    def unplug(self) -> None:
        """Take the port away from the host; nothing can be done with the board after that."""
        if not self._closed:
            self._closed = True
            os.close(self._ours)
            os.close(self._theirs)
            self.wire.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a board until standard input ends; its port is the first line of standard output."""
    parser = argparse.ArgumentParser(prog="python -m celosia_sim.wire", description=main.__doc__)
    parser.add_argument("--preset", choices=list(PRESETS), default="nano")
    parser.add_argument("--chip", choices=[name for name in BACKENDS if name != "serial"],
                        default="model", help="what is behind the link (default: %(default)s)")
    parser.add_argument("--noise", type=float, default=0.0, metavar="RATE",
                        help="chance of a byte to be changed, lost or doubled")
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    parser.add_argument("--skew", type=float, default=0.0,
                        help="how much longer than the board's the host's bits are")
    options = parser.parse_args(arguments)
    config = preset(options.preset)
    board = WireBoard(BACKENDS[options.chip](config), config, skew=options.skew)
    board.wire.noise(options.seed, options.noise)
    print(board.port, flush=True)
    try:
        while True:
            if select.select([sys.stdin], [], [], 0)[0] and not os.read(0, 1024):
                break
            board.step()
    except KeyboardInterrupt:
        pass
    cycles, faults = board.wire.now, board.wire.faults
    board.unplug()
    print(f"{cycles} cycles, {faults} faults", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
