"""``celosia verilog``: the chip as Verilog."""

import argparse
from pathlib import Path

from celosia.arch.config import PRESETS, preset
from celosia.driver.errors import needs
from celosia.storage.destination import check_file, check_folder

__all__ = ["add_arguments"]

_EPILOG = """\
examples:
  celosia verilog --preset nano -o nano.v
  celosia verilog --preset core > core.v
  celosia verilog --preset v1 --simulation -o v1.sv
  celosia verilog --preset edge --folder edge/     a file a module, with an instance to copy,
                                                   ports and registers as JSON, a README
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = ("Write a chip as one Verilog file, or as a folder for a design of "
                          "your own; the module is called celosia.")
    parser.epilog = _EPILOG
    parser.add_argument("--preset", choices=list(PRESETS), default="core", metavar="PRESET",
                        help=f"chip: {', '.join(PRESETS)} (default: %(default)s)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-o", "--output", "--out", metavar="FILE",
                       help="file (default: standard output)")
    where.add_argument("--folder", type=Path, metavar="DIR",
                       help="folder: Verilog, a file a module; an instance, JSON, a README")
    parser.add_argument("--one-file", action="store_true",
                        help="with --folder: all modules in one file")
    parser.add_argument("--simulation", action="store_true",
                        help="the form that simulates fast, loops over arrays, in place of the one "
                             "for synthesis, generated instances")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    if args.one_file and not args.folder:
        raise ValueError("--one-file must be used with --folder")
    if args.simulation and args.folder:
        raise ValueError("--simulation must be used without --folder, which is for synthesis")
    if args.output:
        check_file("-o", args.output)
    if args.folder:
        for folder in (args.folder, args.folder / "rtl"):
            check_folder("--folder", folder)
    try:
        from celosia_hw.verilog.chip import chip_verilog
        from celosia_hw.verilog.emit import instances
    except ModuleNotFoundError as error:
        raise needs("verilog", error, "hw") from error
    if args.folder:
        from celosia_hw.verilog.package import write_folder
        command = (f"celosia verilog --preset {args.preset} --folder {args.folder}"
                   f"{' --one-file' if args.one_file else ''}")
        files = write_folder(preset(args.preset), args.folder, command, one_file=args.one_file)
        print(f"{args.folder}: {len(files)} files; {args.folder / 'README.md'} explains them")
        return 0
    form = instances
    if args.simulation:
        from celosia_sim.loops.vectorise import loops as form
    text = chip_verilog(preset(args.preset), write_grid=form)
    if args.output:
        Path(args.output).write_text(text, encoding="utf-8")
        print(f"{args.output}: {text.count(chr(10))} lines")
    else:
        print(text, end="")
    return 0
