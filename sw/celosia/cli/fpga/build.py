"""Verilog to bitstream: synthesis, place and route, packing; a report of each."""

from __future__ import annotations

import importlib.util
import inspect
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from celosia.arch.board import Board, Sources
from celosia.cli.fpga.errors import FpgaError, ToolMissing
from celosia.cli.fpga.families import RESOURCES, TOP, Family, available, family
from celosia.cli.fpga.maps import FILES
from celosia.cli.fpga.netlist import KEEP_NAMES, Netlist
from celosia.cli.fpga.netlist import read as read_netlist
from celosia.cli.fpga.paths import arc
from celosia.cli.fpga.stamps import Stamps, content, digest, locked
from celosia.cli.fpga.timing import TimingReport
from celosia.cli.fpga.timing import read as read_timing
from celosia.cli.fpga.tools import Tool, find, run

__all__ = ["REPORT", "BuildResult", "Routed", "build", "write_sources"]

#: Maps logic in half the time, to about a tenth more LUTs: for checks.
QUICK = "scratchpad -set abc9.script +&scorr;&sweep;&dc2;&if,{W},-v"

#: The report's file in the output folder.
REPORT = "report.json"
_NETLIST, _VERILOG, _SCRIPT = "netlist.json", "top.v", "build.tcl"
#: The same after it was placed once, and with the places of its blocks.
_PLACED, _PLANNED = "placed.json", "planned.json"
#: The netlist before it was mended.
_MAPPED = "mapped.json"
#: Share of a cycle that the paths of a placed chip should take: routing adds to it.
_LIMIT = 0.92


@dataclass(frozen=True)
class Routed:
    """What place and route with one seed gave."""

    seed: int
    timing: TimingReport
    seconds: float


@dataclass
class BuildResult:
    """What a build gave.

    Attributes
    ----------
    netlist
        After synthesis.
    routed
        A result for each seed; empty after synthesis only.
    bitstream
        Of the best of them.
    tools
        Versions, by program.
    seconds
        Of each step; a step that was done by an earlier build has the seconds of then.
    """

    sources: Sources
    folder: Path
    netlist: Netlist
    routed: list[Routed] = field(default_factory=list)
    bitstream: Path | None = None
    tools: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def best(self) -> Routed | None:
        """The result with the fastest system clock."""
        return max(self.routed, key=self.fmax_mhz, default=None)

    def fmax_mhz(self, routed: Routed) -> float:
        """The fastest that the system's clock may be, in MHz."""
        clocks = routed.timing.clocks
        # The last of the board's clocks is the system's, unless the two are one.
        for name in reversed(self.sources.clocks):
            if name in clocks:
                return clocks[name].fmax_mhz
        return clocks[routed.timing.slowest].fmax_mhz

    @property
    def lacks(self) -> list[str]:
        """What the device has too little of, in words; empty where the design fits."""
        have, need = available(self.sources.board.capacity), self.netlist.total()
        return [f"{need[resource]:,} {what} of {have[resource]:,}"
                for resource, what in RESOURCES.items() if need[resource] > have[resource]]

    def used(self) -> dict[str, int]:
        """What the design takes, by resource: as placed, or else as synthesised."""
        placed = self.best.timing.placed if self.best else {}
        return {**self.netlist.total(), **placed}


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def write_sources(made: Sources, folder: Path) -> list[Path]:
    """Write what the tools want; return the files."""
    files = {_VERILOG: made.verilog, made.constraints_file: made.constraints}
    if made.script:
        files[_SCRIPT] = made.script
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        _write(folder / name, text)
    return [folder / name for name in files]


def _source(what: Callable[..., Any]) -> str:
    """Return a digest of the file that something is written in."""
    return content(Path(inspect.getfile(what)))


