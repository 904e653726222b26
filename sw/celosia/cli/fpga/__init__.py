"""``celosia fpga``: bitstreams for boards."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from celosia.arch.config import PRESETS, preset
from celosia.driver.errors import DeviceError, needs
from celosia.storage.destination import check_folder

__all__ = ["add_arguments"]

_EPILOG = """\
examples:
  celosia fpga boards                                   what there is
  celosia fpga build --board ulx3s                      bitstream and report, in build/fpga/
  celosia fpga build --board ulx3s --seeds 1 2 3        the best of three
  celosia fpga build --board ulx3s --program            and into the board
  celosia fpga build --board arty_a7 --synth-only       area, in a few minutes
  celosia fpga budget --preset edge                     what each unit takes, of what it may
  celosia fpga table build/fpga/*/report.json           a table of what was built

docs/fpga.md goes from an unpacked board to the demo.
"""
_BUILD = """\
Synthesis, place and route and packing with Yosys, nextpnr and the packers of Trellis and
Apicula: those on PATH, else those that celosia[fpga] brings; CELOSIA_YOSYS,
CELOSIA_NEXTPNR_ECP5 and so on name others. What an earlier build has made of the same is taken
from the output folder. Exit code 1: the design does not fit, or the clock is not met (the bitstream
is there all the same).
"""
_BUDGET = """\
Synthesise a chip with what is around it on a board, and count by unit: LUTs, registers, and the
cells on the longest path that ends there, with an estimate of its time where wires are short.
Nothing is placed; it takes minutes where routing takes an hour. What an earlier call has made of
the same is taken from the output folder. Exit code 1: a unit takes more than its budget.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    from celosia_hw.boards import BOARDS

    parser.description = ("Make a bitstream of a chip for a board, and say how large and how fast "
                          "it is.")
    parser.epilog = _EPILOG
    inner = parser.add_subparsers(metavar="WHAT", required=True)
    boards = inner.add_parser("boards", help="list the boards",
                              description="List the boards that bitstreams can be made for.")
    boards.add_argument("--json", action="store_true", help="write JSON")
    boards.set_defaults(run=_boards)

    build = inner.add_parser("build", help="make a bitstream", description=_BUILD, epilog=_EPILOG,
                             formatter_class=argparse.RawDescriptionHelpFormatter)
    build.add_argument("--board", required=True, choices=list(BOARDS), metavar="BOARD",
                       help=", ".join(BOARDS))
    build.add_argument("--preset", choices=list(PRESETS), metavar="PRESET",
                       help=f"chip: {', '.join(PRESETS)} (default: the board's)")
    build.add_argument("--freq", type=_megahertz, metavar="MHZ",
                       help="clock of the chip (default: the board's)")
    build.add_argument("--baud", type=_positive, metavar="BAUD",
                       help="bits a second of the host link (default: the board's)")
    seeds = build.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=_seed, metavar="N", help="of place and route (default: 1)")
    seeds.add_argument("--seeds", type=_seed, nargs="+", metavar="N",
                       help="place and route once for each; the bitstream is of the best")
    build.add_argument("--out", type=Path, metavar="DIR",
                       help="output folder (default: build/fpga/BOARD-PRESET)")
    build.add_argument("--json", action="store_true",
                       help="write one JSON object, the report; steps go to standard error")
    what = build.add_mutually_exclusive_group()
    what.add_argument("--sources", action="store_true",
                      help="write Verilog and constraints only; needs no tools")
    what.add_argument("--synth-only", action="store_true", help="stop after synthesis: area only")
    what.add_argument("--program", action="store_true",
                      help="load the bitstream into the board with openFPGALoader")
    what.add_argument("--flash", action="store_true",
                      help="the same into its flash memory, where it stays")
    build.set_defaults(run=_build)

    budget = inner.add_parser(
        "budget", help="see what each unit takes, and how deep its logic is, of what it may",
        formatter_class=argparse.RawDescriptionHelpFormatter, description=_BUDGET)
    budget.add_argument("--board", default="ulx3s", choices=list(BOARDS), metavar="BOARD",
                        help="whose device it is for (default: ulx3s)")
    budget.add_argument("--preset", choices=list(PRESETS), metavar="PRESET",
                        help="chip (default: the board's)")
    budget.add_argument("--out", type=Path, metavar="DIR",
                        help="output folder (default: build/fpga/BOARD-PRESET-budget)")
    budget.add_argument("--json", action="store_true",
                        help="write one JSON object; steps go to standard error")
    budget.set_defaults(run=_budget, freq=None, baud=None)

    table = inner.add_parser("table", help="make docs/performance.md's table of boards",
                             description="Make a Markdown table of reports that builds wrote.")
    table.add_argument("reports", nargs="+", type=Path, metavar="REPORT.json",
                       help="report.json in the output folder of a build")
    table.set_defaults(run=_table)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text}")
    return value


def _seed(text: str) -> int:
    value = int(text)
    if not 0 <= value < 1 << 31:
        raise argparse.ArgumentTypeError(f"must be from 0 to {(1 << 31) - 1}, not {text}")
    return value


def _megahertz(text: str) -> float:
    value = float(text)
    if not 1 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"must be from 1 to 1000 MHz, not {text}")
    return value


def _boards(args: argparse.Namespace) -> int:
    import dataclasses

    from celosia_hw.boards import BOARDS
    if args.json:
        print(json.dumps([dataclasses.asdict(board) for board in BOARDS.values()], indent=2))
        return 0
    rows = [("board", "device", "chip", "clock", "memory", "link", "")]
    for board in BOARDS.values():
        memory = f"{board.memory_bytes >> 10:,} KiB {board.memory}"
        rows.append((board.name, board.device, board.preset, f"{board.freq_hz / 1e6:g} MHz",
                     memory, f"{board.baud:,} baud",
                     board.title + (" (not routed yet)" if board.untried else "")))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
              .rstrip())
    return 0


def _sources(args: argparse.Namespace) -> Any:
    """Return `celosia.arch.board.Sources` of what the options ask for."""
    from celosia_hw.boards import board
    try:
        from celosia_hw.boards.sources import sources
        chosen = board(args.board)
        return sources(chosen, preset(args.preset or chosen.preset),
                       None if args.freq is None else round(args.freq * 1e6),
                       baud=args.baud)
    except ModuleNotFoundError as error:
        raise needs("fpga build", error, "fpga") from error
    except ImportError as error:
        raise DeviceError(str(error)) from error


def _command(args: argparse.Namespace, made: Any) -> str:
    """Return the command that makes this report again."""
    words = ["celosia fpga build --board", made.board.name]
    if made.config.name != made.board.preset:
        words += ["--preset", made.config.name]
    if args.freq is not None:
        words += ["--freq", f"{args.freq:g}"]
    if args.baud is not None:
        words += ["--baud", str(args.baud)]
    if args.seeds:
        words += ["--seeds", *map(str, args.seeds)]
    elif args.seed is not None:
        words += ["--seed", str(args.seed)]
    if args.synth_only:
        words.append("--synth-only")
    return " ".join(words)


def _seeds(args: argparse.Namespace) -> list[int]:
    return args.seeds or [1 if args.seed is None else args.seed]


def _terminated(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)


def _start(args: argparse.Namespace, ending: str = "") -> tuple[Any, Path, Callable[[str], None]]:
    """Return sources, output folder and what says how far it is."""
    from celosia_hw.boards import board

    steps = sys.stderr if args.json else sys.stdout

    def say(line: str) -> None:
        print(line, file=steps, flush=True)

    chosen = board(args.board)
    name = f"{chosen.name}-{args.preset or chosen.preset}{ending}"
    folder = args.out or Path("build") / "fpga" / name
    check_folder("--out", folder)
    say(f"{'Verilog':16} {args.preset or 'the chip'} for {args.board} ...")
    return _sources(args), folder, say


def _budget(args: argparse.Namespace) -> int:
    from celosia.cli.fpga.budget import as_data, as_text, unit_uses
    from celosia.cli.fpga.build import build
    from celosia.cli.fpga.families import family
    from celosia_hw.boards import board
    from celosia_hw.boards.budgets import BUDGETS

    kind = family(board(args.board))
    kind.measured_delays()  # not after minutes of synthesis
    made, folder, say = _start(args, "-budget")
    built = build(made, folder, synth_only=True, say=say)
    found = unit_uses(built.netlist, kind, BUDGETS.get((made.board.name, made.config.name), {}))
    print(json.dumps(as_data(found)) if args.json else "\n" + as_text(found), flush=True)
    return int(any(row.over for row in found))


def _build(args: argparse.Namespace) -> int:
    made, folder, say = _start(args)
    from celosia.cli.fpga.build import REPORT, build, write_sources
    from celosia.cli.fpga.program import can_program, program
    from celosia.cli.fpga.report import as_data, as_text
    if args.sources:
        files = [str(path) for path in write_sources(made, folder)]
        print(json.dumps({"files": files, "clocks": made.clocks}) if args.json
              else "\n".join(files))
        return 0
    if args.program or args.flash:
        can_program()
    # A signal that would end this process must end the tools, too.
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        built = build(made, folder, seeds=_seeds(args), synth_only=args.synth_only, say=say)
    finally:
        signal.signal(signal.SIGTERM, before)
    report = as_data(built, _command(args, made))
    (folder / REPORT).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report) if args.json else "\n" + as_text(built), flush=True)
    if built.lacks or (built.best and not built.best.timing.met):
        return 1
    if built.bitstream and (args.program or args.flash):
        program(made.board, built.bitstream, flash=args.flash, say=say)
    return 0


def _table(args: argparse.Namespace) -> int:
    from celosia.cli.fpga.report import load, table
    print(table([load(path) for path in args.reports]), end="")
    return 0
