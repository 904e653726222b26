"""What the FPGA tools want for a chip on a board: Verilog, constraints, clocks."""

import struct
from dataclasses import replace
from typing import Any

from celosia.arch.board import Board, ChipKind, Sources
from celosia.arch.config import TpuConfig
from celosia.arch.link import LinkConfig
from celosia_hw.boards.constraints import CONSTRAINTS_FILES, constraints, vivado_script
from celosia_hw.boards.platform_pins import board_pins
from celosia_hw.boards.pll import pll
from celosia_hw.boards.tops import top_module
from celosia_hw.soc.compact.boot import FLASH_OFFSET
from celosia_hw.soc.compact.firmware import image, variant
from celosia_hw.soc.sdram_pads import sdram_pads
from celosia_hw.soc.sdram_timing import SdramTiming
from celosia_hw.soc.system import SystemConfig
from celosia_hw.verilog.chip import compact_verilog, system_verilog
from celosia_hw.verilog.emit import WriteGrid, instances

__all__ = ["sources"]

#: Requests that the receiver of a compact chip holds; its firmware is slower than any line.
_COMPACT_BUFFER = 1024


def _has_spram(board: Board) -> bool:
    """Whether the device has single-port RAM beside its block RAM."""
    return board.family == "ice40"


def _check_memory(board: Board, config: TpuConfig, chip: ChipKind) -> None:
    """Check that the block RAM holds what is to be in it."""
    if board.memory == "sdram":
        return
    wanted = config.acc_bytes
    if chip == "compact":
        wanted += 2 * _COMPACT_BUFFER
        wanted += variant(config).ram_bytes if not _has_spram(board) else 0
    if not _has_spram(board):
        wanted += config.ub_bytes + board.memory_bytes
    # A byte has a ninth bit in the larger blocks, which nothing here uses.
    size = board.capacity.block_ram_bits // (9 if board.capacity.block_ram_bits % 9 == 0 else 8)
    if wanted > board.capacity.block_rams * size:
        raise ValueError(
            f"config must be a chip whose memories and external memory fit in the "
            f"{board.capacity.block_rams * size} bytes of block RAM of {board.title}, not "
            f"{config.name!r}, which wants {wanted}")


def _chip(board: Board, config: TpuConfig, wanted: ChipKind | None) -> ChipKind:
    """Return what of the board's chips ``config`` can be."""
    if wanted is not None and wanted not in board.chips:
        raise ValueError(f"chip must be {' or '.join(board.chips)} on {board.title}, not "
                         f"{wanted!r}")
    for chip in (wanted,) if wanted else board.chips:
        if chip == "pipelined" or config.int8 and config.dim <= (4 if config.bf16 else 8) and not (
                config.bf16 and _has_spram(board)):
            return chip
    bf16 = "" if _has_spram(board) else ", or of int8 and bf16 with D = 2 or 4,"
    raise ValueError(f"config must be a chip of int8 alone with D = 2, 4 or 8{bf16} where it is "
                     f"compact, as on {board.title}, not {config.name!r}")


def sources(board: Board, config: TpuConfig, freq_hz: int | None = None, *,
            chip: ChipKind | None = None, baud: int | None = None,
            write_grid: WriteGrid = instances) -> Sources:
    """Return what the tools want for ``config`` on ``board``, folded as the board takes it.

    Parameters
    ----------
    freq_hz
        System clock; ``board.freq_hz`` if None.
    chip
        One of ``board.chips``; the first of them that ``config`` can be if None.
    baud
        Of the host link; ``board.baud`` if None.
    write_grid
        The form of grids, see `celosia_hw.verilog.emit.verilog`: that for synthesis if not given.

    Raises
    ------
    ValueError
        If the clock generator does not reach the frequency, the link not the baud, or the chip does
        not fit the memories of the board.
    ImportError
        If amaranth-boards is not installed.
    """
    chip = _chip(board, config, chip)
    config = board.folded(config)
    setting = pll(board.family, board.series, board.clock_hz, freq_hz or board.freq_hz)
    actual = round(setting.freq_hz)
    _check_memory(board, config, chip)
    pins = board_pins(board)
    link = LinkConfig(actual, board.baud if baud is None else baud, board.memory_bytes)
    flash = b""
    sdram: dict[str, Any] = {}
    phase = 0
    if board.memory == "sdram":
        timing = SdramTiming()
        pads = sdram_pads(timing, actual)
        sdram, phase = {"sdram": timing, "pad_cycles": pads.cycles}, pads.phase
    if chip == "compact":
        link = replace(link, buffer_bytes=_COMPACT_BUFFER)
        words = image(config, link)
        if _has_spram(board):
            flash = struct.pack(f"<{len(words)}I", *words).ljust(variant(config).ram_bytes, b"\0")
            words = []
        system = compact_verilog(config, link, words, spram=_has_spram(board), **sdram)
    else:
        system = system_verilog(config, SystemConfig(link, memory=board.memory, **sdram),
                                write_grid=write_grid)
    verilog = "\n".join([system, top_module(board.family, board.series, setting, pins, phase)])
    return Sources(
        board, config, chip, verilog, constraints(board.family, pins),
        CONSTRAINTS_FILES[board.family], {"clk": board.clock_hz, "clk_sys": actual}, actual,
        link.baud, board.memory_bytes,
        vivado_script(board) if board.family == "xilinx7" else "", flash, FLASH_OFFSET)
