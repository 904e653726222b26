"""A board in simulation behind a pseudo-terminal: the RTL of the host link, bit for bit."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.arch.link import LinkConfig
from celosia.arch.registers import BY_NAME, Status
from celosia.driver.backends import BACKENDS
from celosia.driver.transport import Transport
from celosia_sim.board_port import SLICE, BoardPort, add_line_arguments, serve
from celosia_sim.wire_library import WireLibrary, build_wire

__all__ = ["CLOCKS_PER_BIT", "WireBoard", "main"]

#: Clock cycles of a bit: the fewest that the link takes, so that the simulation is fast.
CLOCKS_PER_BIT = 4
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
        path = build_wire(config, link)
        self.wire = WireLibrary(path, target, link.clock_hz / link.actual_baud * (1 + skew),
                                self._written)
        self._port = BoardPort(self.wire)
        self.port = self._port.name

    def _written(self) -> None:
        self._watched = True
        self.wire.interrupt(self._target.wait_interrupt(0))

    def step(self) -> None:
        """Take what the host has sent, simulate for a while, and hand on the replies; where
        nothing has happened for long, wait a little for the host instead.
        """
        if not self._port.step(self._watched):
            return
        if self._watched:
            self.wire.interrupt(self._target.wait_interrupt(SLICE))
            self._watched = self._target.read_register(_STATUS) == Status.RUNNING

    def unplug(self) -> None:
        """Take the port away from the host; nothing can be done with the board after that."""
        self._port.close()
        self.wire.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a board until standard input ends; its port is the first line of standard output."""
    parser = argparse.ArgumentParser(prog="python -m celosia_sim.wire", description=main.__doc__)
    parser.add_argument("--preset", choices=list(PRESETS), default="nano")
    parser.add_argument("--chip", choices=[name for name in BACKENDS if name != "serial"],
                        default="model", help="what is behind the link (default: %(default)s)")
    add_line_arguments(parser)
    options = parser.parse_args(arguments)
    config = preset(options.preset)
    board = WireBoard(BACKENDS[options.chip](config), config, skew=options.skew)
    board.wire.noise(options.seed, options.noise)
    serve(board.port, board.step)
    cycles, faults = board.wire.now, board.wire.faults
    board.unplug()
    print(f"{cycles} cycles, {faults} faults", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
