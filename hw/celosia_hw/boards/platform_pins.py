"""Where the pins of the boards are, from the board files of amaranth-boards."""

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
    try:
        from amaranth_boards import (  # pyright: ignore[reportMissingImports]
            arty_a7,
            icebreaker,
            tang_nano_9k,
            tang_primer_20k,
            ulx3s,
        )
    except ImportError as error:
        raise ImportError("the pins of boards come from amaranth-boards: "
                          "pip install 'celosia[fpga]'") from error
    return {
        "ulx3s": ulx3s.ULX3S_85F_Platform, "icebreaker": icebreaker.ICEBreakerPlatform,
        "tangnano9k": tang_nano_9k.TangNano9kPlatform,
        "tangprimer20k": tang_primer_20k.TangPrimer20kDockPlatform,
        "arty_a7": arty_a7.ArtyA7_100Platform,
    }[board.name]()


#: Ports and their resources: port, resource, its number, its part.
_COMMON = (("rx", "uart", 0, "rx"), ("tx", "uart", 0, "tx"))
_LIGHTS = (("led_heartbeat", "led", 0, ""), ("led_fault", "led", 1, ""),
           ("led_busy", "led", 2, ""))
_SDRAM = tuple((f"sdram_{port}", "sdram", 0, part) for port, part in (
    ("clk", "clk"), ("cke", "clk_en"), ("cs_n", "cs"), ("ras_n", "ras"), ("cas_n", "cas"),
    ("we_n", "we"), ("ba", "ba"), ("a", "a"), ("dqm", "dqm"), ("dq", "dq")))
_FLASH = tuple((f"flash_{port}", "spi_flash_1x", 0, part) for port, part in (
    ("cs_n", "cs"), ("clk", "clk"), ("mosi", "copi"), ("miso", "cipo")))
_PORTS = {
    # The ESP32 resets the board if its GPIO0 is not held high.
    "ulx3s": (*_COMMON, *_LIGHTS, *_SDRAM, ("wifi_gpio0", "esp32", 0, "gpio0")),
    "icebreaker": (*_COMMON, *_LIGHTS[:2], *_FLASH),
    "tangnano9k": (*_COMMON, *_LIGHTS), "tangprimer20k": (*_COMMON, *_LIGHTS),
    "arty_a7": (*_COMMON, *_LIGHTS),
}


def _group(platform: Any, port: str, resource: str, number: int, part: str) -> PinGroup:
    from amaranth.build import Attrs

    found = platform.lookup(resource, number)
    attrs = {**found.attrs}
    hz = int(found.clock.frequency if found.clock is not None else 0) if not part else 0
    if part:
        found = next(item for item in found.ios if item.name == part)
        attrs |= found.attrs
    pins = next(item for item in found.ios if not isinstance(item, Attrs))
    return PinGroup(port, "o" if port == "wifi_gpio0" else pins.dir,
                    tuple(pins.map_names(platform._conn_pins, found)),
                    # Here the port itself is low-active where its name says so.
                    pins.invert and not port.endswith("_n"),
                    tuple((key, str(value)) for key, value in attrs.items()), hz)


def board_pins(board: Board) -> tuple[PinGroup, ...]:
    """Return the ports of the top module of ``board``, the clock first.

    Raises
    ------
    ImportError
        If amaranth-boards is not installed.
    """
    platform = _platform(board)
    return (_group(platform, "clk", platform.default_clk, 0, ""),
            *(_group(platform, *item) for item in _PORTS[board.name]))
