"""What the FPGA tools want for a chip on a board: Verilog, constraints, clocks."""

from typing import Any

from celosia.arch.board import Board, Sources
from celosia.arch.config import TpuConfig
from celosia.arch.link import LinkConfig
from celosia_hw.boards.constraints import CONSTRAINTS_FILES, constraints, vivado_script
from celosia_hw.boards.platform_pins import board_pins
from celosia_hw.boards.pll import pll
from celosia_hw.boards.tops import top_module
from celosia_hw.soc.sdram_pads import sdram_pads
from celosia_hw.soc.sdram_timing import SdramTiming
from celosia_hw.soc.system import SystemConfig
from celosia_hw.verilog.chip import system_verilog
from celosia_hw.verilog.emit import WriteGrid, instances

__all__ = ["sources"]


def _check_memory(board: Board, config: TpuConfig) -> None:
    """Check that the block RAM holds what is to be in it."""
    if board.memory == "sdram":
        return
    wanted = config.acc_bytes + config.ub_bytes + board.memory_bytes
    # A byte has a ninth bit in the larger blocks, which nothing here uses.
    size = board.capacity.block_ram_bits // (9 if board.capacity.block_ram_bits % 9 == 0 else 8)
    if wanted > board.capacity.block_rams * size:
        raise ValueError(
            f"config must be a chip whose memories and external memory fit in the "
            f"{board.capacity.block_rams * size} bytes of block RAM of {board.title}, not "
            f"{config.name!r}, which wants {wanted}")


def sources(board: Board, config: TpuConfig, freq_hz: int | None = None, *,
            baud: int | None = None, write_grid: WriteGrid = instances) -> Sources:
    """Return what the tools want for ``config`` on ``board``, folded as the board takes it.

    Parameters
    ----------
    freq_hz
        System clock; that of the chip on the board if None.
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
    config = board.folded(config)
    setting = pll(board.family, board.series, board.clock_hz, freq_hz or board.clock(config))
    actual = round(setting.freq_hz)
    _check_memory(board, config)
    pins = board_pins(board)
    link = LinkConfig(actual, board.baud if baud is None else baud, board.memory_bytes)
    sdram: dict[str, Any] = {}
    phase = 0
    if board.memory == "sdram":
        timing = SdramTiming()
        pads = sdram_pads(timing, actual)
        sdram, phase = {"sdram": timing, "pad_cycles": pads.cycles}, pads.phase
    system = system_verilog(config, SystemConfig(link, memory=board.memory, **sdram),
                            write_grid=write_grid)
    verilog = "\n".join([system, top_module(board.family, board.series, setting, pins, phase)])
    return Sources(
        board, config, verilog, constraints(board.family, pins),
        CONSTRAINTS_FILES[board.family], {"clk": board.clock_hz, "clk_sys": actual}, actual,
        link.baud, board.memory_bytes,
        vivado_script(board) if board.family == "xilinx7" else "")
