"""Options of the command line that choose a chip: simulated, or a board at a serial port."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.driver.backends import SIMULATED, open

if TYPE_CHECKING:
    from celosia.driver import Device

__all__ = ["DEFAULT_BAUD", "add_port", "chosen_backend", "chosen_config", "clock_hz", "open_chosen",
           "port_options"]

#: What most boards use where a build does not say otherwise.
DEFAULT_BAUD = 3_000_000
#: A clock is watched for so long.
_WATCH_SECONDS = 0.5


def add_port(parser: argparse.ArgumentParser, backend: str, texts: str) -> None:
    """Add --backend, --port and --baud.

    Parameters
    ----------
    backend
        Where neither a backend nor a port is given.
    texts
        What the backends are.
    """
    parser.add_argument("--backend", choices=SIMULATED, help=texts)
    parser.add_argument("--port", metavar="PORT",
                        help="a board at this serial port, such as /dev/ttyUSB0, in place of a "
                             "backend")
    parser.add_argument("--baud", type=int, metavar="BAUD",
                        help="bits a second at --port, those of the bitstream "
                             f"(default: {DEFAULT_BAUD})")
    parser.set_defaults(default_backend=backend)


def port_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the serial transport; none where there is no port.

    Raises
    ------
    ValueError
        If the options contradict each other.
    """
    if args.port is None:
        if args.baud is not None:
            raise ValueError("--baud must be used with --port")
        return {}
    if getattr(args, "backend", None) is not None:
        raise ValueError(f"--backend must be left out where there is a --port, not "
                         f"{args.backend!r}")
    return {"port": args.port, "baud": DEFAULT_BAUD if args.baud is None else args.baud}


def chosen_backend(args: argparse.Namespace) -> str:
    """Return the backend that the options ask for."""
    return "serial" if port_options(args) else args.backend or args.default_backend


def open_chosen(args: argparse.Namespace, config: TpuConfig | None, **options: Any) -> Device:
    """Open the chip that the options ask for.

    Parameters
    ----------
    config
        What it must be; None: whatever the board at the port holds.
    options
        Of the transport.
    """
    return open(chosen_backend(args), config=config, **port_options(args), **options)


def chosen_config(args: argparse.Namespace) -> TpuConfig:
    """Return the chip of --preset; without it, that of the board, or ``core``."""
    if args.preset is not None:
        return preset(args.preset)
    if not port_options(args):
        return PRESETS["core"]
    with open_chosen(args, None) as device:
        return device.config


def clock_hz(device: Device, clock: Callable[[], float] = time.monotonic) -> float | None:
    """Measure a board's clock by what it counts in half a second; None where it does not count.

    Within about a percent: that is how long replies take to come.
    """
    from celosia.arch.link import RequestKind
    from celosia.driver.link.host import Request
    link = getattr(device.transport, "link", None)
    if link is None:
        return None

    def look() -> tuple[int, float]:
        reply = link.transact((Request(RequestKind.POLL),))[0]
        return int.from_bytes(reply.payload, "little"), clock()

    look()  # wakes the adapter
    before, start = look()
    time.sleep(_WATCH_SECONDS)
    after, end = look()
    return (after - before) % (1 << 32) / (end - start) or None
