"""``celosia info``: the chips that there are."""

import argparse
import dataclasses
import json
from typing import Any

from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.cli.port import DEFAULT_BAUD, clock_hz, port_options
from celosia.driver.backends import SIMULATED, missing_package, open

__all__ = ["add_arguments"]

_EPILOG = """\
examples:
  celosia info              all presets
  celosia info core         one preset
  celosia info --json       the same for a program to read
  celosia info --port /dev/ttyUSB0    the chip of a board, and its clock
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = "Show the presets: the chips that can be simulated and built by name."
    parser.epilog = _EPILOG
    parser.add_argument("preset", nargs="?", metavar="PRESET",
                        help=f"one of {', '.join(PRESETS)} (default: all)")
    parser.add_argument("--port", metavar="PORT",
                        help="show the board at this serial port, such as /dev/ttyUSB0")
    parser.add_argument("--baud", type=int, metavar="BAUD",
                        help="bits a second at --port, those of the bitstream "
                             f"(default: {DEFAULT_BAUD})")
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(run=_run)


def _facts(config: TpuConfig) -> dict[str, object]:
    return {
        **dataclasses.asdict(config), "formats": list(config.formats), "pes": config.pes,
        "ub_bytes": config.ub_bytes, "acc_bytes": config.acc_bytes,
        "fingerprint": f"{config.fingerprint:#010x}",
    }


def _size(nbytes: int) -> str:
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if nbytes >= 1 << shift:
            return f"{nbytes / (1 << shift):g} {unit}"
    return f"{nbytes} B"


def _board(args: argparse.Namespace, options: dict[str, Any]) -> int:
    """Show the chip of a board."""
    config = preset(args.preset) if args.preset else None
    with open("serial", config=config, **options) as device:
        found, memory, clock = device.config, device.transport.memory_bytes, clock_hz(device)
    if args.json:
        print(json.dumps({**_facts(found), "port": args.port, "memory_bytes": memory,
                          "clock_hz": clock}, indent=2))
        return 0
    print(f"board        {args.port}, {options['baud']:,} baud")
    print(f"chip         {found.name}, {found.dim}x{found.dim} array, {' '.join(found.formats)}, "
          f"fingerprint {found.fingerprint:#010x}")
    print(f"memory       {_size(memory)}")
    print(f"clock        {f'about {clock / 1e6:.1f} MHz' if clock else 'not counted'}")
    return 0


def _run(args: argparse.Namespace) -> int:
    if options := port_options(args):
        return _board(args, options)
    configs = [preset(args.preset)] if args.preset else list(PRESETS.values())
    if args.json:
        print(json.dumps([_facts(config) for config in configs], indent=2))
        return 0
    rows = [("preset", "array", "PEs", "formats", "unified buffer", "accumulators", "bus",
             "window", "fingerprint")]
    for config in configs:
        rows.append((
            config.name, f"{config.dim}x{config.dim}", str(config.pes),
            " ".join(config.formats), f"{config.ub_rows} rows, {_size(config.ub_bytes)}",
            f"{config.acc_rows} rows, {_size(config.acc_bytes)}", f"{config.bus_bytes} bytes",
            str(config.window), f"{config.fingerprint:#010x}"))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
              .rstrip())
    missing = [name for name in SIMULATED if missing_package(name)]
    ready = [name for name in SIMULATED if name not in missing]
    hint = f" ({', '.join(missing)}: pip install 'celosia[sim]')" if missing else ""
    print(f"\nbackends: {', '.join(ready)}{hint}")
    return 0