@dataclass(frozen=True)
class _Flow:
    """A build that goes on."""

    made: Sources
    family: Family
    folder: Path
    stamps: Stamps
    say: Callable[[str], None]
    #: What a step that is done anew makes wrong: it must not be taken for that of this build.
    stale: tuple[str, ...]

    def step(self, what: str, tool: Tool, arguments: list[str], key: str, log: str,
             *outputs: str, own_log: bool = False) -> float:
        """Run a tool, unless its outputs are there already; return its seconds."""
        key = digest(key, str(tool), arguments)
        if self.stamps.fresh(key, *outputs):
            seconds = self.stamps.seconds(outputs[0])
            self.say(f"{what:16} as before")
            return seconds
        self.stamps.forget(*outputs, *self.stale)
        self.say(f"{what:16} {tool} ...")
        seconds = run(tool, arguments, self.folder, log, own_log=own_log)
        for name in outputs:
            if not (self.folder / name).is_file():
                raise FpgaError(f"{tool.name} must write {self.folder / name}, but has not; see "
                                f"{self.folder / log}")
        self.stamps.keep(key, seconds, *outputs)
        self.say(f"{'':16} {seconds:.0f} s")
        return seconds

    def synthesise(self, tool: Tool, key: str, quick: bool) -> float:
        """Make the netlist."""
        for name, text in FILES.items():
            _write(self.folder / name, text)
        script = "; ".join((
            f"read_verilog -sv {_VERILOG}", f"hierarchy -top {TOP}", KEEP_NAMES,
            *self.family.told, *([QUICK] if quick else []), self.family.synth(self.made.board),
            f"write_json {_MAPPED if self.family.mend else _NETLIST}"))
        return self.step("synthesis", tool, ["-q", "-l", "synthesis.log", "-p", script],
                         digest(key, FILES), "synthesis.log",
                         _MAPPED if self.family.mend else _NETLIST, own_log=True)

    def mend(self, change: Callable[[dict[str, Any], str, Board], None]) -> None:
        """Make of the netlist what place and route wants."""
        key = digest(content(self.folder / _MAPPED), _source(change))
        if not self.stamps.fresh(key, _NETLIST):
            self.stamps.forget(_NETLIST)
            design = json.loads((self.folder / _MAPPED).read_text(encoding="utf-8"))
            change(design, TOP, self.made.board)
            _write(self.folder / _NETLIST, json.dumps(design))
            self.stamps.keep(key, 0, _NETLIST)

    def arguments(self, netlist: str, seed: int) -> list[str]:
        """Of place and route, but for what is written."""
        return ["--json", netlist, "--top", TOP, "--seed", str(seed),
                "--freq", f"{self.made.freq_hz / 1e6:.6f}", "--timing-allow-fail"]

    def plan(self, tool: Tool, key: str) -> tuple[str, float]:
        """Give blocks their places, once for all seeds; return the netlist and the seconds."""
        floor = self.family.floor
        if floor is None:
            return _NETLIST, 0
        arguments = [*self.arguments(_NETLIST, 1), "--no-route", "--write", _PLACED,
                     *self.family.arguments(self.made, "")]
        seconds = self.step("floor plan", tool, arguments, key, "place.log", _PLACED)
        # SciPy, which is imported here, comes with the tools.
        from celosia.cli.fpga.floorplan import plan
        key = digest(key, content(self.folder / _PLACED), str(floor), _source(plan))
        if not self.stamps.fresh(key, _PLANNED):
            self.stamps.forget(_PLANNED)
            start = time.monotonic()
            plan(self.folder / _PLACED, self.folder / _NETLIST, self.folder / _PLANNED, floor)
            self.stamps.keep(key, time.monotonic() - start, _PLANNED)
        return _PLANNED, seconds + self.stamps.seconds(_PLANNED)

    def place(self, tool: Tool, planned: str, key: str, seed: int) -> tuple[list[str], str, float]:
        """Place and refine where that is a step of its own; return what else place and route is
        told, its netlist, and the seconds.
        """
        floor = self.family.floor
        if floor is None:
            return [], planned, 0
        placed, refined = f"placed-{seed}.json", f"refined-{seed}.json"
        arguments = [*self.arguments(planned, seed), "--no-route", "--write", placed,
                     *self.family.arguments(self.made, "")]
        seconds = self.step(f"seed {seed}", tool, arguments, key, f"place-{seed}.log", placed)
        from celosia.cli.fpga.refine import refine
        from celosia.cli.fpga.slack import PlacedTiming
        key = digest(key, content(self.folder / placed), str(floor.delays), _LIMIT,
                     *map(_source, (refine, PlacedTiming, arc)))
        if not self.stamps.fresh(key, refined):
            self.stamps.forget(refined)
            start = time.monotonic()
            limit = _LIMIT * 1e9 / self.made.freq_hz
            refine(self.folder / placed, self.folder / refined, floor.delays, limit)
            self.stamps.keep(key, time.monotonic() - start, refined)
        return ["--no-pack", "--no-place"], refined, seconds + self.stamps.seconds(refined)

    def route(self, tool: Tool, planned: str, netlist: Netlist, key: str, seed: int) -> Routed:
        """Place and route."""
        report, routed = f"timing-{seed}.json", f"routed-{seed}.{self.family.routed}"
        told, placed, before = self.place(tool, planned, key, seed)
        if told:
            key = digest(content(self.folder / placed), self.made.constraints)
        arguments = [*self.arguments(placed, seed), *told, "--report", report,
                     *self.family.arguments(self.made, routed)]
        seconds = self.step(f"seed {seed}", tool, arguments, key, f"route-{seed}.log",
                            report, routed)
        return Routed(seed, read_timing(self.folder / report, netlist, self.family),
                      before + seconds)


