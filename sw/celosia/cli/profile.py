"""``celosia profile``: where the cycles of a program go, and what could be gained."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.cli.compile import add_source, compiled_before, read_source
from celosia.cli.inputs import random_array
from celosia.compiled import load
from celosia.compiled.observed import FOLDER
from celosia.storage.destination import check_folder

if TYPE_CHECKING:
    from celosia.profile import Profile

__all__ = ["add_arguments"]

_EPILOG = """\
examples:
  celosia profile f.mlir                          what it will cost, before it runs
  celosia profile f.mlir --what-if bus_bytes=64   and on another chip
  celosia profile f.mlir -o f.prof                keep it in a folder, with traces of it
  celosia profile f.mlir --backend rtl --against model    the RTL's cycles, and where the model errs
  celosia profile f.mlir --html                   and as a page, f.html, for any browser
  celosia profile -- python train.py              what a program that runs has on chips, most first
  celosia profile diff before.prof after.prof     exit code 1 if the second is slower

A cycle belongs to the line whose instruction ends last; lines add up to the run. A finding is
what a run of the cycle model gave with the change. In the folder: profile.json; NAME.pftrace for
ui.perfetto.dev, NAME.kanata for Konata, NAME.stacks for speedscope.app or flamegraph.pl.
"""
_PROGRAMS = (".mlir", ".mlirbc", ".stablehlo", ".celosia")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.usage = "celosia profile [options] FILE | diff BEFORE AFTER | -- COMMAND ..."
    parser.description = ("Show where the cycles of a program go, by the lines of its source,\n"
                          "what bounds it, and what would gain how much.")
    parser.epilog = _EPILOG
    parser.add_argument("what", nargs="+", metavar="FILE",
                        help="StableHLO (.mlir), or what celosia compile wrote (.celosia); "
                             "- for StableHLO from standard input")
    add_source(parser)
    parser.add_argument("--what-if", action="append", default=[], metavar="FIELD=N",
                        help="cycles with a field of the chip or its memory changed, as "
                             "bus_bytes=64; several: joined by commas")
    parser.add_argument("--backend", choices=("model", "rtl"), default="model",
                        help="model: nothing runs (default); rtl: a run of the Verilog is measured")
    parser.add_argument("--against", choices=("model",),
                        help="with --backend rtl: what the model says of the same instructions")
    parser.add_argument("--random", type=int, default=0, metavar="SEED",
                        help="with --backend rtl: of the arguments, random numbers (default: 0)")
    parser.add_argument("--mhz", type=float, default=100, metavar="F",
                        help="clock in which cycles are said as time (default: 100)")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder for the profile")
    parser.add_argument("--html", action="store_true",
                        help="write a page for any browser, into DIR or here (needs Bokeh: "
                             "pip install 'celosia[profile]')")
    parser.add_argument("--tolerance", type=float, default=0, metavar="PERCENT",
                        help="of diff: how much slower the second may be (default: 0)")
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.set_defaults(run=_run)


def _changes(text: str) -> dict[str, int]:
    found = {}
    for part in text.split(","):
        name, equals, number = part.partition("=")
        if not equals or not number.strip().isdigit():
            raise ValueError(f"--what-if must be FIELD=N, not {part!r}")
        found[name.strip()] = int(number)
    return found


def _run(args: argparse.Namespace) -> int:
    if not 0 < args.mhz < float("inf"):
        raise ValueError(f"--mhz must be above 0, not {args.mhz:g}")
    if args.against and args.backend != "rtl":
        raise ValueError("--against model must be used with --backend rtl")
    if args.output:
        check_folder("-o", Path(args.output))
    if args.what[0] == "diff" and len(args.what) == 3:
        return _diff(args)
    if len(args.what) > 1:
        if Path(args.what[0]).suffix in _PROGRAMS:
            raise ValueError(f"FILE must be one, not {' '.join(args.what)}")
        return _observe(args)
    found = _profiled(args, args.what[0])
    return _show(args, _measured(args, found) if args.backend == "rtl" else found)


def _measured(args: argparse.Namespace, found: Profile) -> Profile:
    """Run a program on the RTL, and return the profile of that."""
    import numpy as np

    from celosia.driver.backends import BACKENDS, missing_package
    from celosia.driver.errors import needs
    from celosia.profile import measure
    if package := missing_package("rtl"):
        raise needs("--backend rtl", package, "sim")
    from celosia_sim.rtl import SimOptions
    rng = np.random.default_rng(args.random)
    arguments = [random_array(each.type.shape, each.type.dtype.numpy, rng)
                 for each in found.compiled.inputs]
    transport: Any = BACKENDS["rtl"](found.config, options=SimOptions(probe=True))
    return measure(found, transport, arguments)


def _profiled(args: argparse.Namespace, path: str) -> Profile:
    from celosia.profile import profile
    args.source = path
    if (compiled := compiled_before(args)) is not None:
        return profile(compiled)
    name = "stdin" if path == "-" else Path(path).stem
    return profile(read_source(path), args.preset or "core", name=name,
                   filename=path if path == "-" else Path(path).name, fast=args.fast,
                   strict=args.strict, cache=not args.no_cache)


def _show(args: argparse.Namespace, found: Profile,
          runs: list[dict[str, Any]] | None = None) -> int:
    """Say what is known of a profile, ``runs`` of all the programs that ran."""
    from celosia.profile import facts, save, save_page, text
    known = facts(found)
    known["what_if"] = [{"change": each, "cycles": found.what_if(**_changes(each))}
                        for each in args.what_if]
    if runs is not None:
        known["runs"] = runs
    if args.against:
        from celosia.profile import against
        known["against"] = against(found)
    files = [*save(args.output, found, known, megahertz=args.mhz)] if args.output else []
    if args.html:
        files.append(save_page(args.output or ".", found, known, megahertz=args.mhz,
                               sources=[Path(args.what[0]).parent]))
    if args.json:
        print(json.dumps(known, indent=2))
        return 0
    print(text(known, megahertz=args.mhz), end="")
    if args.against:
        _say_against(known["against"])
    for other in known["what_if"]:
        more = other["cycles"] / max(known["cycles"], 1) - 1
        print(f"what if {other['change']}: {other['cycles']:,} cycles ({more:+.1%})")
    if files:
        print(f"wrote {', '.join(map(str, files))}")
    return 0


def _say_against(known: dict[str, Any]) -> None:
    model, rtl = known["model"], known["rtl"]
    print(f"the model says {model:,} cycles ({model / max(rtl, 1) - 1:+.2%}); of "
          f"{known['instructions_compared']:,} instructions {known['near']:.1%} take what it says, "
          f"within 5 %; the most off:")
    for each in known["instructions"]:
        place = f"  {each['place']}" if each["place"] else ""
        print(f"  {each['model']:>8,} -> {each['rtl']:>8,}  {each['pc']:>6}  {each['text']}{place}")


def _observe(args: argparse.Namespace) -> int:
    """Run a program, and profile what it ran on chips: the one with the most cycles in full."""
    with tempfile.TemporaryDirectory() as folder:
        # What the program prints is no JSON.
        code = subprocess.run(args.what, env={**os.environ, FOLDER: folder}, check=False,
                              stdout=sys.stderr if args.json else None).returncode
        kept = [json.loads(each.read_text()) for each in sorted(Path(folder).glob("*.json"))]
        if not kept:
            print(f"celosia: {args.what[0]} ended with {code} and ran nothing on a chip",
                  file=sys.stderr)
            return code or 1
        profiles = [(run["runs"], _observed(Path(folder) / run["program"], run["fast"]))
                    for run in kept]
        profiles.sort(key=lambda each: -each[0] * each[1].cycles)
        runs = [{"program": found.name, "runs": count, "cycles": found.cycles}
                for count, found in profiles]
        if not args.json:
            _list(runs)
        return _show(args, profiles[0][1], runs) or code


def _observed(path: Path, fast: bool) -> Profile:
    """Return the profile of a program that another process ran."""
    from celosia.graph import parse
    from celosia.profile import Profile
    graph = path.with_suffix(".graph")
    return Profile(load(path), parse(graph.read_text()) if graph.exists() else None,
                   options={"fast": fast})


def _list(runs: list[dict[str, Any]]) -> None:
    """Print the programs that ran, and how often."""
    rows = [(f"{each['runs']:,}", f"{each['cycles']:,}", f"{each['runs'] * each['cycles']:,}",
             each["program"]) for each in runs]
    for row in [("runs", "cycles each", "cycles", "program"), *rows]:
        print(f"{row[0]:>9}  {row[1]:>14}  {row[2]:>16}  {row[3]}")
    print()


def _read(path: str, args: argparse.Namespace) -> Mapping[str, Any]:
    """Return what is known of a profile that was kept, or of a program."""
    from celosia.profile import facts
    if Path(path).is_dir():
        path = str(Path(path) / "profile.json")
    if Path(path).suffix != ".json":
        return facts(_profiled(args, path))
    try:
        found = json.loads(Path(path).read_text())
        return {"cycles": int(found["cycles"]), "name": str(found["name"]),
                "lines": [{"place": each["place"], "cycles": int(each["cycles"])}
                          for each in found["lines"]]}
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path} must be a profile that celosia profile wrote, but "
                         f"{type(error).__name__}: {error}") from None


def _diff(args: argparse.Namespace) -> int:
    from celosia.profile import compare, save_difference
    before, after = (_read(path, args) for path in args.what[1:])
    file = save_difference(args.output or ".", before, after) if args.html else None
    rows = compare(*({each["place"]: each["cycles"] for each in known["lines"]}
                     for known in (before, after)))
    old, new = before["cycles"], after["cycles"]
    slower = new > old * (1 + args.tolerance / 100)
    if args.json:
        print(json.dumps({"before": old, "after": new, "slower": slower, "lines": [
            {"place": place, "before": a, "after": b} for place, a, b in rows]}, indent=2))
        return int(slower)
    for what, a, b in [("all", old, new), *(row for row in rows if row[1] != row[2])]:
        share = f"{b / a - 1:+.1%}" if a else "new"
        print(f"{b - a:>+14,}  {share:>8}  {a:>14,} -> {b:>14,}  {what}")
    if file is not None:
        print(f"wrote {file}")
    return int(slower)
