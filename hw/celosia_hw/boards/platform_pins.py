"""Where the pins of the boards are, from the board files of amaranth-boards."""

import importlib
from dataclasses import dataclass
from typing import Any

from celosia.arch.board import Board

__all__ = ["PinGroup", "board_pins"]


@dataclass(frozen=True)
class PinGroup:
    """A port of the top module.

    Parameters
    ----------
    port, direction
        Name; ``i``, ``o`` or ``io``.
    names
        Pins of the package, bit 0 first.
    invert
        The signal is low-active at the pin.
    attrs
        Attributes of the constraints, e.g. ``IO_TYPE``.
    clock_hz
        It is a clock.
    """

    port: str
    direction: str
    names: tuple[str, ...]
    invert: bool
    attrs: tuple[tuple[str, str], ...]
    clock_hz: int = 0


def _platform(board: Board) -> Any:
    # Only building sources needs amaranth-boards.
    module, name = board.platform.split(".")
    try:
        return getattr(importlib.import_module(f"amaranth_boards.{module}"), name)()
    except ImportError as error:
        raise ImportError("the pins of boards come from amaranth-boards: "
                          "pip install 'celosia[fpga]'") from error


#: Ports of the top module and what they are on a platform: resource, number, part.
_UART = (("rx", "uart 0 rx"), ("tx", "uart 0 tx"))
_LIGHTS = ("led_heartbeat", "led_fault", "led_busy")
_SDRAM = tuple((f"sdram_{port}", f"sdram 0 {part}") for port, part in (
    ("clk", "clk"), ("cke", "clk_en"), ("cs_n", "cs"), ("ras_n", "ras"), ("cas_n", "cas"),
    ("we_n", "we"), ("ba", "ba"), ("a", "a"), ("dqm", "dqm"), ("dq", "dq")))


def _group(platform: Any, port: str, place: str) -> PinGroup:
    from amaranth.build import Attrs

    resource, number, part = (*place.split(), "")[:3]
    found = platform.lookup(resource, int(number))
    attrs = {**found.attrs}
    hz = int(found.clock.frequency if found.clock is not None else 0) if not part else 0
    if part:
        found = next(item for item in found.ios if item.name == part)
        attrs |= found.attrs
    pins = next(item for item in found.ios if not isinstance(item, Attrs))
    return PinGroup(port, "o" if port.startswith("high_") else pins.dir,
                    tuple(pins.map_names(platform._conn_pins, found)),
                    # Here the port itself is low-active where its name says so.
                    pins.invert and not port.endswith("_n"),
                    # Some hang on how the board is wired: the platform says.
                    tuple((key, str(value(platform) if callable(value) else value))
                          for key, value in attrs.items()), hz)


def board_pins(board: Board) -> tuple[PinGroup, ...]:
    """Return the ports of the top module of ``board``, the clock first.

    Raises
    ------
    ImportError
        If amaranth-boards is not installed.
    """
    platform = _platform(board)
    ports = (
        ("clk", f"{platform.default_clk} 0"), *_UART,
        *zip(_LIGHTS, board.lights, strict=False),
        *(_SDRAM if board.memory == "sdram" else ()),
        *((f"high_{index}", place) for index, place in enumerate(board.high)))
    return tuple(_group(platform, port, place) for port, place in ports)