def build(made: Sources, folder: Path, *, seeds: Iterable[int] = (1,), synth_only: bool = False,
          quick: bool = False, say: Callable[[str], None] = lambda line: None) -> BuildResult:
    """Make a bitstream; only a netlist where the device `lacks` something for more.

    Parameters
    ----------
    made
        What is built, of `celosia_hw.boards.sources.sources`.
    folder
        Where every file goes. What is there already, and made of the same, is not made again.
    seeds
        Of place and route: one run each, the bitstream is of the best.
    synth_only
        Make the netlist only.
    quick
        Map logic in less time, to more LUTs; for ``synth_only``.
    say
        Is given a line for each step.

    Raises
    ------
    ToolMissing, ToolFailed
        If a program is not there, or fails.
    FpgaError
        If the folder cannot be used, the family's place and route is not done here, or a program
        gives another result than it should.
    """
    kind = family(made.board)
    if not (synth_only or kind.place):
        raise FpgaError(f"board {made.board.name} must be built by Vivado: --sources writes what "
                        f"it reads, --synth-only counts cells")
    # All are looked for first: it would be late to miss one after an hour.
    names = ["yosys", *([] if synth_only else [kind.place, kind.pack])]
    tools = {name: find(name) for name in names}
    if not synth_only and kind.floor and not importlib.util.find_spec("scipy"):
        raise ToolMissing("scipy must be installed: pip install 'celosia[fpga]'")
    with locked(folder):
        write_sources(made, folder)
        bitstream = f"celosia-{made.board.name}-{made.config.name}.{kind.bitstream}"
        flow = _Flow(made, kind, folder, Stamps(folder), say, (bitstream, REPORT))
        key = digest(made.verilog)
        seconds = {"synthesis": flow.synthesise(tools["yosys"], key, quick)}
        if kind.mend:
            flow.mend(kind.mend)
        netlist = read_netlist(folder / _NETLIST, kind)
        built = BuildResult(made, folder, netlist, tools={name: str(tool)
                                                    for name, tool in tools.items()},
                      seconds=seconds)
        if synth_only or built.lacks:
            return built
        key = digest(content(folder / _NETLIST), made.constraints)
        planned, took = flow.plan(tools[kind.place], key)
        if planned != _NETLIST:
            seconds["floor plan"] = took
            key = digest(content(folder / planned), made.constraints)
        for seed in dict.fromkeys(seeds):
            built.routed.append(flow.route(tools[kind.place], planned, netlist, key, seed))
            seconds[f"seed {seed}"] = built.routed[-1].seconds
            say(f"{'':16} {built.fmax_mhz(built.routed[-1]):.2f} MHz")
        best = built.best
        if best is None:
            raise FpgaError("--seeds must have one seed at least")
        routed = f"routed-{best.seed}.{kind.routed}"
        key = content(folder / routed)
        seconds["packing"] = flow.step(
            "packing", tools[kind.pack], kind.packing(made.board, routed, bitstream), key,
            "packing.log", bitstream)
        built.bitstream = folder / bitstream
        return built
