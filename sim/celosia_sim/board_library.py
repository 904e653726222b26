"""The Verilated top module of a board in this process: its build, and the C interface, typed."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.arch.config import TpuConfig, preset
from celosia.storage import builds
from celosia_sim.boards.cells import cells_verilog, sdram_phase, system_hz
from celosia_sim.boards.sdram import (
    SDRAM_SOURCES,
    SdramPart,
    SdramReport,
    declare_sdram,
    structure,
)
from celosia_sim.module import build_module
from celosia_sim.verilog import writer_identity

if TYPE_CHECKING:
    from celosia.arch.board import Board

__all__ = ["PAD_DELAYS", "BoardLibrary", "BuiltBoard", "build_board"]

_FOLDER = Path(__file__).parent / "boards"
_SOURCES = (*SDRAM_SOURCES, *(_FOLDER / name for name in ("serial_line.h", "harness.cpp")))
_PREFIX = "Vboard"
#: Bytes that one call hands on at most; more than come in one.
_CAPACITY = 1 << 16
#: From a clock edge in the FPGA through an output and an input to a register, in ps, at least and
#: at most: pads of an ECP5-6 and tracks of 5 cm, of which no data sheet states the sum.
PAD_DELAYS = (3_000, 6_500)

_FUNCTIONS: dict[str, tuple[object, tuple[object, ...]]] = {
    "new": (ctypes.c_void_p, (ctypes.c_void_p, *3 * (ctypes.c_double,), ctypes.c_int64,
                              ctypes.c_int64)),
    "free": (None, (ctypes.c_void_p,)),
    "noise": (None, (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_double)),
    "faults": (ctypes.c_uint64, (ctypes.c_void_p,)),
    "now": (ctypes.c_uint64, (ctypes.c_void_p,)),
    "pending": (ctypes.c_uint64, (ctypes.c_void_p,)),
    "lights": (ctypes.c_uint32, (ctypes.c_void_p,)),
    "sdram": (ctypes.c_void_p, (ctypes.c_void_p,)),
    "send": (None, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)),
    "run": (ctypes.c_uint64, (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p,
                              ctypes.c_uint64)),
}


@dataclass(frozen=True)
class BuiltBoard:
    """A board that has been compiled.

    Attributes
    ----------
    path
        The shared library.
    config
        The chip.
    freq_hz
        The system clock, by the parameters of the clock generator.
    baud
        Of the host link.
    has_sdram
        Whether the top module has the pins of one.
    sdram_phase
        Where in a cycle its clock rises, likewise.
    lights
        Names of the lights.
    """

    path: Path
    config: TpuConfig
    freq_hz: float
    baud: int
    has_sdram: bool
    sdram_phase: float
    lights: tuple[str, ...]


def _verilog(board: Board, config: TpuConfig, freq_hz: int, baud: int) -> str:
    """Verilog of the top module in the form that simulates fast, kept like that of chips."""
    key = builds.digest({"board": repr(board), "config": repr(config), "freq_hz": freq_hz,
                          "baud": baud, **writer_identity()})

    def make(folder: Path) -> None:
        from celosia_hw.boards.sources import sources
        from celosia_sim.loops.vectorise import loops

        made = sources(board, config, freq_hz, baud=baud, write_grid=loops)
        (folder / "top.v").write_text(made.verilog)

    folder = builds.entry("board-verilog", key, make)
    return (folder / "top.v").read_text()


def build_board(board: Board, config: TpuConfig | None = None, *, freq_hz: int | None = None,
                baud: int | None = None,
                announce: Callable[[str], None] | None = None) -> BuiltBoard:
    """Compile the top module of a board, or find it in the cache.

    Parameters
    ----------
    board
        Of `celosia_hw.boards`.
    config
        The chip; that of the board if None.
    freq_hz
        The system clock; that of the chip on the board if None.
    baud
        Of the host link; that of the board if None.
    announce
        Called with a line of text before something that takes long.

    Raises
    ------
    ValueError
        If the chip or the baud rate is not for this board.
    celosia.storage.ToolchainError
        If Verilator or the compiler is missing or fails.
    """
    config = preset(board.preset) if config is None else config
    baud = board.baud if baud is None else baud
    text = _verilog(board, config, freq_hz or board.clock(config), baud)
    lights = re.findall(r"assign led_(\w+) = (~?)\w+;", text)
    has_sdram = board.memory == "sdram"
    built = cells_verilog(board.family) + text
    # Low-active lights are shown as what they mean.
    levels = " | ".join(f"(p.led_{name} ^ {int(bool(invert))}u) << {i}"
                        for i, (name, invert) in enumerate(lights))

    def say() -> None:
        if announce:
            announce(f"building {board.title} with the {config.name} chip for simulation (kept "
                     f"for next time)")

    path = build_module(
        "board", built, _SOURCES,
        f'#include "{_PREFIX}.h"\n#include "{_PREFIX}___024root.h"\n'
        f"#define BOARD_MODEL {_PREFIX}\n"
        f"#define BOARD_SDRAM {int(has_sdram)}\n#define BOARD_LIGHTS {levels or '0'}\n",
        top="top", prefix=_PREFIX, extra=["--pins-inout-enables"], before=say)
    return BuiltBoard(path, config, system_hz(text, board.clock_hz), baud, has_sdram,
                      sdram_phase(text) if has_sdram else 0.0,
                      tuple(name for name, _ in lights))


class BoardLibrary:
    """A board at its pins: bytes of its serial line, its lights, and what its SDRAM has seen.

    Parameters
    ----------
    built
        What `build_board` returned.
    part
        The SDRAM; not looked at where the board has none.
    pad_delays
        As `PAD_DELAYS`.
    skew
        How much longer than the baud rate says the host's bits are.
    """

    def __init__(self, built: BuiltBoard, part: SdramPart, *,
                 pad_delays: tuple[int, int] = PAD_DELAYS, skew: float = 0.0):
        library = ctypes.CDLL(str(built.path))
        self._functions = {}
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, f"board_{name}")
            function.restype, function.argtypes = result, arguments
            self._functions[name] = function
        self._received = ctypes.create_string_buffer(_CAPACITY)
        self._names = built.lights
        device = ctypes.byref(structure(part)) if built.has_sdram else None
        self._board: int | None = self._functions["new"](
            device, 1e12 / built.freq_hz, built.sdram_phase,
            built.freq_hz / built.baud * (1 + skew), *pad_delays)
        self._sdram_functions = declare_sdram(library) if built.has_sdram else None

    def _call(self, name: str, *arguments):
        if self._board is None:
            raise RuntimeError(f"the simulated board must be open for {name}, but it was closed")
        return self._functions[name](self._board, *arguments)

    def close(self) -> None:
        """Free the board; closing twice does nothing."""
        if self._board is not None:
            board, self._board = self._board, None
            self._functions["free"](board)

    @property
    def sdram(self) -> SdramReport | None:
        """What the SDRAM records; None without one."""
        handle = self._call("sdram")
        return None if self._sdram_functions is None else SdramReport(self._sdram_functions, handle)

    @property
    def now(self) -> int:
        """Cycles of the system clock since power-up."""
        return self._call("now")

    @property
    def pending(self) -> int:
        """Bytes that wait to be sent to the board."""
        return self._call("pending")

    @property
    def faults(self) -> int:
        """Bytes that the noise has hit so far."""
        return self._call("faults")

    @property
    def lights(self) -> dict[str, bool]:
        """Whether each light is on."""
        levels = self._call("lights")
        return {name: bool(levels >> i & 1) for i, name in enumerate(self._names)}

    def noise(self, seed: int, rate: float) -> None:
        """Change, drop or double a byte with the chance ``rate``, in both directions."""
        self._call("noise", seed, rate)

    def send(self, data: bytes) -> None:
        """Put bytes on the line to the board."""
        self._call("send", data, len(data))

    def run(self, cycles: int) -> bytes:
        """Run; return the bytes that came from the board."""
        size = self._call("run", cycles, self._received, _CAPACITY)
        return self._received.raw[:size]
