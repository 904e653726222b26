"""A board in simulation behind a pseudo-terminal: its top module at its pins, SDRAM included."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from celosia.arch.config import PRESETS, preset
from celosia_sim.board_library import PAD_DELAYS, BoardLibrary, BuiltBoard, build_board
from celosia_sim.board_port import BoardPort, add_line_arguments, serve
from celosia_sim.boards.sdram import PARTS, SdramPart, Violation, strictest

__all__ = ["STRICTEST", "SimulatedBoard", "main"]

#: An SDRAM that forbids what any of those forbids that boards carry.
STRICTEST = strictest(*PARTS.values())
#: Clock cycles that a board has run before a host can see its port: more than its reset is long,
#: as what comes in the reset is lost.
_POWER_UP = 4096


class SimulatedBoard:
    """A board, Verilated, behind a pseudo-terminal.

    Parameters
    ----------
    built
        What `celosia_sim.board_library.build_board` returned.
    part
        Its SDRAM, if it has one.
    pad_delays
        As `celosia_sim.board_library.PAD_DELAYS`.
    skew
        How much longer than the baud rate says the host's bits are.

    Attributes
    ----------
    port
        Name of the pseudo-terminal, for `celosia.open("serial", port=...)`.
    pins
        The board at its pins.
    """

    def __init__(self, built: BuiltBoard, *, part: SdramPart = STRICTEST,
                 pad_delays: tuple[int, int] = PAD_DELAYS, skew: float = 0.0):
        self.pins = BoardLibrary(built, part, pad_delays=pad_delays, skew=skew)
        self.pins.run(_POWER_UP)
        self._port = BoardPort(self.pins)
        self._told = 0
        self.port = self._port.name

    def step(self) -> list[Violation]:
        """Simulate for a while, or wait for the host; return the rules of the SDRAM that were
        broken in it.
        """
        self._port.step()
        if self.pins.sdram is None:
            return []
        new = self.pins.sdram.violations[self._told:]
        self._told += len(new)
        return new

    def unplug(self) -> None:
        """Take the port away from the host; nothing can be done with the board after that."""
        self._port.close()
        self.pins.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a board until standard input ends; its port is the first line of standard output.

    Return 1 if a rule of the SDRAM's data sheet was broken.
    """
    from celosia_hw.boards import BOARDS

    parser = argparse.ArgumentParser(prog="python -m celosia_sim.board", description=main.__doc__)
    parser.add_argument("--board", choices=list(BOARDS), default="ulx3s")
    parser.add_argument("--preset", choices=list(PRESETS), help="the chip (default: the board's)")
    parser.add_argument("--baud", type=int, help="of the host link (default: the board's)")
    parser.add_argument("--sdram", choices=list(PARTS),
                        help="the part (default: one as strict as all of them)")
    add_line_arguments(parser)
    options = parser.parse_args(arguments)
    built = build_board(BOARDS[options.board], options.preset and preset(options.preset),
                        baud=options.baud, announce=lambda line: print(line, file=sys.stderr))
    board = SimulatedBoard(built, part=PARTS[options.sdram] if options.sdram else STRICTEST,
                           skew=options.skew)
    board.pins.noise(options.seed, options.noise)

    def step() -> None:
        for violation in board.step():
            print(violation, file=sys.stderr, flush=True)

    serve(board.port, step)
    cycles, faults, sdram = board.pins.now, board.pins.faults, board.pins.sdram
    print(f"{cycles} cycles, {faults} faults", flush=True)
    broken = 0
    if sdram is not None:
        broken, counts = len(sdram.violations), sdram.counts
        print(f"SDRAM: {counts.activates} rows, {counts.reads} reads, {counts.writes} writes, "
              f"{counts.refreshes} refreshes, {broken} violations", flush=True)
    board.unplug()
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
