"""What the external memory of a board costs: its parameters for the cycle model."""

from __future__ import annotations

from celosia.arch.board import Board
from celosia.arch.config import TpuConfig
from celosia.model.timing import Timing

__all__ = ["memory_timing"]

#: Cycles of the RTL around an SDRAM, measured with single instructions: a read through arbiter and
#: controller, without CAS and pads; the answer to a write, beside its words.
_READ, _WRITE = 11, -1
#: The same of block RAM, by the contracts of arbiter and memory.
_RAM_READ, _RAM_WRITE = 5, 3
#: Read bursts that the arbiter lets wait (`celosia_hw.soc.memory_arbiter`).
_OUTSTANDING = 4
#: Of the controller: cycles in which it chooses a burst that is in no open row; those in which it
#: takes a refresh up.
_CHOOSE, _UPKEEP = 1, 2
#: Cycles before the doorbell: a host behind a serial line is slower than any fetch.
_AHEAD = 10_000
#: Cycles beside CAS from a word that is read to one that is written, in rows that are open:
#: measured with loads and stores of single beats at once, in other banks.
_TURN = 2
#: Bytes of a word of an SDRAM.
_WORD = 2


def memory_timing(board: Board, config: TpuConfig, freq_hz: int | None = None) -> Timing:
    """Return what the cycle model is to know of a board's memory.

    Parameters
    ----------
    board, config
        The board and its chip.
    freq_hz
        System clock; that of the chip on the board if None.
    """
    from celosia_hw.boards.pll import pll
    from celosia_hw.soc.sdram_pads import sdram_pads
    from celosia_hw.soc.sdram_timing import SdramTiming

    if board.memory == "on-chip":
        return Timing(read_latency=_RAM_READ, write_latency=_RAM_WRITE,
                      outstanding=_OUTSTANDING, ahead=_AHEAD)
    clock_hz = round(pll(board.family, board.series, board.clock_hz,
                         freq_hz or board.clock(config)).freq_hz)
    device = SdramTiming()
    cycles, pads = device.cycles(clock_hz), sdram_pads(device, clock_hz)
    page = _CHOOSE + cycles.precharge + cycles.activate_to_column
    words = config.bus_bytes // _WORD
    return Timing(
        read_latency=_READ + cycles.cas + pads.cycles + words, write_latency=_WRITE + words,
        outstanding=_OUTSTANDING, beat_cycles=words, shared=True,
        turn_cycles=cycles.cas + _TURN, ahead=_AHEAD,
        page_bytes=_WORD << device.column_bits, page_cycles=page, page_banks=1 << device.bank_bits,
        # It closes the rows of all that go on: mostly two.
        refresh_interval=cycles.interval,
        refresh_cycles=(_UPKEEP + cycles.precharge + cycles.refresh + _CHOOSE
                        + 2 * cycles.activate_to_column))
