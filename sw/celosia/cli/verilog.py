"""``celosia verilog``: the chip as Verilog."""

import argparse
from pathlib import Path

from celosia.arch.config import PRESETS, preset
from celosia.driver.errors import needs

__all__ = ["add_parser"]

_EPILOG = """\
examples:
  celosia verilog --preset nano -o nano.v
  celosia verilog --preset core > core.v
  celosia verilog --preset v1 --simulation -o v1.sv
"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "verilog", help="write a chip as Verilog", epilog=_EPILOG,
        description="Write a chip as one Verilog file; the module is called celosia.",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=list(PRESETS), default="core", metavar="PRESET",
                        help=f"chip: {', '.join(PRESETS)} (default: %(default)s)")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="file (default: standard output)")
    parser.add_argument("--simulation", action="store_true",
                        help="the form that simulates fast, loops over arrays, in place of the one "
                             "for synthesis, generated instances")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    try:
        from celosia_hw.top import chip_verilog
    except ModuleNotFoundError as error:
        raise needs("verilog", error, "hw") from error
    text = chip_verilog(preset(args.preset), simulation=args.simulation)
    if args.output:
        Path(args.output).write_text(text, encoding="utf-8")
        print(f"{args.output}: {text.count(chr(10))} lines")
    else:
        print(text, end="")
    return 0
